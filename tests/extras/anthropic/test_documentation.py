"""The page on the plain SDKs."""

import asyncio

from anthropic import AsyncAnthropic

from tests.extras.documentation import run_examples
from tests.extras.model_server import message
from vectormem import SqliteMemory, blocking


def test_the_examples_run(model, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    [(printed, expected, _), (_, _, names)] = run_examples("plain_sdks.md")
    assert printed == expected
    command = {"command": "create", "path": "/memories/notes/home.md", "file_text": "In Oslo."}
    model.answers += [message(None, ("t1", "memory", command)), message("Noted.")]

    async def main():
        async with AsyncAnthropic(base_url=model.url, api_key="sk-1") as client:
            return await names["ask"](client, "ada", "I moved to Oslo.")

    assert asyncio.run(main()).content[0].text == "Noted."
    with blocking(SqliteMemory("memory.db")) as memory:
        [item] = memory.list("notes#user:ada")
    assert (item.id, item.text) == ("home", "In Oslo.")
