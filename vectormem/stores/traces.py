"""The search for what was erased in the raw bytes of files, at the same speed for one text and for a million."""

import hashlib
from collections.abc import Iterable, Iterator
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

_ANCHOR = 8
_PIECE = 64  # bytes of a text that are looked for at once
_STRIDE = 512  # a long text is looked for in pieces, this far from each other
_MOST_OF_A_VECTOR = 1024  # SQLite keeps at least so much of a long value in one place
_MIXER = np.uint64(0x9E3779B97F4A7C15)
_SHIFT = np.uint64(44)
_OVERLAP = 2 * _MOST_OF_A_VECTOR

Words: TypeAlias = NDArray[np.uint64]


class _Piece(NamedTuple):
    """What stands around an anchor: where it begins before it, how long it is, and the digest of its bytes."""

    before: int
    length: int
    digest: bytes


class Traces:
    """Texts and vectors to look for; nothing of them is kept but eight bytes each and digests.

    What is shorter than eight bytes in UTF-8, and a vector of zeros, cannot be told from chance and is passed over.
    """

    def __init__(self) -> None:
        self._pieces: dict[bytes, set[_Piece]] = {}

    def add_text(self, text: str) -> None:
        """Look for a text; a long one is looked for in many places."""
        content = text.encode(errors="replace")
        for start in {*range(0, len(content), _STRIDE), max(0, len(content) - _PIECE)}:
            piece = content[start : start + _PIECE]
            if len(piece) >= _ANCHOR:
                self._add(piece, 0)

    def add_vector(self, vector: bytes) -> None:
        """Look for a vector, given as float32."""
        piece = vector[:_MOST_OF_A_VECTOR]
        size = np.abs(np.frombuffer(piece, "<f4"))
        if len(size) >= 2 and size.any():
            self._add(piece, min(int(size.argmax()), len(size) - 2) * 4)

    def find(self, chunks: Iterable[bytes]) -> "Found":
        """Return which pieces stand in a file, or in one value, given as chunks in order."""
        if not self._pieces:
            return set()
        anchors = np.unique(np.frombuffer(b"".join(self._pieces), "<u8"))
        table = np.zeros(2**20, np.bool_)
        table[_mixed(anchors)] = True
        found: Found = set()
        for window in _windows(chunks):
            for position in _positions(window, anchors, table):
                found |= self._standing(window, position)
        return found

    def _add(self, piece: bytes, anchor: int) -> None:
        of_anchor = self._pieces.setdefault(piece[anchor : anchor + _ANCHOR], set())
        of_anchor.add(_Piece(anchor, len(piece), _digest(piece)))

    def _standing(self, window: bytes, position: int) -> "Found":
        found = set()
        for piece in self._pieces[window[position : position + _ANCHOR]]:
            start = position - piece.before
            if start >= 0 and _digest(window[start : start + piece.length]) == piece.digest:
                found.add(piece.digest)
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


def _positions(window: bytes, anchors: Words, table: NDArray[np.bool_]) -> Iterator[int]:
    """Yield where an anchor stands in a window."""
    for shift in range(_ANCHOR):
        count = (len(window) - shift) // _ANCHOR
        if count > 0:
            words = np.frombuffer(window, "<u8", count, shift)
            likely = np.flatnonzero(table[_mixed(words)])
            sure = likely[np.isin(words[likely], anchors)]
            yield from (sure * _ANCHOR + shift).tolist()


def _mixed(words: Words) -> Words:
    """Return 20 bits of each word in which all of its bits take part."""
    return (words * _MIXER) >> _SHIFT
