"""Faults around the embedder: another model, a failing one, one that is slow or cuts texts."""

import logging

import numpy as np
import pytest

from embedders import as_embedder
from tests.conftest import FixedEmbedder, Place, texts_of
from vectormem import EmbeddingError, blocking

FOUR = FixedEmbedder({"old": [1, 0, 0, 0], "old too": [0, 1, 0, 0], "new": [0, 0, 1, 0]}, id="four")
THREE = FixedEmbedder({"old": [1, 0, 0], "old too": [0, 1, 0], "new": [0, 0, 1]}, id="three")
THREE_AS_FOUR = FixedEmbedder(THREE.vectors, id="four")


class Failing(FixedEmbedder):
    """Fails in the calls of which `fails` says so, counted from 0."""

    max_batch = 2

    def __init__(self, fails, *, default=(1, 0)):
        super().__init__({}, id="failing", default=default)
        self.fails = fails

    async def embed(self, texts, *, kind="document"):
        if self.fails(len(self.calls)):
            self.calls.append((kind, list(texts)))
            raise ConnectionError("429: rate limit")
        return await super().embed(texts, kind=kind)


@pytest.fixture
def place(tmp_path):
    """A file that is opened again with another embedder; items in memory end with their provider."""
    place = Place("sqlite-vectors", tmp_path)
    yield place
    place.close()


@pytest.mark.parametrize("changed", [THREE, THREE_AS_FOUR], ids=["another id", "another length"])
def test_after_a_change_of_the_model_nothing_is_lost_and_new_items_are_found(place, changed, caplog):
    """crewAIInc/crewAI#2464, topoteretes/cognee#3547, rohitg00/agentmemory#455"""
    first = blocking(place.open(embedder=FOUR))
    items = first.add_many("k", ["old", "old too"])
    second = blocking(place.open(embedder=changed))
    with caplog.at_level(logging.WARNING, logger="vectormem"):
        assert second.list("k", query="old") == []
        assert second.list("k", query="old") == []
    (warning,) = [record.getMessage() for record in caplog.records]
    for part in ("'k'", f"'{changed.id}'", "'four'", "2 of", "reindex('k')"):
        assert part in warning
    assert texts_of(second.list("k")) == ["old too", "old"]
    assert second.get("k", items[0].id).text == "old"
    second.add("k", "new")
    assert texts_of(second.list("k", query="new")) == ["new"]
    assert texts_of(first.list("k", query="old")) == ["old"]


@pytest.mark.parametrize("changed", [THREE, THREE_AS_FOUR], ids=["another id", "another length"])
def test_reindexing_after_a_change_of_the_model_makes_everything_found_again(place, changed):
    """crewAIInc/crewAI#2464"""
    blocking(place.open(embedder=FOUR)).add_many("k", ["old", "old too"])
    memory = blocking(place.open(embedder=changed))
    assert memory.reindex() == 2
    assert [(item.text, item.score) for item in memory.list("k", query="old")] == [("old", 1.0)]
    assert memory.reindex() == 0


def test_a_failing_first_call_leaves_the_vectors_alone(place):
    """oguzbilgic/kern-ai#335"""
    blocking(place.open(embedder=Failing(lambda call: False))).add_many("k", ["one", "two"])
    memory = blocking(place.open(embedder=Failing(lambda call: call == 0)))
    with pytest.raises(EmbeddingError, match="429"):
        memory.list("k", query="one")
    assert memory.reindex() == 0
    assert texts_of(memory.list("k", query="one")) == ["two", "one"]


def test_a_reindex_that_embeds_nothing_is_an_error_that_tells_the_counts(place):
    """nowledge-co/nowledge-mem#75"""
    blocking(place.open(embedder=FOUR)).add_many("k", ["old", "old too"])
    memory = blocking(place.open(embedder=Failing(lambda call: True)))
    with pytest.raises(EmbeddingError, match="0 of 2 items"):
        memory.reindex()
    assert texts_of(memory.list("k")) == ["old too", "old"]


