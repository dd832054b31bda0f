"""Files that fit a screen or two, functions that fit a thought."""

import ast

from tests.repository.sources import files, modules, short

MOST_LINES_OF_A_FILE = 300
MOST_LINES_OF_A_FUNCTION = 40
LONG_FUNCTIONS = ()
"""Named exceptions, as `module.function`, each with its reason beside it."""


def test_a_file_is_at_most_300_lines_long():
    lengths = {short(path): len(path.read_text("utf-8").splitlines()) for path in files(".py")}
    assert {name: length for name, length in lengths.items() if length > MOST_LINES_OF_A_FILE} == {}


def test_a_function_is_at_most_40_lines_long():
    too_long = [
        f"{name}.{node.name}"
        for name, tree in modules().items()
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and length(node) > MOST_LINES_OF_A_FUNCTION
    ]
    assert sorted(too_long) == sorted(LONG_FUNCTIONS)


def length(function):
    """Return the lines of a function without its docstring and decorators."""
    docstring = function.body[0] if ast.get_docstring(function) else None
    lines = function.end_lineno - function.lineno + 1
    return lines - (docstring.end_lineno - docstring.lineno + 1 if docstring else 0)
