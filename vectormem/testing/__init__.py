"""What tests of agents and of new providers need: a scripted model and agent, and the conformance suites."""

import pkgutil
import sys
from typing import TYPE_CHECKING

from embedders import HashEmbedder
from vectormem.errors import MissingExtraError
from vectormem.testing.agent import Result, ScriptedAgent, ScriptedSession
from vectormem.testing.embedder import ScriptedEmbedder
from vectormem.testing.model import ModelRequest, ScriptedModel

if TYPE_CHECKING:
    from vectormem.testing.embedder_suite import EmbedderSuite
    from vectormem.testing.provider_suite import ProviderSuite
    from vectormem.testing.vector_suite import VectorProviderSuite

__all__ = [
    "EmbedderSuite",
    "HashEmbedder",
    "ModelRequest",
    "ProviderSuite",
    "Result",
    "ScriptedAgent",
    "ScriptedEmbedder",
    "ScriptedModel",
    "ScriptedSession",
    "VectorProviderSuite",
]


def __getattr__(name: str) -> object:
    """Import the suites when they are asked for, since they need pytest."""
    if name == "EmbedderSuite":
        _require_pytest(name)
        from vectormem.testing.embedder_suite import EmbedderSuite

        return EmbedderSuite
    if name == "ProviderSuite":
        _require_pytest(name)
        from vectormem.testing.provider_suite import ProviderSuite

        return ProviderSuite
    if name == "VectorProviderSuite":
        _require_pytest(name)
        from vectormem.testing.vector_suite import VectorProviderSuite

        return VectorProviderSuite
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def _require_pytest(name: str) -> None:
    """Let pytest rewrite the assertions of the suites, so that a failing one shows its values."""
    try:
        import pytest
    except ModuleNotFoundError as error:
        raise MissingExtraError(f"{name} needs pytest: pip install 'vectormem[testing]'") from error
    suites = (
        f"{__name__}.{module.name}" for module in pkgutil.iter_modules(__path__) if module.name.endswith("_suite")
    )
    pytest.register_assert_rewrite(*(suite for suite in suites if suite not in sys.modules))
