"""Answers of embeddings endpoints: order, number, encoding."""

import base64
from types import SimpleNamespace

import numpy as np
import pytest

from embedders import EmbedderError
from embedders.openai_answer import rows_of


def answer(*rows):
    """Return an answer with (index, embedding) rows."""
    return SimpleNamespace(data=[SimpleNamespace(index=index, embedding=value) for index, value in rows])


def encoded(*values):
    return base64.b64encode(np.array(values, "<f4").tobytes()).decode()


def test_each_text_gets_the_vector_of_its_index():
    """getzep/graphiti#1732"""
    rows = rows_of(answer((2, [2.0, 0]), (0, [0.0, 1]), (1, [1.0, 1])), 3)
    np.testing.assert_array_equal(rows, [[0, 1], [1, 1], [2, 0]])
    assert rows.dtype == np.float32


def test_rows_without_any_index_are_in_order():
    np.testing.assert_array_equal(rows_of(answer((None, [1.0]), (None, [2.0])), 2), [[1], [2]])


def test_base64_is_little_endian_float32():
    np.testing.assert_array_equal(rows_of(answer((0, encoded(0.5, -2, 3e-8))), 1), np.float32([[0.5, -2, 3e-8]]))


def test_rows_may_be_dictionaries():
    data = SimpleNamespace(data=[{"index": 1, "embedding": [2]}, {"index": 0, "embedding": [1]}])
    np.testing.assert_array_equal(rows_of(data, 2), [[1], [2]])


@pytest.mark.parametrize(
    ("broken", "count", "message"),
    [
        # smaramwbc/statewave#225
        (answer((0, [1.0]), (1, [1.0])), 3, "2 vectors for 3 texts"),
        (answer(*((n, [1.0]) for n in range(4))), 3, "4 vectors for 3 texts"),
        (answer(), 3, "0 vectors for 3 texts"),
        (answer((0, [1.0]), (0, [2.0])), 2, "numbers its vectors"),
        (answer((1, [1.0]), (2, [2.0])), 2, "numbers its vectors"),
        (answer((0, [1.0]), (None, [2.0])), 2, "numbers its vectors"),
        (answer((0, [1.0]), (1, [1.0, 2.0])), 2, r"\[1, 2\] dimensions"),
        (answer((0, [])), 1, r"\[0\] dimensions"),
        (answer((0, [1.0, float("nan")])), 1, "NaN"),
        (answer((0, [1.0, None])), 1, "NaN|cannot be read"),
        (answer((0, ["a"])), 1, "cannot be read"),
        (answer((0, "not base64!")), 1, "cannot be read"),
        (answer((0, base64.b64encode(b"12345").decode())), 1, "cannot be read"),
        (answer((0, None)), 1, "in place of a vector|cannot be read"),
        (answer((0, [[1.0]])), 1, "in place of a vector"),
        (SimpleNamespace(error="overloaded"), 1, "holds no vectors.*overloaded"),
        ("<html>Bad gateway</html>", 1, "holds no vectors.*Bad gateway"),
        (SimpleNamespace(data=None), 1, "holds no vectors"),
    ],
)
def test_an_answer_that_is_not_one_vector_for_each_text_is_refused(broken, count, message):
    with pytest.raises(EmbedderError, match=message):
        rows_of(broken, count)
