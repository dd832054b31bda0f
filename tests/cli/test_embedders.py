import json
import sys

import pytest

from embedders import EmbedderError, HashEmbedder
from tests.cli.conftest import in_process
from vectormem.cli import embedder as choices
from vectormem.cli import measuring

EXTRAS = {
    "hash": None,
    "wordllama": "wordllama",
    "static": "model2vec",
    "onnx": "onnx",
    "st": "sentence-transformers",
    "openai": "openai",
}
SPECS = ["wordllama", "wordllama:64", "static:a/model", "st:a/model", "openai:a-model"]


@pytest.fixture
def no_extras(monkeypatch):
    """Hide the packages of all extras."""
    for name in ("wordllama", "model2vec", "onnxruntime", "tokenizers", "sentence_transformers", "openai"):
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)


@pytest.fixture
def no_waiting(monkeypatch):
    monkeypatch.setattr(measuring, "_SECONDS", 0.01)


def test_every_embedder_is_listed_with_the_line_that_installs_it(run, run_json, no_extras):
    lines = [line.split("\t") for line in run("embedders").stdout.splitlines()][: len(EXTRAS)]
    assert [line[0].partition(":")[0].partition("[")[0] for line in lines] == list(EXTRAS)
    assert [line[2] for line in lines] == [
        "yes" if e is None else f"pip install 'vectormem[{e}]'" for e in EXTRAS.values()
    ]
    told = run_json("embedders")["embedders"]
    assert [one["extra"] for one in told if one["on_command_line"]] == list(EXTRAS.values())
    assert [one["installed"] for one in told if one["extra"]] == [False] * 7


def test_embedders_that_are_made_from_python_are_listed_too(run_json):
    told = {one["embedder"]: one["extra"] for one in run_json("embedders")["embedders"] if not one["on_command_line"]}
    assert told == {
        "PydanticAIEmbedder(model)": "pydantic-ai",
        "LiteLLMEmbedder(model)": "litellm",
        "CachedEmbedder(embedder, path)": None,
        "as_embedder(function, id=...)": None,
    }


def test_an_embedder_whose_packages_are_there_is_usable(run_json, monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: object() if name == "openai" else None)
    usable = [one["embedder"] for one in run_json("embedders")["embedders"] if one["installed"]]
    assert usable[:2] == ["hash[:DIMENSIONS]", "openai:MODEL"]


def test_listing_imports_no_package_of_an_extra():
    code = (
        "import sys; sys.argv = ['vectormem', 'embedders']\n"
        "from vectormem.cli.app import main\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "heavy = ['torch', 'sentence_transformers', 'openai', 'model2vec', 'onnxruntime', 'numpy']\n"
        "print([name for name in heavy if name in sys.modules])\n"
    )
    assert in_process(code=code).stdout.endswith(b"\n[]\n")


@pytest.mark.parametrize("args", [("hash:64",), ("--embedder", "hash:64")])
def test_the_one_that_is_named_is_measured(run, run_json, no_waiting, args):
    found = run_json("embedders", *args)
    assert (found["embedder"], found["id"], found["dimensions"]) == ("hash:64", "hash:64", 64)
    assert found["rate_of_1"] > 0
    assert found["rate_of_64"] > 0
    assert found["sanity"] <= 0.3  # it finds nothing that shares no word
    text = run("embedders", *args).stdout
    for part in ("id: hash:64\n", "dimensions: 64\n", "texts a second: ", f"sanity: {found['sanity']:.0%} of"):
        assert part in text


def test_no_question_shares_a_word_with_its_answer_or_with_the_other_sentence():
    for question, *sentences in measuring._TRIPLES:
        for sentence in sentences:
            assert not stems(question) & stems(sentence), (question, sentence)


def stems(text):
    from embedders.hashing import _STOP_WORDS, _stem
    from embedders.words import words

    return {_stem(word) for word in words(text)} - _STOP_WORDS


@pytest.mark.parametrize("spec", [*SPECS, "onnx:a/model"])
def test_an_embedder_without_its_extra_ends_with_status_1_and_the_install_line(run_json, no_extras, spec):
    error = run_json("search", "tea", "--embedder", spec, exit_code=1)["error"]
    assert error["code"] == "EXTRA_MISSING"
    assert f"pip install 'vectormem[{EXTRAS[spec.partition(':')[0]]}]'" in error["message"]


def test_an_embedder_that_cannot_be_made_ends_with_status_1_and_why(run_json, monkeypatch):
    def fail():
        raise EmbedderError("no such model")

    kind = choices.KINDS["st"]._replace(parse=lambda detail: fail)
    monkeypatch.setitem(choices.KINDS, "st", kind)
    error = run_json("search", "tea", "--embedder", "st:a/model", exit_code=1)["error"]
    assert error == {"code": "EMBEDDING_FAILED", "message": "embedder 'st:a/model': no such model"}


@pytest.mark.parametrize(
    "spec",
    ["st", "st:", "st: ", "static", "static:", "onnx", "openai", "openai:", "wordllama:100", "wordllama:", "litellm:x"],
)
def test_a_spec_that_names_nothing_is_a_usage_error(run, spec):
    assert run("embedders", spec).exit_code == 2
    assert run("list", "--embedder", spec).exit_code == 2


@pytest.mark.parametrize(
    ("spec", "name", "given"),
    [
        ("wordllama", "WordLlamaEmbedder", (256,)),
        ("wordllama:64", "WordLlamaEmbedder", (64,)),
        ("static:a/model", "Model2VecEmbedder", ("a/model",)),
        ("onnx:/a/folder", "OnnxEmbedder", ("/a/folder",)),
        ("st:owner/model:with-colon", "SentenceTransformerEmbedder", ("owner/model:with-colon",)),
        ("openai:text-embedding-3-small", "OpenAIEmbedder", ("text-embedding-3-small",)),
    ],
)
def test_what_stands_behind_the_first_colon_goes_to_the_embedder(run_json, monkeypatch, spec, name, given):
    made = []

    def make(*args):
        made.append(args)
        return HashEmbedder(32)

    monkeypatch.setattr(f"embedders.{name}", make, raising=False)
    assert run_json("add", "tea", "--embedder", spec)["added"] is True
    assert made == [given]
    assert json.dumps(run_json("stats")).count("hash:32") == 1
