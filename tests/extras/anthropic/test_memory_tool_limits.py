"""What the model cannot do with Anthropic's memory tool, and is told."""

import asyncio

import pytest
from anthropic.lib.tools import ToolError

from tests.extras.anthropic.slots import TOOL, define, kept, put
from tests.providers.stand_ins import FailingProvider, MinimalProvider, UpsertingProvider
from vectormem import MemoryContext, MemoryInvalidError
from vectormem.adapters.anthropic_memory_tool import AsyncSlotMemoryTool, SlotMemoryTool

ELSEWHERE = [
    *("/etc/passwd", "memories/notes/a.md", "", "/", "/memories/../etc/passwd", "/memories/notes/../../etc/passwd"),
    *("/memories/notes/../other/a.md", "/memories/other/a.md", "/memories/notes/a.md/b.md", "/memories//a.md"),
    *("/memories/notes/a.txt", "/memories/notes/.md", "/memories/notes/a b.md", "/memories/notes/%00.md"),
    *("/memoriesx/notes/a.md", "/memories/notes#global/a.md", "\\memories\\notes\\a.md"),
]


@pytest.mark.parametrize("path", ELSEWHERE)
def test_no_path_leads_out_of_the_memories(use, path):
    slot, other = define(), define("other")
    put(other, "a", "secret")
    for command, arguments in (("view", {}), ("create", {"file_text": "x"}), ("delete", {})):
        with pytest.raises(ToolError):
            use([slot], command, path=path, **arguments)
    assert kept(slot) == {}


def test_another_scope_is_not_seen(use):
    slot = define(scope=lambda context: f"user:{context.principal}")
    put(slot, "a", "of Ada", principal="ada")
    bob = MemoryContext(principal="bob")
    assert use([slot], "view", bob, path="/memories") == "/memories holds no files yet."
    with pytest.raises(ToolError, match="there is no file"):
        use([slot], "view", bob, path="/memories/notes/a.md")
    use([slot], "create", bob, path="/memories/notes/a.md", file_text="of Bob")
    assert (kept(slot, principal="ada"), kept(slot, principal="bob")) == ({"a": "of Ada"}, {"a": "of Bob"})


def test_a_memory_without_a_scope_key_is_off(use):
    with pytest.raises(ToolError, match="there is no memory 'notes'"):
        use([define(scope="session")], "view", path="/memories/notes")


def test_expose_says_what_may_be_done(use):
    slot = define(expose={"remember": False, "recall": False, "forget": False})
    put(slot, "a", "one")
    refused = [
        ("view", {"path": "/memories/notes/a.md"}, "recall"),
        ("create", {"path": "/memories/notes/b.md", "file_text": "x"}, "remember"),
        ("str_replace", {"path": "/memories/notes/a.md", "old_str": "o", "new_str": "x"}, "remember"),
        ("insert", {"path": "/memories/notes/a.md", "insert_line": 0, "insert_text": "x"}, "remember"),
        ("rename", {"old_path": "/memories/notes/a.md", "new_path": "/memories/notes/b.md"}, "remember"),
        ("delete", {"path": "/memories/notes/a.md"}, "forget"),
    ]
    for command, arguments, verb in refused:
        with pytest.raises(ToolError, match=f"does not let you {verb}"):
            use([slot], command, **arguments)
    assert use([slot], "view", path="/memories") == "/memories holds no files yet."
    assert kept(slot) == {"a": "one"}


@pytest.mark.parametrize(
    "input",
    [
        None,
        "view",
        {},
        {"command": "format"},
        {"command": "view"},
        {"command": "view", "path": 7},
        {"path": "/memories"},
    ],
)
def test_what_is_no_command_is_told_to_the_model(input):
    with pytest.raises(ToolError, match="no command of the memory tool"):
        SlotMemoryTool([define()]).call(input)


@pytest.mark.parametrize("text", ["", "  \n", "a\0b"])
def test_a_text_that_no_memory_holds_is_told_to_the_model(use, text):
    with pytest.raises(ToolError, match="text of an item"):
        use([define()], "create", path="/memories/notes/a.md", file_text=text)


class Broken(FailingProvider):
    async def upsert(self, scope_key, text, *, id=None, metadata=None):
        raise self.error


def test_a_memory_that_fails_is_told_to_the_model(use):
    slot = define(provider=Broken(OSError("disk gone")))
    with pytest.raises(ToolError, match="disk gone"):
        use([slot], "view", path="/memories")


def test_a_custom_provider_with_upsert_is_enough(use):
    slot = define(provider=UpsertingProvider())
    use([slot], "create", path="/memories/notes/a.md", file_text="one")
    use([slot], "str_replace", path="/memories/notes/a.md", old_str="one", new_str="two")
    use([slot], "rename", old_path="/memories/notes/a.md", new_path="/memories/notes/b.md")
    assert use([slot], "view", path="/memories/notes/b.md").splitlines()[1:] == ["     1\ttwo"]
    use([slot], "delete", path="/memories/notes/b.md")
    assert use([slot], "view", path="/memories") == "/memories holds no files yet."


def test_slots_that_cannot_be_files_are_refused():
    with pytest.raises(MemoryInvalidError, match="item_schema"):
        SlotMemoryTool([define(item_schema={"type": "object", "properties": {"a": {"type": "string"}}})])
    with pytest.raises(MemoryInvalidError, match="without upsert"):
        SlotMemoryTool([define(provider=MinimalProvider())])
    with pytest.raises(MemoryInvalidError, match="two slots"):
        SlotMemoryTool([define(), define()])


def test_changes_of_one_file_at_the_same_time_are_all_kept():
    slot = define()
    put(slot, "list", "start")
    tool = AsyncSlotMemoryTool([slot])

    async def main():
        path = "/memories/notes/list.md"
        command = {"command": "insert", "path": path, "insert_line": 0}
        await asyncio.gather(*(tool.call({**command, "insert_text": f"line {n}"}) for n in range(10)))

    asyncio.run(main())
    assert sorted(kept(slot)["list"].split("\n")) == sorted([*(f"line {n}" for n in range(10)), "start"])


def test_it_is_offered_as_anthropics_tool_and_may_be_cached():
    assert SlotMemoryTool([define()]).to_dict() == TOOL
    cached = AsyncSlotMemoryTool([define()], cache_control={"type": "ephemeral"})
    assert cached.to_dict() == {**TOOL, "cache_control": {"type": "ephemeral"}}
