"""One tree of errors, with codes for programs and messages for people."""

import pickle

import pytest

import vectormem
from vectormem import (
    EmbeddingError,
    MemoryInvalidError,
    MissingExtraError,
    StorageFailedError,
    ToolInputError,
    VectorMemError,
)

CODES = {
    MemoryInvalidError: "MEMORY_INVALID",
    StorageFailedError: "STORAGE_FAILED",
    EmbeddingError: "EMBEDDING_FAILED",
    ToolInputError: "TOOL_INPUT_INVALID",
    MissingExtraError: "EXTRA_MISSING",
}


@pytest.mark.parametrize("error", CODES)
def test_every_error_has_its_code_and_is_one_of_vectormem(error):
    assert issubclass(error, VectorMemError)
    assert error("what happened").code == CODES[error]
    assert str(error("what happened")) == "what happened"


def test_every_public_error_is_in_the_tree():
    errors = {value for name in vectormem.__all__ if isinstance(value := getattr(vectormem, name), type)}
    assert {error for error in errors if issubclass(error, Exception)} == {VectorMemError, *CODES}


@pytest.mark.parametrize(("error", "builtin"), [(MemoryInvalidError, ValueError), (MissingExtraError, ImportError)])
def test_an_error_is_also_the_builtin_that_people_expect(error, builtin):
    with pytest.raises(builtin):
        raise error("what happened")


def test_storage_and_embedding_errors_are_no_value_errors():
    assert not issubclass(StorageFailedError, ValueError)
    assert not issubclass(EmbeddingError, ValueError)


@pytest.mark.parametrize("error", CODES)
def test_an_error_can_be_sent_to_another_process(error):
    twin = pickle.loads(pickle.dumps(error("what happened")))
    assert (type(twin), twin.args, twin.code) == (error, ("what happened",), CODES[error])
