"""Whatever an embedder returns: taken as it is meant, or refused before anything is stored."""

import asyncio
import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.conftest import Returning
from vectormem import EmbeddingError, InMemoryVectorMemory, blocking
from vectormem.embedding import embed

TEXTS = ["one", "two", "three"]
ROWS = [[3.0, 4.0], [0.0, -2.0], [0.0, 0.0]]
UNIT = [[np.float32(0.6), np.float32(0.8)], [0.0, -1.0], [0.0, 0.0]]


class Tensor:
    """Has of a tensor what is needed to leave its device and type, and is no array itself."""

    def __init__(self, rows, log=None):
        self._rows = rows
        self._log = [] if log is None else log

    def detach(self):
        return self._then("detach")

    def cpu(self):
        return self._then("cpu")

    def float(self):
        return self._then("float")

    def numpy(self):
        assert self._log == ["detach", "cpu", "float"]
        return np.array(self._rows, np.float32)

    def __iter__(self):
        return iter(Tensor(row) for row in self._rows)

    def __array__(self, *args, **kwargs):
        raise TypeError("Got unsupported ScalarType BFloat16")

    def _then(self, step):
        return Tensor(self._rows, [*self._log, step])


def embedded(result, texts=TEXTS, **attributes):
    return asyncio.run(embed(Returning(result, **attributes), texts))


WELL_FORMED = {
    "float32 array": np.array(ROWS, np.float32),
    "float64 array": np.array(ROWS),
    "float16 array": np.array(ROWS, np.float16),
    "longdouble array": np.array(ROWS, np.longdouble),
    "int8 array": np.array(ROWS, np.int8),
    "big-endian array": np.array(ROWS, ">f8"),
    "every second column": np.array([[x for value in row for x in (value, 9)] for row in ROWS])[:, ::2],
    "transposed": np.array(ROWS).T.copy().T,
    "reversed twice": np.array(ROWS)[::-1][::-1],
    "read-only": np.frombuffer(np.array(ROWS).tobytes()).reshape(3, 2),
    "lists": ROWS,
    "lists of ints": [[3, 4], [0, -2], [0, 0]],
    "tuples": tuple(map(tuple, ROWS)),
    "float32 scalars": [[np.float32(x) for x in row] for row in ROWS],
    "int64 scalars": [[np.int64(x) for x in row] for row in ROWS],
    "list of arrays": [np.array(row, np.float32) for row in ROWS],
    "tuple of float16 arrays": tuple(np.array(row, np.float16) for row in ROWS),
    "tensor": Tensor(ROWS),
    "list of tensors": [Tensor(row) for row in ROWS],
    "subclass of list": type("Rows", (list,), {})(ROWS),
}


@pytest.mark.parametrize("form", WELL_FORMED)
def test_every_form_of_a_matrix_is_taken_as_unit_rows_of_float32(form):
    """chroma-core/chroma#1013, #407, facebookresearch/faiss#1941, embeddings-benchmark/mteb#1297"""
    vectors = embedded(WELL_FORMED[form])
    assert vectors.dtype == np.float32
    assert vectors.flags.c_contiguous
    assert vectors.tolist() == np.array(UNIT, np.float32).tolist()


@pytest.mark.parametrize(
    "generate",
    [lambda texts: (row for row in ROWS), lambda texts: map(tuple, ROWS), lambda texts: iter(ROWS)],
)
def test_what_can_be_iterated_once_is_taken(generate):
    """MemPalace/mempalace#2190"""
    assert embedded(generate).tolist() == np.array(UNIT, np.float32).tolist()


def test_generators_of_generators_are_taken():
    assert embedded(lambda texts: ((x for x in row) for row in ROWS)).tolist() == np.array(UNIT, np.float32).tolist()


def test_the_array_of_the_embedder_is_not_changed():
    rows = np.array(ROWS, np.float32)
    embedded(rows)
    assert rows.tolist() == ROWS


