import os
from pathlib import Path

import pytest

os.environ["HF_HUB_OFFLINE"] = "1"


@pytest.fixture(scope="session")
def folder():
    """Return the folder of a static model, which `.ci/run` has distilled from all-MiniLM-L6-v2."""
    path = Path(os.environ.get("STATIC_MODEL", ".venv/static-model")).absolute()
    assert path.is_dir(), "distil a model first: python -m tests.extras.distil FOLDER, and set STATIC_MODEL=FOLDER"
    return path
