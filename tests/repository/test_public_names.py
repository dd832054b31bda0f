"""Every public name can be imported, explains itself and stands in the documentation."""

import ast
import importlib
import inspect
import re

import pytest

import embedders
import vectormem
import vectormem.testing
from tests.repository.sources import ROOT, files, modules
from tests.repository.test_light_import import FRAMEWORKS

PUBLIC = [(package, name) for package in (vectormem, embedders) for name in package.__all__]
IDS = [f"{package.__name__}.{name}" for package, name in PUBLIC]
ALIASES = {"Scope"}
DOCUMENTATION = "\n".join(path.read_text("utf-8") for path in files(".md") if path.parent in (ROOT, ROOT / "docs"))


@pytest.mark.parametrize(("package", "name"), PUBLIC, ids=IDS)
def test_a_public_name_can_be_imported(package, name):
    assert getattr(package, name) is not None
    assert name in dir(package)


@pytest.mark.parametrize("package", [vectormem, embedders, vectormem.testing])
def test_the_public_names_are_sorted_and_listed_once(package):
    assert list(package.__all__) == sorted(set(package.__all__))


def test_a_star_import_gives_every_public_name():
    namespace = {}
    exec("from vectormem import *\nfrom embedders import *", namespace)
    assert set(vectormem.__all__) | set(embedders.__all__) <= namespace.keys()


def test_an_unknown_name_is_an_attribute_error():
    for package in (vectormem, embedders):
        with pytest.raises(AttributeError, match="no_such_name"):
            _ = package.no_such_name


@pytest.mark.parametrize(("package", "name"), PUBLIC, ids=IDS)
def test_a_public_name_stands_in_the_documentation(package, name):
    assert re.search(rf"\b{name}\b", DOCUMENTATION), f"{name} is in none of the README and docs/*.md"


@pytest.mark.parametrize(("package", "name"), [one for one in PUBLIC if one[1] not in ALIASES])
def test_a_public_class_or_function_and_its_public_methods_have_docstrings(package, name):
    value = getattr(package, name)
    assert inspect.getdoc(value), f"{name} has no docstring"
    bare = [attribute for attribute in own_methods(value) if not inspect.getdoc(getattr(value, attribute))]
    assert bare == []


def own_methods(value):
    """The public methods that a class of ours defines; those of pydantic are not ours."""
    if not inspect.isclass(value):
        return []
    ours = [base for base in value.__mro__ if base.__module__.split(".")[0] in ("vectormem", "embedders")]
    return [name for base in ours for name, member in vars(base).items() if is_public_method(name, member)]


def is_public_method(name, member):
    return not name.startswith("_") and (callable(member) or isinstance(member, property | classmethod | staticmethod))


@pytest.mark.parametrize("module", [name for name in modules() if not name.endswith("__main__")])
def test_every_module_can_be_imported_and_says_what_it_is(module):
    if ".cli" in module:
        pytest.importorskip("typer")
    try:
        docstring = importlib.import_module(module).__doc__
    except ImportError as error:
        if not is_missing_framework(error):
            raise
        docstring = ast.get_docstring(modules()[module])
    assert docstring
    assert len(docstring.strip().splitlines()) <= 20


def is_missing_framework(error):
    """An adapter cannot be imported where its framework is not installed; it says how to install it."""
    return isinstance(error, vectormem.MissingExtraError) or (error.name or "vectormem").split(".")[0] in FRAMEWORKS


def test_the_packages_say_that_they_are_typed():
    assert (ROOT / "vectormem" / "py.typed").exists()
    assert (ROOT / "embedders" / "py.typed").exists()
