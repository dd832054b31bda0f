"""HashEmbedder: exact vectors, computed here a second time."""

import asyncio
import math

import numpy as np
import pytest

from embedders import Embedder, HashEmbedder
from vectormem import InMemoryVectorMemory, blocking
from vectormem.testing import EmbedderSuite

STOP_WORDS = {"the", "a", "an", "is", "are", "was", "to", "of", "and", "or", "in", "on", "it", "does", "do"}
STOP_WORDS |= {"what", "who", "how"}


class TestHashEmbedder(EmbedderSuite):
    @pytest.fixture
    def embedder(self):
        return HashEmbedder()


class TestFewDimensions(EmbedderSuite):
    @pytest.fixture
    def embedder(self):
        return HashEmbedder(7)


def embed(*texts, dimensions=256, **options):
    return asyncio.run(HashEmbedder(dimensions).embed(texts, **options))


def cosine(one, other):
    first, second = embed(one, other)
    return float(first @ second)


def bucket(stem, dimensions=256):
    """Return where a stem is counted: 32-bit FNV-1a over its UTF-8 bytes."""
    value = 2166136261
    for byte in stem.encode("utf-8"):
        value = ((value ^ byte) * 16777619) % 2**32
    return value % dimensions


def expected(*stems, dimensions=256):
    """Return the unit vector that counts these stems."""
    counts = [0.0] * dimensions
    for stem in stems:
        counts[bucket(stem, dimensions)] += 1
    length = math.sqrt(sum(count * count for count in counts)) or 1
    return [count / length for count in counts]


@pytest.mark.parametrize(
    ("stem", "hashed"),
    [("", 0x811C9DC5), ("a", 0xE40C292C), ("foobar", 0xBF9CF968), ("chongo was here!\n", 0xD49930D5)],
)
def test_the_hash_of_this_test_gives_the_published_values(stem, hashed):
    assert bucket(stem, 2**32) == hashed


@pytest.mark.parametrize(
    ("text", "stems"),
    [
        ("tea", ["tea"]),
        ("Sam is vegetarian", ["sam", "vegetarian"]),
        ("The office is in Oslo", ["office", "oslo"]),
        ("tea, tea & more TEA", ["tea", "tea", "more", "tea"]),
        ("walking walked walks walk", ["walk", "walk", "walk", "walk"]),
        ("boxes boxed", ["box", "box"]),
        ("sing king bring", ["sing", "king", "bring"]),
        ("red bed needed", ["red", "bed", "need"]),
        ("bus gas", ["bus", "gas"]),
        ("yes goes", ["yes", "goe"]),
        ("it's state-of-the-art", ["s", "state", "art"]),
        ("what does it do", []),
        ("?! 🎉", []),
        ("", []),
        ("Straße STRASSE", ["strasse", "strasse"]),
        ("Cafe\u0301 café", ["café", "café"]),
        ("東京タワー", ["東京タワー"]),
        ("snake_case 3.14", ["snake", "case", "3", "14"]),
    ],
)
def test_a_text_is_the_count_of_its_stems(text, stems):
    np.testing.assert_allclose(embed(text)[0], expected(*stems), atol=1e-7)
    np.testing.assert_allclose(embed(text, dimensions=16)[0], expected(*stems, dimensions=16), atol=1e-7)


@pytest.mark.parametrize("word", sorted(STOP_WORDS))
def test_stop_words_count_for_nothing(word):
    assert not embed(word, word.upper()).any()


@pytest.mark.parametrize("word", ["not", "with", "for", "i", "user"])
def test_other_short_words_count(word):
    np.testing.assert_allclose(embed(word)[0], expected(word), atol=1e-7)


@pytest.mark.parametrize(
    ("word", "stem"),
    [
        ("using", "using"),
        ("going", "going"),
        ("doings", "doing"),
        ("playing", "play"),
        ("added", "add"),
        ("used", "used"),
        ("cases", "cas"),
        ("does", None),
        ("ties", "tie"),
        ("bees", "bee"),
        ("class", "clas"),
    ],
)
def test_a_suffix_is_cut_where_three_letters_are_left(word, stem):
    np.testing.assert_allclose(embed(word)[0], expected(*[stem] if stem else []), atol=1e-7)


def test_vectors_have_length_one_or_zero():
    lengths = np.linalg.norm(embed("likes tea", "the", "a b c d e f g", ""), axis=1)
    np.testing.assert_allclose(lengths, [1, 0, 1, 0], atol=1e-6)


def test_document_and_query_are_embedded_alike():
    np.testing.assert_array_equal(embed("likes tea", kind="query"), embed("likes tea", kind="document"))


def test_no_text_gives_no_rows_of_the_right_width():
    assert embed().shape == (0, 256)


def test_texts_that_share_words_are_close_and_others_are_not():
    assert cosine("Sam is vegetarian", "vegetarian food") == pytest.approx(0.5, abs=1e-6)
    assert cosine("The office is in Oslo", "vegetarian food") == 0
    assert cosine("vegetarian", "eat") == 0


def test_the_example_of_the_documentation():
    memory = blocking(InMemoryVectorMemory(embedder=HashEmbedder()))
    memory.add_many("notes#global", ["Sam is vegetarian", "The office is in Oslo"])
    found = memory.list("notes#global", query="vegetarian food")
    assert [(item.text, item.score) for item in found] == [("Sam is vegetarian", pytest.approx(0.5, abs=1e-6))]


def test_the_id_names_the_dimensions():
    assert (HashEmbedder().id, HashEmbedder(64).id) == ("hash:256", "hash:64")
    assert isinstance(HashEmbedder(), Embedder)


@pytest.mark.parametrize("dimensions", [0, -1, True, 2.5, "256", None])
def test_dimensions_below_one_or_no_whole_number_are_refused(dimensions):
    with pytest.raises(ValueError, match="dimensions"):
        HashEmbedder(dimensions)


def test_a_lone_surrogate_does_not_stop_it():
    assert embed("tea \ud83d").shape == (1, 256)
