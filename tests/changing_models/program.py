"""A program with an embedder of its own, for tests in which two of them run at once.

python -m tests.changing_models.program DATABASE EMBEDDER_ID DIMENSIONS add|reindex|ask [TEXT...]
"""

import asyncio
import hashlib
import json
import logging
import sys
import time

import numpy as np

from embedders import as_embedder
from vectormem import SqliteVectorMemory

KEY = "facts#user:sam"


def model(name, dimensions, seconds=0.0):
    """Return an embedder whose vectors depend on its name; each call takes some time."""

    def embed(texts):
        time.sleep(seconds)
        seeds = [int.from_bytes(hashlib.sha256(f"{name} {text}".encode()).digest()[:8]) for text in texts]
        return np.stack([np.random.default_rng(seed).normal(size=dimensions) for seed in seeds])

    embedder = as_embedder(embed, id=name)
    embedder.max_batch = 10
    return embedder


def say(*words):
    sys.stdout.write(" ".join(map(str, words)) + "\n")
    sys.stdout.flush()


async def main(path, name, dimensions, verb, texts):
    async with SqliteVectorMemory(path, embedder=model(name, int(dimensions), 0.02), min_score=-1) as memory:
        say("ready")
        if verb == "add":
            for text in texts:
                await memory.add(KEY, text)
        elif verb == "reindex":
            say(await memory.reindex(on_progress=say))
        elif verb == "ask":
            found = [item.text for item in await memory.list(KEY, query=texts[0])]
            say(json.dumps({"found": found, "listed": [item.text for item in await memory.list(KEY)]}))


if __name__ == "__main__":
    logging.basicConfig(format="%(message)s")
    asyncio.run(main(*sys.argv[1:5], sys.argv[5:]))