@pytest.mark.parametrize("value", [1e308, 1.7e308, 1e200, 1e-200, 1e-308, 1e-320, 5e-324, 1e30, 1e-30])
def test_values_of_any_size_become_unit_length(value):
    vectors = embedded([[value, value], [value, 0.0], [-value, value]])
    half = float(np.float32(math.sqrt(0.5)))
    assert vectors.tolist() == [[half, half], [1.0, 0.0], [-half, half]]


def test_values_of_very_different_size_in_one_row_and_batch():
    vectors = embedded([[1e308, 1e-320], [1e-320, 0.0], [3e-320, 4e-320]])
    assert vectors[:2].tolist() == [[1.0, 0.0], [1.0, 0.0]]
    assert vectors[2] == pytest.approx([0.6, 0.8], abs=1e-3)


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=2, max_size=8))
def test_every_finite_row_has_length_one_or_is_zero(row):
    (vector,) = embedded([row], ["text"]).astype(np.float64)
    assert math.hypot(*vector) == pytest.approx(1.0 if any(row) else 0.0, abs=1e-6)


WRONG = {
    "too few": ROWS[:2],
    "too many": [*ROWS, [1.0, 1.0]],
    "none": [],
    "None": None,
    "a number": 3.0,
    "a string": "abc",
    "bytes": b"abc",
    "one vector for all": [1.0, 2.0, 3.0],
    "one vector more than texts": np.ones(3),
    "three levels": [[[1.0, 2.0]], [[1.0, 2.0]], [[1.0, 2.0]]],
    "no dimensions": [[], [], []],
    "an empty matrix": np.empty((3, 0)),
    "ragged": [[1.0, 2.0], [1.0], [1.0, 2.0]],
    "ragged arrays": [np.ones(2), np.ones(3), np.ones(2)],
    "bools": [[True, False], [True, True], [False, True]],
    "a bool array": np.ones((3, 2), bool),
    "strings": [["1", "2"], ["3", "4"], ["5", "6"]],
    "a string array": np.array([["1", "2"]] * 3),
    "None in a row": [[1.0, None], [1.0, 2.0], [1.0, 2.0]],
    "None as a row": [[1.0, 2.0], None, [1.0, 2.0]],
    "decimals": [[Decimal(1), Decimal(2)]] * 3,
    "fractions": [[Fraction(1, 2), Fraction(1, 3)]] * 3,
    "complex": np.ones((3, 2), complex),
    "objects": np.array([[object(), object()]] * 3),
    "huge ints": [[10**400, 1], [1, 1], [1, 1]],
    "dates": np.array([["2026-01-01", "2026-01-02"]] * 3, "datetime64[D]"),
    "NaN": [[1.0, 2.0], [math.nan, 2.0], [1.0, 2.0]],
    "infinity": [[1.0, 2.0], [1.0, 2.0], [math.inf, 2.0]],
    "minus infinity": np.array([[1.0, -np.inf]] * 3, np.float32),
    "float16 infinity": np.array([[65504, np.inf]] * 3, np.float16),
    "a mapping": {"one": [1.0, 2.0], "two": [1.0, 2.0], "three": [1.0, 2.0]},
}


@pytest.mark.parametrize("form", WRONG)
def test_what_is_no_embedding_is_refused(form):
    """smaramwbc/statewave#225, spiceai/spiceai#11621"""
    with pytest.raises(EmbeddingError, match="'returning'"):
        embedded(WRONG[form])


@pytest.mark.parametrize("form", WRONG)
def test_nothing_is_stored_of_a_batch_that_is_refused(form):
    memory = blocking(InMemoryVectorMemory(embedder=Returning(WRONG[form])))
    with pytest.raises(EmbeddingError):
        memory.add_many("k", TEXTS)
    assert memory.count("k") == 0


@pytest.mark.parametrize("bools", [[[True, 0.5]] * 3, [[0.5, np.True_]] * 3])
def test_bools_among_numbers_are_refused_too(bools):
    with pytest.raises(EmbeddingError):
        embedded(bools)


def test_the_error_tells_the_numbers():
    with pytest.raises(EmbeddingError, match="returned 0 vectors for 1 texts"):
        embedded([], ["one"])
    with pytest.raises(EmbeddingError, match="returned 2 vectors for 3 texts"):
        embedded(ROWS[:2])
