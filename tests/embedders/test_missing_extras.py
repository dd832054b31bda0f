"""Embedders whose packages are not installed: importable, and clear when they are made."""

import subprocess
import sys

import pytest

import embedders
import vectormem

MAKERS = {
    "sentence-transformers": ("sentence_transformers", lambda: embedders.SentenceTransformerEmbedder("a/model")),
    "model2vec": ("model2vec", lambda: embedders.Model2VecEmbedder("a/model")),
    "onnx": ("onnxruntime", lambda: embedders.OnnxEmbedder("a/model")),
    "wordllama": ("wordllama", lambda: embedders.WordLlamaEmbedder()),
    "openai": ("openai", lambda: embedders.OpenAIEmbedder("a-model", api_key="sk-1")),
    "pydantic-ai": ("pydantic_ai.embeddings", lambda: embedders.PydanticAIEmbedder(object())),
    "litellm": ("litellm", lambda: embedders.LiteLLMEmbedder("cohere/embed")),
}


@pytest.fixture(params=MAKERS)
def extra(request, monkeypatch):
    """Hide the package of an extra; return its name and how its embedder is made."""
    module, make = MAKERS[request.param]
    monkeypatch.setitem(sys.modules, module, None)
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    return request.param, make


def test_making_one_without_its_extra_names_the_install_line(extra):
    name, make = extra
    with pytest.raises(embedders.MissingExtraError) as caught:
        make()
    assert f"pip install 'vectormem[{name}]'" in str(caught.value)
    assert caught.value.code == "EXTRA_MISSING"


@pytest.mark.parametrize(
    "kind",
    [
        embedders.MissingExtraError,
        embedders.EmbedderError,
        ImportError,
        vectormem.MissingExtraError,
        vectormem.VectorMemError,
    ],
)
def test_it_is_caught_by_the_names_of_both_packages(extra, kind):
    with pytest.raises(kind):
        extra[1]()


def in_new_process(code):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip()


HIDE = "import sys; sys.modules['openai'] = None\n"
TRY = "try:\n    embedders.OpenAIEmbedder('m', api_key='k')\nexcept {} as error:\n    print(type(error).__module__)\n"


def test_without_vectormem_the_error_is_that_of_embedders():
    assert in_new_process(f"{HIDE}import embedders\n{TRY.format('embedders.MissingExtraError')}") == "embedders.errors"


@pytest.mark.parametrize("order", ["import embedders, vectormem", "import vectormem, embedders"])
def test_with_vectormem_imported_in_any_order_it_is_vectormems(order):
    assert in_new_process(f"{HIDE}{order}\n{TRY.format('vectormem.MissingExtraError')}") == "vectormem.errors"


CORE = ["numpy", "asyncio", "apsw", "pydantic"]
OPTIONAL = ["torch", "sentence_transformers", "model2vec", "onnxruntime", "tokenizers", "safetensors", "wordllama"]
OPTIONAL += ["openai", "pydantic_ai", "litellm"]


@pytest.mark.parametrize("package", ["embedders", "vectormem"])
def test_importing_the_package_imports_nothing_heavy(package):
    code = f"import {package}, sys; print([name for name in {CORE + OPTIONAL} if name in sys.modules])"
    assert in_new_process(code) == "[]"


def test_every_public_name_can_be_imported_without_any_extra():
    hide = "".join(f"sys.modules['{name}'] = None\n" for name in OPTIONAL)
    code = f"import sys\n{hide}from embedders import *\nimport embedders\n"
    code += "print(all(name in globals() for name in embedders.__all__))"
    assert in_new_process(code) == "True"


def test_embedders_never_imports_vectormem():
    code = "import embedders, sys\nfor name in embedders.__all__: getattr(embedders, name)\n"
    assert in_new_process(f"{code}print([name for name in sys.modules if name.startswith('vectormem')])") == "[]"
