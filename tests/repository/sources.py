"""The files of the checkout, as the tests of the repository read them."""

import ast
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGES = ("vectormem", "embedders")
_NOT_OURS = {".git", ".venv", "build", "dist", "__pycache__", "node_modules"}


@cache
def files(*suffixes):
    """Return the files of the checkout with one of these suffixes, without what tools have made."""
    return tuple(path for path in sorted(_walk(ROOT)) if not suffixes or path.suffix in suffixes)


def _walk(folder):
    for path in folder.iterdir():
        if path.is_dir():
            if path.name not in _NOT_OURS and not path.name.endswith(("_cache", ".egg-info")) and path.name[0] != ".":
                yield from _walk(path)
        else:
            yield path


@cache
def modules():
    """Return the modules of the packages by dotted name, parsed."""
    return {
        module_name(path): ast.parse(path.read_text("utf-8"), str(path))
        for path in files(".py")
        if path.relative_to(ROOT).parts[0] in PACKAGES
    }


def module_name(path):
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def short(path):
    return path.relative_to(ROOT).as_posix()
