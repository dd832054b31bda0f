"""The search for what was erased in the raw bytes of files, at the same speed for one text and for a million."""

import hashlib
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

_ANCHOR = 8
_PIECE = 64  # bytes of a text that are looked for at once
_STRIDE = 512  # a long text is looked for in pieces, this far from each other
_MOST_OF_A_VECTOR = 1024  # SQLite keeps at least so much of a long value in one place
_MIXER = np.uint64(0x9E3779B97F4A7C15)
_SHIFT = np.uint64(44)
_MAGNITUDE = np.uint32(0x7FFFFFFF)  # a float without its sign; as whole numbers, these have the same order
_MOST_WORDS = 8
_MULTIPLIERS = np.array([pow(int(_MIXER), power, 2**64) for power in range(1, _MOST_WORDS + 1)], np.uint64)
_OVERLAP = 2 * _MOST_OF_A_VECTOR

Words: TypeAlias = NDArray[np.uint64]


class _Extent(NamedTuple):
    """Where a piece begins before its anchor, and how long it is."""

    before: int
    length: int


class Traces:
    """Texts and vectors to look for; nothing of them is kept but eight bytes each and digests.

    What is shorter than eight bytes in UTF-8, and a vector of zeros, cannot be told from chance and is passed over.
    """

    def __init__(self) -> None:
        self._pieces: dict[bytes, dict[_Extent, Found]] = {}  # digests, by anchor and extent
        self._prints: dict[int, set[int]] = {}  # of the first words from an anchor on, by their number

    def add(self, value: object) -> None:
        """Look for a value of a row: a text, or bytes; a number is passed over."""
        if isinstance(value, str):
            self.add_text(value)
        elif isinstance(value, bytes):
            self.add_vector(value)

    def add_text(self, text: str) -> None:
        """Look for a text; a long one is looked for in many places."""
        content = text.encode(errors="replace")
        for start in {*range(0, len(content), _STRIDE), max(0, len(content) - _PIECE)}:
            piece = content[start : start + _PIECE]
            if len(piece) >= _ANCHOR:
                self._add(piece, 0)

    def add_vector(self, vector: bytes) -> None:
        """Look for a vector, given as float32, or for the beginning of other bytes."""
        piece = vector[: min(len(vector) // 4 * 4, _MOST_OF_A_VECTOR)]
        size = np.frombuffer(piece, "<u4") & _MAGNITUDE
        if len(size) >= 2 and size.any():
            self._add(piece, min(int(size.argmax()), len(size) - 2) * 4)

    def find(self, chunks: Iterable[bytes]) -> "Found":
        """Return which pieces stand in a file, or in one value, given as chunks in order."""
        if not self._pieces:
            return set()
        sieve = _Sieve(self._prints)
        sieve.admit(np.frombuffer(b"".join(self._pieces), "<u8"))
        found: Found = set()
        for window in _windows(chunks):
            for position in sieve.positions(window):
                found |= self._standing(window, position)
        return found

    def _add(self, piece: bytes, anchor: int) -> None:
        count, print_ = _fingerprint(piece[anchor:])
        self._prints.setdefault(count, set()).add(print_)
        of_anchor = self._pieces.setdefault(piece[anchor : anchor + _ANCHOR], {})
        of_anchor.setdefault(_Extent(anchor, len(piece)), set()).add(_digest(piece))

    def _standing(self, window: bytes, position: int) -> "Found":
        found = set()
        for extent, digests in self._pieces.get(window[position : position + _ANCHOR], {}).items():
            start = position - extent.before
            if start >= 0 and (digest := _digest(window[start : start + extent.length])) in digests:
                found.add(digest)
        return found


Found: TypeAlias = set[bytes]
"""The digests of the pieces that were found."""


def _digest(piece: bytes) -> bytes:
    return hashlib.blake2b(piece, digest_size=16).digest()


def _windows(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """Yield chunks, each with the end of the one before, so that nothing hides on a border."""
    before = b""
    for chunk in chunks:
        window = before + chunk
        yield window
        before = window[-_OVERLAP:]


class _Sieve:
    """Finds in one pass where a piece may begin, by fingerprints of eight words of eight bytes at most."""

    def __init__(self, prints: Mapping[int, Collection[int]]) -> None:
        self._prints = {count: np.array(sorted(values), np.uint64) for count, values in prints.items()}
        self._first = np.zeros(2**20, np.bool_)

    def admit(self, anchors: Words) -> None:
        """Let positions pass where one of these words stands."""
        self._first[_mixed(anchors)] = True

    def positions(self, window: bytes) -> Iterator[int]:
        """Yield where a piece stands, from its anchor on; where that is for sure, but for the last bytes."""
        padded = window + bytes((_MOST_WORDS + 1) * _ANCHOR)
        for shift in range(_ANCHOR):
            words = np.frombuffer(padded, "<u8", len(padded) // _ANCHOR - 1, shift)
            likely = np.flatnonzero(self._first[_mixed(words[:-_MOST_WORDS])])
            yield from (likely[self._matches(words, likely)] * _ANCHOR + shift).tolist()

    def _matches(self, words: Words, likely: NDArray[np.intp]) -> NDArray[np.bool_]:
        sums = np.zeros(len(likely), np.uint64)
        matches = np.zeros(len(likely), np.bool_)
        for number, multiplier in enumerate(_MULTIPLIERS):
            sums += words[likely + number] * multiplier
            if number + 1 in self._prints:
                matches |= _isin(sums, self._prints[number + 1])
        return matches


def _isin(values: Words, choices: Words) -> NDArray[np.bool_]:
    """Tell which values are among sorted choices."""
    places = np.minimum(np.searchsorted(choices, values), len(choices) - 1)
    return np.asarray(choices[places] == values)


def _fingerprint(content: bytes) -> tuple[int, int]:
    """Return the number of words at the start of some bytes, eight at most, and what tells them from others."""
    count = min(len(content) // _ANCHOR, _MOST_WORDS)
    words = np.frombuffer(content, "<u8", count)
    return count, int((words * _MULTIPLIERS[:count]).sum(dtype=np.uint64))


def _mixed(words: Words) -> Words:
    """Return 20 bits of each word in which all of its bits take part."""
    return (words * _MIXER) >> _SHIFT
