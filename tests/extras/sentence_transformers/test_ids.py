"""Ids name all that changes vectors, and nothing else."""

import shutil

import pytest

from embedders import SentenceTransformerEmbedder


@pytest.fixture(scope="module")
def known(folder):
    return SentenceTransformerEmbedder(folder).id


def id_of(model, **options):
    return SentenceTransformerEmbedder(model, **options).id


def test_the_id_names_the_kind_of_model_its_digest_and_its_length(known):
    kind, name, dimensions = known.split(":")
    assert (kind, dimensions) == ("st", "384")
    assert name.startswith("bert@")
    assert len(name) == len("bert@") + 16


def test_the_same_model_has_one_id_wherever_it_lies_and_however_it_was_loaded(known, folder, model, fresh, tmp_path):
    copy = shutil.copytree(folder, tmp_path / "another name")
    assert {id_of(copy), id_of(str(copy)), id_of(model), id_of(fresh())} == {known}


def test_batch_size_and_device_are_not_named(known, folder):
    assert id_of(folder, batch_size=3, device="cpu") == known


def weights(model):
    with_one_changed = next(model.parameters())
    with_one_changed.data[0, 0] += 0.25


def precision(model):
    model.half()


def length_limit(model):
    model.max_seq_length = 128


def query_prompt(model):
    model.prompts["query"] = "query: "


def document_prompt(model):
    model.prompts["document"] = "passage: "


def default_prompt(model):
    model.prompts.clear()
    model.prompts["note"] = "note: "
    model.default_prompt_name = "note"


def dimensions(model):
    model.truncate_dim = 128


def pooling(model):
    model[1].pooling_mode = "cls"


def tokenizer(model):
    from transformers import AutoTokenizer

    model[0].processor = AutoTokenizer.from_pretrained(
        model.transformers_model.config._name_or_path, do_lower_case=False
    )


CHANGES = [
    weights,
    precision,
    length_limit,
    query_prompt,
    document_prompt,
    default_prompt,
    dimensions,
    pooling,
    tokenizer,
]


def test_whatever_changes_vectors_changes_the_id(known, fresh):
    ids = {"unchanged": known}
    for change in CHANGES:
        model = fresh()
        change(model)
        ids[change.__name__] = id_of(model)
    assert len(set(ids.values())) == len(CHANGES) + 1, ids


def test_chunking_is_named(known, folder):
    assert id_of(folder, long_texts="chunk") == f"{known}:chunks"


def test_an_id_of_ones_own_is_taken_as_it_is(folder):
    assert id_of(folder, id="my model, first version") == "my model, first version"


def test_a_model_of_a_hub_is_named(fresh, known):
    model = fresh()
    model.transformers_model.config._name_or_path = "owner/some-model"
    assert id_of(model) == known.replace("bert@", "some-model@")


def test_a_model_whose_weights_cannot_be_read_needs_an_id(fresh, monkeypatch):
    model = fresh()
    monkeypatch.setattr(type(model), "parameters", lambda self, recurse=True: iter(()))
    with pytest.raises(ValueError, match="pass id="):
        SentenceTransformerEmbedder(model)
    assert SentenceTransformerEmbedder(model, id="mine").id == "mine"
