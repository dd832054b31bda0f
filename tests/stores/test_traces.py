"""The search for texts and vectors in raw bytes, against the simple one."""

import random

import numpy as np
import pytest

from tests.stores.raw_files import RandomEmbedder
from vectormem.stores.traces import Traces


def found_by(content, *, texts=(), vectors=(), size=4096):
    """Tell whether any of these is found in bytes that come in chunks."""
    traces = Traces()
    for text in texts:
        traces.add_text(text)
    for vector in vectors:
        traces.add_vector(vector)
    return len(traces.find(content[start : start + size] for start in range(0, len(content), size))) > 0


@pytest.mark.parametrize("offset", [*range(20), 4090, 4095, 4096, 4097, 8192 - 5])
def test_a_text_is_found_wherever_it_stands_also_across_two_chunks(offset):
    content = random.Random(1).randbytes(offset) + "ein Tee für alle".encode() + b"." + random.Random(2).randbytes(5000)
    assert found_by(content, texts=["ein Tee für alle"])
    assert not found_by(content, texts=["ein Tee für alles"])
    assert not found_by(content, texts=["mein Tee für alle"])


@pytest.mark.parametrize("length", [8, 9, 15, 16, 17, 63, 64, 65, 500, 576, 3000])
def test_texts_of_any_length_are_found_and_near_misses_are_not(length):
    rng = random.Random(length)
    text = "".join(rng.choices("abcdefgh", k=length))
    assert found_by(b"<" + text.encode() + b">", texts=[text])
    if length <= 64:
        for place in range(length):
            other = text[:place] + "X" + text[place + 1 :]
            assert not found_by(b"<" + other.encode() + b">", texts=[text])


def test_the_end_of_a_long_text_is_found_alone():
    text = "".join(random.Random(3).choices("abcdefgh", k=5000))
    assert found_by(text[-64:].encode(), texts=[text])
    assert found_by(text[1024:1100].encode(), texts=[text])


@pytest.mark.parametrize("text", ["", "a", "sevenby", "öäü"])
def test_a_text_shorter_than_eight_bytes_is_not_looked_for(text):
    assert not found_by(b"before " + text.encode() + b" after", texts=[text])


@pytest.mark.parametrize("dimensions", [2, 3, 8, 64, 256, 384, 1536])
def test_a_vector_is_found_wherever_it_stands(dimensions):
    embedder = RandomEmbedder(dimensions)
    vector = embedder.stored("tea")
    for offset in range(9):
        assert found_by(bytes(offset) + vector + b"end", vectors=[vector])
    assert not found_by(bytes(5) + embedder.stored("milk") + b"end", vectors=[vector])


def test_a_vector_with_few_values_is_found_and_one_of_zeros_is_not_looked_for():
    sparse = np.zeros(256, "<f4")
    sparse[[7, 200]] = 0.6, 0.8
    assert found_by(b"..." + sparse.tobytes(), vectors=[sparse.tobytes()])
    assert not found_by(bytes(5000), vectors=[sparse.tobytes(), bytes(1024)])


def test_many_texts_with_one_beginning_are_told_apart():
    texts = [f"The user said on day {number} that all is well" for number in range(3000)]
    content = "\0".join(texts[1::2]).encode()
    traces = Traces()
    for text in texts:
        traces.add_text(text)
    assert len(traces.find([content])) == 1500


def test_nothing_is_found_for_nothing():
    assert Traces().find([b"content"]) == set()


def test_a_damaged_vector_is_no_matter():
    assert not found_by(b"content", vectors=[b"", b"abc", b"abcdefg"])
    assert found_by(b"..abcdefgh..", vectors=[b"abcdefghi"])
