"""The bytes of files, searched for what must not be there any more."""

import hashlib

import numpy as np


class RandomEmbedder:
    """Gives each text a vector of its own that no other text comes near."""

    def __init__(self, dimensions=64):
        self.id = f"random:{dimensions}"
        self.dimensions = dimensions

    async def embed(self, texts, *, kind="document"):
        return np.array([self.vector(text) for text in texts], np.float32)

    def vector(self, text):
        seed = int.from_bytes(hashlib.sha256(text.encode()).digest()[:8])
        return np.random.default_rng(seed).standard_normal(self.dimensions)

    def stored(self, text):
        """The bytes of the vector as a store keeps it: float32 of unit length."""
        vector = self.vector(text).astype(np.float32)
        return (vector / np.sqrt(np.einsum("i,i->", vector, vector))).astype("<f4").tobytes()


def contents(folder):
    """Return the bytes of every file of a folder, those in folders below too; no connection may be open here."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def places_of(needle, folder):
    """Return the files that hold some bytes."""
    wanted = needle.encode() if isinstance(needle, str) else needle
    return sorted(name for name, content in contents(folder).items() if wanted in content)
