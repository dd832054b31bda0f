import os
from pathlib import Path

import pytest

os.environ["HF_HUB_OFFLINE"] = "1"


@pytest.fixture(scope="session")
def folder():
    """Return the folder of a static model that was distilled from all-MiniLM-L6-v2."""
    path = Path(os.environ.get("MINILM", ".venv/minilm"), "static").absolute()
    assert path.is_dir(), "first: python -m tests.extras.distil .venv/minilm"
    return path
