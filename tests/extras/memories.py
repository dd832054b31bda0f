"""Memories for the tests of the frameworks: a slot of each user's notes, and chats of each user."""

import asyncio
import subprocess
import sys
from pathlib import Path

from embedders import HashEmbedder
from vectormem import ChatStorage, InMemoryMemory, SqliteStore, StorageFailedError, blocking, define_memory

EXAMPLES = Path(__file__).parents[2] / "examples"
INSTRUCTIONS = "You help with tea."
BLOCK = '<memory name="notes">\n- Ada drinks green tea\n</memory>'


def user_notes(**options):
    """Return a slot whose scope is the principal; ada has one note."""
    provider = options.pop("provider", None) or InMemoryMemory()
    notes = define_memory(name="notes", scope=lambda context: context.principal, provider=provider, **options)
    blocking(notes.provider).add("notes#ada", "Ada drinks green tea")
    return notes


def notes_of(slot, user):
    return [item.text for item in blocking(slot.provider).list(f"notes#{user}")]


class Chats:
    """A chat storage for each user, on one store."""

    def __init__(self):
        self._store = SqliteStore(":memory:")

    def of(self, user):
        return ChatStorage(self._store, embedder=HashEmbedder(), scope_key=user)

    def __call__(self, context):
        """Return the storage of a run's user, as the option `chat` of an adapter takes it."""
        return self.of(context.principal)

    def turns(self, user, conversation_id):
        messages = asyncio.run(self.of(user).messages(conversation_id))
        return [(message.role, message.content) for message in messages]


class DownMemory(InMemoryMemory):
    """Lists its items, and can store no more."""

    down = False

    async def add_many(self, *args, **kwargs):
        if self.down:
            raise StorageFailedError("the disk is full")
        return await super().add_many(*args, **kwargs)


def printed_by_example(name, *arguments, quiet=True):
    """Run an example and return the lines that it prints; a quiet one writes nothing to standard error."""
    command = [sys.executable, str(EXAMPLES / name), *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    assert not quiet or done.stderr == ""
    return done.stdout.splitlines()
