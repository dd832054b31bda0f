"""An embedder with a cache: the same vectors, fewer questions."""

import asyncio
import os
import stat
import threading

import numpy as np
import pytest

from embedders import CachedEmbedder, Embedder, EmbedderError, HashEmbedder
from vectormem import EmbeddingError, InMemoryVectorMemory, blocking
from vectormem.testing import EmbedderSuite, ScriptedEmbedder

TEXTS = ["tea", "coffee", "a longer text"]


@pytest.fixture
def file(tmp_path):
    return tmp_path / "cache.db"


@pytest.fixture
def inner():
    return ScriptedEmbedder(id="model", dimensions=6)


def embed(embedder, texts, kind="document"):
    return asyncio.run(embedder.embed(texts, kind=kind))


class TestCachedHashEmbedder(EmbedderSuite):
    @pytest.fixture
    def embedder(self, file):
        return CachedEmbedder(HashEmbedder(), file)


class TestTinyCache(EmbedderSuite):
    """A cache that has to forget something at every call."""

    @pytest.fixture
    def embedder(self, file):
        return CachedEmbedder(ScriptedEmbedder(dimensions=50_000), file, max_bytes=2**18)


def test_it_is_an_embedder_with_what_the_inner_one_says_of_itself(file):
    cached = CachedEmbedder(ScriptedEmbedder(id="m:1", dimensions=7, max_batch=11), file)
    assert isinstance(cached, Embedder)
    assert (cached.id, cached.dimensions, cached.max_batch) == ("m:1", 7, 11)
    assert (CachedEmbedder(HashEmbedder(), file).max_batch, "hash:256") == (96, "hash:256")


def test_a_text_is_asked_for_once_and_its_vector_is_the_same_to_the_last_bit(file, inner):
    cached = CachedEmbedder(inner, file)
    plain = embed(inner, TEXTS)
    first, second = embed(cached, TEXTS), embed(cached, TEXTS[::-1])
    assert first.tobytes() == plain.tobytes()
    assert second.tobytes() == plain[::-1].tobytes()
    assert inner.calls[1:] == [(TEXTS, "document")]
    assert (cached.misses, cached.hits) == (3, 3)


def test_only_new_texts_are_asked_for_each_once(file, inner):
    cached = CachedEmbedder(inner, file)
    embed(cached, ["tea"])
    vectors = embed(cached, ["oolong", "tea", "oolong", "mate"])
    assert inner.calls[-1] == (["oolong", "mate"], "document")
    assert vectors.tobytes() == embed(inner, ["oolong", "tea", "oolong", "mate"]).tobytes()
    assert (cached.misses, cached.hits) == (3, 2)


def test_queries_documents_and_embedders_have_vectors_of_their_own(file):
    one, two = (CachedEmbedder(ScriptedEmbedder(id=name), file) for name in ("one", "two"))
    embed(one, ["tea"])
    embed(one, ["tea"], "query")
    embed(two, ["tea"])
    assert (one.misses, two.misses) == (2, 1)
    assert (len(one.embedder.calls), len(two.embedder.calls)) == (2, 1)


@pytest.mark.parametrize(("first", "second"), [(("a", "bc"), ("ab", "c")), (("m", "\0t"), ("m\0", "t"))])
def test_ids_and_texts_that_join_to_the_same_string_are_not_mixed_up(file, first, second):
    for name, text in (first, second):
        cached = CachedEmbedder(ScriptedEmbedder({text: [len(text)] * 4}, id=name), file)
        assert embed(cached, [text])[0, 0] == len(text)
        assert cached.hits == 0


def test_another_object_on_the_file_finds_what_is_there(file, inner):
    embed(CachedEmbedder(inner, file), TEXTS)
    later = CachedEmbedder(ScriptedEmbedder(id="model", dimensions=6), str(file))
    assert embed(later, TEXTS).tobytes() == embed(inner, TEXTS).tobytes()
    assert later.embedder.calls == []


def test_a_failing_embedder_fails_as_without_a_cache_and_nothing_is_kept(file, inner):
    def fail(texts):
        raise ConnectionError("no route")

    cached = CachedEmbedder(inner, file)
    inner.answer = fail
    with pytest.raises(ConnectionError, match="no route"):
        embed(cached, ["tea"])
    with pytest.raises(EmbeddingError, match="no route"):
        blocking(InMemoryVectorMemory(embedder=cached)).add("k", "tea")
    inner.answer = None
    assert np.isfinite(embed(cached, ["tea"])).all()


