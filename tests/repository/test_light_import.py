"""What an import costs: nothing heavy comes along before it is needed."""

import json
import subprocess
import sys

import pytest

FRAMEWORKS = ("agents", "autogen", "crewai", "haystack", "langchain", "langgraph", "llama_index", "mcp", "pydantic_ai")
MODELS = ("anthropic", "faiss", "model2vec", "openai", "sentence_transformers", "torch", "transformers")
DATABASES = ("psycopg", "redis", "sqlite_vec")
TOOLS = ("hypothesis", "pandas", "pytest", "rich", "scipy", "typer")
HEAVY = (*FRAMEWORKS, *MODELS, *DATABASES, *TOOLS)

PROGRAMS = {
    "the package": "import vectormem",
    "the embedders": "import embedders",
    "every public name": "from vectormem import *; from embedders import *",
    "a small memory in use": (
        "from vectormem import *; from embedders import HashEmbedder\n"
        "memory = blocking(SqliteVectorMemory(':memory:', embedder=HashEmbedder()))\n"
        "memory.add_many('k', ['green tea', 'milk']); assert memory.list('k', query='tea')[0].text == 'green tea'\n"
        "run = blocking(MemoryRun([define_memory(name='n', scope='global', provider=InMemoryMemory())]))\n"
        "assert run.block() == ''"
    ),
}


def loaded_by(program):
    """Return the top-level modules that a program has loaded in a fresh interpreter."""
    ending = "\nimport json, sys; print(json.dumps(sorted({name.split('.')[0] for name in sys.modules})))"
    done = subprocess.run([sys.executable, "-c", program + ending], capture_output=True, text=True, check=True)
    return set(json.loads(done.stdout))


@pytest.mark.parametrize("program", PROGRAMS)
def test_nothing_heavy_is_loaded_by(program):
    """huggingface/sentence-transformers#3605, simonw/llm-sentence-transformers#20, faiss-wheels/faiss-wheels#40"""
    assert sorted(loaded_by(PROGRAMS[program]) & set(HEAVY)) == []


def test_importing_the_package_alone_loads_no_checker_of_json_schemas():
    assert sorted(loaded_by("import vectormem") & {"jsonschema", "referencing", "rpds"}) == []


def test_importing_starts_no_thread_opens_no_file_and_configures_no_logging():
    program = (
        "import logging, os, threading\n"
        "before = len(os.listdir('/proc/self/fd')) if os.path.isdir('/proc/self/fd') else 0\n"
        "from vectormem import *; from embedders import *\n"
        "assert threading.active_count() == 1\n"
        "assert logging.getLogger().handlers == [] and logging.getLogger('vectormem').handlers == []\n"
        "assert (len(os.listdir('/proc/self/fd')) if before else 0) == before\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


def test_the_environment_of_the_program_is_left_as_it_is():
    """faiss-wheels/faiss-wheels#73"""
    program = (
        "import os; before = dict(os.environ)\n"
        "from vectormem import *; from embedders import *\n"
        "assert dict(os.environ) == before"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
