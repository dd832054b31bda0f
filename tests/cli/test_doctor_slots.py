"""`doctor --slots`: where memories are kept that do not outlive the process, or lose changes of several."""

import pytest

SLOT = """
from vectormem import {provider_class}, define_memory
{setup}
{name} = define_memory(name="{name}", scope="global", provider={provider})
"""
PLAIN = """
class Plain:
    async def get(self, key): ...
    async def put(self, key, value): ...
    async def delete(self, key): ...
"""
COMPARING = PLAIN + "    async def compare_and_set(self, key, expected, value): ...\n"


@pytest.fixture
def slots(tmp_path):
    for name, provider_class, setup, provider in (
        ("compared", "KVMemory", COMPARING, "KVMemory(Plain())"),
        ("fleeting", "InMemoryMemory", "", "InMemoryMemory()"),
        ("kept", "SqliteMemory", "", f"SqliteMemory({str(tmp_path / 'memory.db')!r})"),
        ("plain", "KVMemory", PLAIN, "KVMemory(Plain())"),
    ):
        text = SLOT.format(name=name, provider_class=provider_class, setup=setup, provider=provider)
        path = tmp_path / "slots" / f"{name}.py"
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    return path.parent


def test_it_names_the_slots_whose_store_loses_changes_or_the_process(slots, run_json):
    document = run_json("doctor", "--slots", slots)
    assert document["slots"] == ["compared", "fleeting", "kept", "plain"]
    assert [(one["level"], one["message"].split(" lies ")[0]) for one in document["findings"]] == [
        ("note", "memory 'fleeting'"),
        ("note", "memory 'plain'"),
    ]
    assert "the last one wins" in document["findings"][1]["message"]


def test_in_words_it_says_what_to_do(slots, run):
    output = run("doctor", "--slots", slots).output
    assert "4 slots" in output
    assert "to do: let one process write it, or use a store with compare_and_set, such as RedisKV" in output
