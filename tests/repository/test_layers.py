"""Who may import whom: each layer only what lies below it."""

import ast
from graphlib import CycleError, TopologicalSorter

import pytest

from tests.repository.sources import modules

LAYERS = (
    ("errors", "canonical", "checks", "items", "concurrency", "origin"),
    ("index", "ranking"),
    ("embedding", "stores"),
    ("providers",),
    ("slots",),
    ("chat",),
    ("sync",),
    ("testing",),
    ("adapters",),
    ("mcp_server",),
    ("cli",),
    ("__main__",),
)
LEVELS = {name: level for level, names in enumerate(LAYERS) for name in names}


def layer_of(module):
    """The name directly below `vectormem`; "" for the package itself, which only re-exports."""
    return module.split(".")[1] if "." in module else ""


def imports(name, tree):
    """Yield every module of ours that a module imports, wherever in it."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{name} imports relatively in line {node.lineno}"
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                yield inner if inner in modules() else node.module
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


def edges(package):
    for name, tree in modules().items():
        if name.split(".")[0] == package:
            for imported in imports(name, tree):
                if imported.split(".")[0] in ("vectormem", "embedders"):
                    yield name, imported


def test_every_module_has_a_layer():
    names = {layer_of(module) for module in modules() if module.startswith("vectormem.")}
    assert names == set(LEVELS)


def test_no_module_imports_one_above_it():
    wrong = [
        f"{importer} imports {imported}"
        for importer, imported in edges("vectormem")
        if imported.startswith("vectormem") and layer_of(importer) and not may_import(importer, imported)
    ]
    assert wrong == []


def may_import(importer, imported):
    own, other = layer_of(importer), layer_of(imported)
    return own == other or (other in LEVELS and LEVELS[other] < LEVELS[own]) or same_base(own, other)


def same_base(own, other):
    """The modules at the bottom may import each other, without a cycle."""
    return own in LAYERS[0] and other in LAYERS[0]


def test_nothing_below_the_command_line_imports_the_package_as_a_whole():
    assert [importer for importer, imported in edges("vectormem") if imported == "vectormem"] == []


def test_embedders_import_nothing_of_vectormem():
    assert [edge for edge in edges("embedders") if edge[1].startswith("vectormem")] == []


def test_no_import_goes_round_in_a_circle():
    graph = {}
    for package in ("vectormem", "embedders"):
        for importer, imported in edges(package):
            if importer != package and importer != imported:
                graph.setdefault(importer, set()).add(imported)
    try:
        list(TopologicalSorter(graph).static_order())
    except CycleError as error:
        pytest.fail(f"these modules import each other: {' -> '.join(error.args[1])}")


PURE = ("index", "ranking")
IO = {"os", "pathlib", "apsw", "sqlite3", "asyncio", "threading", "socket", "subprocess", "time", "random", "datetime"}


@pytest.mark.parametrize("layer", PURE)
def test_a_pure_layer_touches_no_file_clock_thread_or_chance(layer):
    used = {
        (name, imported.split(".")[0])
        for name, tree in modules().items()
        if layer_of(name) == layer
        for imported in imports(name, tree)
    }
    assert [use for use in used if use[1] in IO] == []


def test_only_stores_chats_and_the_cache_know_sqlite_and_only_the_index_knows_faiss():
    """Chats use the sentences and words of Unicode that come with apsw."""
    homes = {"apsw": {"stores", "chat", "cache_file"}, "sqlite_vec": {"stores"}, "faiss": {"index"}}
    found = {library: set() for library in homes}
    for name, tree in modules().items():
        for imported in imports(name, tree):
            if imported.split(".")[0] in found:
                found[imported.split(".")[0]].add(layer_of(name))
    assert {library: places - homes[library] - {"cli"} for library, places in found.items()} == {
        library: set() for library in homes
    }
