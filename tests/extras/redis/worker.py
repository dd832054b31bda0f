"""A process that adds numbered texts to a key on a server, and removes every other one again."""
# ruff: noqa: T201  # what it prints is what the tests read

import sys

from vectormem import KVMemory, RedisKV, blocking

KEY = "shared"


def main(url, name, count):
    memory = blocking(KVMemory(RedisKV(url, timeout=60), max_items=None, timeout=120))
    print("ready", flush=True)
    sys.stdin.readline()  # the others are ready too
    for number in range(int(count)):
        item = memory.add(KEY, f"{name} {number}")
        if number % 2:
            assert memory.remove(KEY, item.id)


if __name__ == "__main__":
    main(*sys.argv[1:])
