import warnings


def pytest_configure(config):
    """The framework warns of its own code, and leaves the connections of its chat store open."""
    for category in ("DeprecationWarning", "ResourceWarning"):
        config.addinivalue_line("filterwarnings", f"ignore::{category}")


def pytest_unconfigure(config):
    """The last of them are collected when the lines above hold no longer."""
    warnings.simplefilter("ignore", ResourceWarning)