@pytest.mark.parametrize("answer", [[[1.0]], [[1.0], [2.0], [3.0]], [], "vectors", [[True], [False]]])
def test_an_answer_that_does_not_fit_the_texts_is_refused_and_not_kept(file, inner, answer):
    cached = CachedEmbedder(inner, file)
    inner.answer = lambda texts: answer
    with pytest.raises((EmbedderError, TypeError)):
        embed(cached, ["tea", "coffee"])
    inner.answer = None
    assert embed(cached, ["tea", "coffee"]).shape == (2, 6)


def test_vectors_with_nan_are_handed_on_and_not_kept(file, inner):
    cached = CachedEmbedder(inner, file)
    inner.answer = lambda texts: [[1.0, float("nan")] for _ in texts]
    assert np.isnan(embed(cached, ["tea"])).any()
    inner.answer = None
    assert np.isfinite(embed(cached, ["tea"])).all()


class NoTensor:
    """A stand-in for a tensor of a model library."""

    def __init__(self, values):
        self.values = values

    def detach(self):
        return self

    cpu = float = detach

    def numpy(self):
        return np.array(self.values)


@pytest.mark.parametrize("wrap", [list, tuple, iter, np.array, NoTensor, np.asfortranarray])
def test_whatever_providers_take_from_an_embedder_can_be_cached(file, inner, wrap):
    inner.answer = lambda texts: wrap([[len(text), 1.5] for text in texts])
    cached = CachedEmbedder(inner, file)
    cached.embedder.dimensions = None
    for _ in range(2):
        np.testing.assert_array_equal(embed(cached, TEXTS), [[3, 1.5], [6, 1.5], [13, 1.5]])


def test_a_model_that_changes_length_under_its_id_gets_no_mixture(file, inner):
    embed(CachedEmbedder(inner, file), ["tea"])
    other = ScriptedEmbedder(id="model", dimensions=9)
    silent = ScriptedEmbedder(id="model", dimensions=9)
    del other.dimensions
    other.answer = lambda texts: embed_directly(silent, texts)
    assert embed(CachedEmbedder(other, file), ["tea", "coffee"]).shape == (2, 9)
    assert embed(CachedEmbedder(silent, file), ["tea"]).shape == (1, 9)


def embed_directly(embedder, texts):
    return np.ones((len(texts), embedder.dimensions), np.float32)


def test_threads_share_one_cached_embedder(file):
    inner = ScriptedEmbedder(id="model")
    cached = CachedEmbedder(inner, file)
    texts = [f"text {n}" for n in range(40)]
    expected = embed(ScriptedEmbedder(id="model"), texts)
    wrong = []

    def work():
        for start in range(0, 40, 5):
            got = embed(cached, texts[start : start + 8])
            if not np.array_equal(got, expected[start : start + 8]):
                wrong.append(start)

    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
    assert cached.hits + cached.misses == 6 * sum(len(texts[start : start + 8]) for start in range(0, 40, 5))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"embedder": "hash"}, "embedder"),
        ({"embedder": None}, "embedder"),
        ({"path": ""}, "path"),
        ({"path": ":memory:"}, "path"),
        ({"max_bytes": 0}, "max_bytes"),
        ({"max_bytes": 1000}, "at least 262144"),
        ({"max_bytes": 2.5e6}, "max_bytes"),
    ],
)
def test_wrong_options_raise_value_error(file, options, message):
    given = {"embedder": HashEmbedder(), "path": file, **options}
    with pytest.raises(ValueError, match=message):
        CachedEmbedder(given["embedder"], given["path"], **{k: v for k, v in given.items() if k == "max_bytes"})


def test_forgetting_texts_deletes_their_vectors_as_documents_and_queries_and_no_others(tmp_path):
    inner, path = HashEmbedder(64), tmp_path / "cache.db"
    cached = CachedEmbedder(inner, path)
    for kind in ("document", "query"):
        asyncio.run(cached.embed(["a needle", "tea"], kind=kind))
    vector = asyncio.run(inner.embed(["a needle"]))[0].astype("<f4").tobytes()
    assert vector in path.read_bytes()
    assert asyncio.run(cached.forget(["a needle", "never asked for"])) == 2
    assert vector not in path.read_bytes()
    again = CachedEmbedder(inner, path)
    asyncio.run(again.embed(["a needle", "tea"]))
    assert (again.hits, again.misses) == (1, 1)


def test_a_new_folder_of_the_cache_is_private(tmp_path):
    CachedEmbedder(HashEmbedder(64), tmp_path / "a" / "b" / "cache.db")
    folders = (tmp_path / "a", tmp_path / "a" / "b")
    assert os.name == "nt" or [stat.S_IMODE(folder.stat().st_mode) for folder in folders] == [0o700] * 2