def test_a_reindex_that_fails_in_the_middle_keeps_what_is_done_and_goes_on_there(place):
    """itlackey/akm#874"""
    texts = [str(number) for number in range(10)]
    blocking(place.open(embedder=FixedEmbedder({}, default=[1, 0, 0], id="first"))).add_many("k", texts)
    embedder = Failing(lambda call: call == 2)
    memory = blocking(place.open(embedder=embedder))
    with pytest.raises(EmbeddingError, match=r"(3|4) of 10 items"):
        memory.reindex()
    done = len(memory.list("k", query="any"))
    assert memory.reindex() == 10 - done
    assert texts_of(memory.list("k", query="any")) == texts[::-1]


@pytest.mark.parametrize("failing_call", [0, 1, 2])
def test_one_failing_batch_stores_nothing_and_the_next_call_works(every_vector_place, failing_call):
    """agentscope-ai/ReMe#523, itlackey/akm#874"""
    embedder = Failing(lambda call: call == failing_call)
    memory = blocking(every_vector_place.open(embedder=embedder))
    texts = ["one", "two", "three", "four", "five", "six"]
    with pytest.raises(EmbeddingError, match="429"):
        memory.add_many("k", texts)
    assert memory.count("k") == 0
    memory.add_many("k", texts)
    assert texts_of(memory.list("k", query="any")) == texts[::-1]


def test_a_text_that_the_model_refuses_is_an_error_and_not_a_lost_memory(every_vector_place):
    """mastra-ai/mastra#3053, NousResearch/hermes-agent#37421"""

    def limited(texts):
        if max(map(len, texts)) > 8000:
            raise ValueError("at most 8,000 characters")
        return [[1.0, 0.0] for _ in texts]

    memory = blocking(every_vector_place.open(embedder=as_embedder(limited, id="limited")))
    with pytest.raises(EmbeddingError, match="8,000"):
        memory.add("k", "x" * 50_000)
    assert memory.count("k") == 0
    memory.add("k", "short")
    assert memory.count("k") == 1


def test_a_long_text_is_stored_in_full(every_place):
    """mastra-ai/mastra#3053, huggingface/sentence-transformers#4060"""
    memory = blocking(every_place.open())
    text = "filler " * 3000 + "the spare key is under the blue pot"
    memory.add("k", text)
    assert texts_of(memory.list("k")) == [text]


def test_documents_and_queries_are_told_apart(every_vector_place):
    """basicmachines-co/basic-memory#1264, open-webui/open-webui#26958"""
    embedder = FixedEmbedder({}, default=[1, 0])
    memory = blocking(every_vector_place.open(embedder=embedder))
    memory.add("k", "stored")
    memory.list("k", query="asked")
    memory.upsert("k", "changed", id=memory.list("k")[0].id)
    assert embedder.calls == [("document", ["stored"]), ("query", ["asked"]), ("document", ["changed"])]


def test_texts_of_concurrent_calls_do_not_get_each_others_vectors(every_vector_place):
    """getzep/graphiti#1732"""
    vectors = {str(number): row for number, row in enumerate(np.eye(30))}
    memory = blocking(every_vector_place.open(embedder=FixedEmbedder(vectors)))
    memory.add_many("k", list(vectors))
    for text in vectors:
        assert texts_of(memory.list("k", query=text)) == [text]


@pytest.mark.parametrize("form", ["one array", "rows", "lists", "transposed", "every second column"])
def test_vectors_may_be_one_array_or_many_of_any_layout(every_vector_place, form):
    """chroma-core/chroma#407, #1013, MemPalace/mempalace#2190, facebookresearch/faiss#1941"""
    vectors = {"tea": [1.0, 0.0], "milk": [0.6, 0.8]}

    def embed(texts):
        plain = np.array([vectors[text] for text in texts], np.float32)
        wide = np.zeros((len(texts), 4), np.float32)
        wide[:, ::2] = plain
        forms = {
            "one array": plain,
            "rows": list(plain),
            "lists": [list(row) for row in plain],
            "transposed": np.asfortranarray(plain),
            "every second column": wide[:, ::2],
        }
        return forms[form]

    memory = blocking(every_vector_place.open(embedder=as_embedder(embed, id="of any form")))
    memory.add_many("k", ["tea", "milk"])
    found = [(item.text, item.score) for item in memory.list("k", query="tea")]
    assert found == [("tea", 1.0), ("milk", pytest.approx(0.6, abs=1e-7))]
