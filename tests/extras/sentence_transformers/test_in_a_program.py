"""The model inside a program: one load, silence, and faiss beside it."""

import pytest

from embedders import SentenceTransformerEmbedder
from tests.extras.checks import in_new_process


def test_a_model_is_loaded_once_however_many_embedders_use_it(folder, library, monkeypatch):
    loads = []
    load = library.SentenceTransformer.__init__
    monkeypatch.setattr("embedders.loading._loaded", {})
    monkeypatch.setattr(
        library.SentenceTransformer, "__init__", lambda self, *a, **k: loads.append(a) or load(self, *a, **k)
    )
    made = [SentenceTransformerEmbedder(folder, long_texts=way) for way in ("cut", "chunk", "cut")]
    del made
    SentenceTransformerEmbedder(folder)
    assert len(loads) == 1


QUIET = """
import asyncio, logging, sys
logging.basicConfig(level=logging.INFO)
logging.getLogger("sentence_transformers").setLevel(logging.WARNING)
from embedders import SentenceTransformerEmbedder
embedder = SentenceTransformerEmbedder(sys.argv[1])
asyncio.run(embedder.embed([f"text {n}" for n in range(200)]))
from transformers.utils import logging as of_transformers
assert of_transformers.is_progress_bar_enabled()
assert of_transformers.get_verbosity() == of_transformers.WARNING
"""


def test_loading_and_embedding_print_nothing_and_leave_the_settings_of_the_library(folder):
    done = in_new_process(QUIET, folder)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


BESIDE = """
import asyncio, sys
import numpy as np
{imports}
from embedders import SentenceTransformerEmbedder
embedder = SentenceTransformerEmbedder(sys.argv[1])
import faiss
faiss.omp_set_num_threads(4)
texts = [f"note {{n}} about {{word}}" for n in range(40) for word in ("tea", "trains", "rent", "music")]
stored = asyncio.run(embedder.embed(texts))
index = faiss.IndexRaBitQFastScan(384, faiss.METRIC_INNER_PRODUCT)
index.train(stored)
index.add(stored)
exact = faiss.IndexFlatIP(384)
exact.add(stored)
for query in ("songs", "a hot drink", "money") * 3:
    vector = asyncio.run(embedder.embed([query], kind="query"))
    scores, places = exact.search(np.repeat(vector, 50, axis=0), 5)
    np.testing.assert_allclose(scores[7], np.sort(stored @ vector[0])[::-1][:5], atol=1e-5)
    index.search(np.repeat(vector, 50, axis=0), 5)
again = asyncio.run(embedder.embed(texts))
np.testing.assert_allclose(again, stored, atol=1e-5)
print("done")
"""


@pytest.mark.parametrize("imports", ["import faiss", "import torch", "import faiss, torch", "import torch, faiss", ""])
def test_faiss_and_torch_search_beside_each_other_in_any_order(folder, imports):
    done = in_new_process(BESIDE.format(imports=imports), folder)
    assert (done.returncode, done.stdout, done.stderr) == (0, "done\n", "")


def test_the_command_line_measures_it(folder):
    code = "import sys; from vectormem.cli.app import main; sys.argv[0] = 'vectormem'; main()"
    done = in_new_process(code, "embedders", f"st:{folder}")
    assert done.returncode == 0, done.stderr
    assert "dimensions: 384" in done.stdout
    assert "sanity: 90%" in done.stdout
    assert done.stderr == ""
