"""Anthropic's memory tool over slots: whole runs, and each of its commands."""

import asyncio

import pytest
from anthropic import Anthropic, AsyncAnthropic
from anthropic.lib.tools import ToolError

from tests.extras.model_server import message
from tests.providers.stand_ins import FailingProvider, MinimalProvider, UpsertingProvider
from vectormem import InMemoryMemory, MemoryContext, MemoryInvalidError, blocking, define_memory, memory_key
from vectormem.adapters.anthropic_memory_tool import AsyncSlotMemoryTool, SlotMemoryTool

TOOL = {"type": "memory_20250818", "name": "memory"}
ALL = {"forget": True}


def define(name="notes", scope="global", provider=None, expose=ALL, **options):
    return define_memory(name=name, scope=scope, provider=provider or InMemoryMemory(), expose=expose, **options)


def put(slot, id, text, **context):
    blocking(slot.provider).upsert(memory_key(slot, MemoryContext(**context)), text, id=id)


def kept(slot, **context):
    items = blocking(slot.provider).list(memory_key(slot, MemoryContext(**context)))
    return {item.id: item.text for item in items}


@pytest.fixture(params=[SlotMemoryTool, AsyncSlotMemoryTool], ids=["blocking", "async"])
def use(request):
    """Call a command of the tool over some slots."""

    def called(slots, command, context=None, **arguments):
        tool = request.param(slots, context)
        answer = tool.call({"command": command, **arguments})
        return asyncio.run(answer) if request.param is AsyncSlotMemoryTool else answer

    return called


STEPS = [
    message(None, ("t1", "memory", {"command": "view", "path": "/memories"})),
    message(None, ("t2", "memory", {"command": "create", "path": "/memories/notes/home.md", "file_text": "In Oslo."})),
    message(None, ("t3", "memory", {"command": "view", "path": "/memories/notes/none.md"})),
    message("Done."),
]
OPTIONS = {"model": "m", "max_tokens": 99, "messages": [{"role": "user", "content": "I moved to Oslo."}]}


def check_run(model, slot, final):
    assert final.content[0].text == "Done."
    assert kept(slot) == {"tea": "The user likes tea.", "home": "In Oslo."}
    assert [body["tools"] for body in model.bodies] == [[TOOL]] * 4
    results = [body["messages"][-1]["content"][0] for body in model.bodies[1:]]
    assert [(one["tool_use_id"], one.get("is_error", False)) for one in results] == [
        *(("t1", False), ("t2", False), ("t3", True)),
    ]
    assert "/memories/notes/tea.md" in str(results[0]["content"])
    assert "there is no file /memories/notes/none.md" in str(results[2]["content"])


def test_a_whole_run_of_the_async_client(model):
    slot = define()
    put(slot, "tea", "The user likes tea.")
    model.answers += STEPS

    async def main():
        async with AsyncAnthropic(base_url=model.url, api_key="sk-1") as client:
            return await client.beta.messages.tool_runner(tools=[AsyncSlotMemoryTool([slot])], **OPTIONS).until_done()

    check_run(model, slot, asyncio.run(main()))


def test_a_whole_run_of_the_blocking_client(model):
    slot = define()
    put(slot, "tea", "The user likes tea.")
    model.answers += STEPS
    with Anthropic(base_url=model.url, api_key="sk-1") as client:
        final = client.beta.messages.tool_runner(tools=[SlotMemoryTool([slot])], **OPTIONS).until_done()
    check_run(model, slot, final)


def test_view_lists_the_files_of_all_memories_or_of_one(use):
    notes, facts, empty = define(), define("facts"), define("empty")
    put(notes, "tea", "Likes tea.")
    put(notes, "home", "In Oslo.")
    put(facts, "a/b c".replace(" ", "_"), "x")
    listed = use([notes, facts, empty], "view", path="/memories")
    assert listed.splitlines() == [
        "Files in /memories:",
        "/memories/notes/home.md",
        "/memories/notes/tea.md",
        "/memories/facts/a%2Fb_c.md",
    ]
    assert use([notes, facts], "view", path="/memories/facts/").splitlines()[1:] == ["/memories/facts/a%2Fb_c.md"]
    assert use([empty], "view", path="/memories") == "/memories holds no files yet."


def test_what_view_lists_can_be_viewed(use):
    slot = define()
    put(slot, "a/b%c", "x")
    path = use([slot], "view", path="/memories").splitlines()[1]
    assert use([slot], "view", path=path).splitlines()[1:] == ["     1\tx"]


def test_view_shows_lines_with_their_numbers(use):
    slot = define()
    put(slot, "list", "one\ntwo\nthree")
    path = "/memories/notes/list.md"
    assert use([slot], "view", path=path).splitlines()[1:] == ["     1\tone", "     2\ttwo", "     3\tthree"]
    assert use([slot], "view", path=path, view_range=[2, 3]).splitlines()[1:] == ["     2\ttwo", "     3\tthree"]
    assert use([slot], "view", path=path, view_range=[3, -1]).splitlines()[1:] == ["     3\tthree"]


@pytest.mark.parametrize("lines", [[0, 1], [4, 5], [2, 1], [1], [1, 2, 3]])
def test_a_range_that_is_none_is_refused(use, lines):
    slot = define()
    put(slot, "list", "one\ntwo\nthree")
    with pytest.raises(ToolError, match="view_range must be"):
        use([slot], "view", path="/memories/notes/list.md", view_range=lines)


def test_create_stores_a_file_that_is_not_there_yet(use):
    slot = define()
    use([slot], "create", path="/memories/notes/home.md", file_text="In Oslo.\n")
    assert kept(slot) == {"home": "In Oslo.\n"}
    with pytest.raises(ToolError, match="exists already"):
        use([slot], "create", path="/memories/notes/home.md", file_text="In Bergen.")
    assert kept(slot) == {"home": "In Oslo.\n"}


def test_a_text_is_not_taken_from_the_file_that_holds_it(use):
    slot = define()
    put(slot, "home", "In Oslo.")
    put(slot, "city", "In Bergen.")
    with pytest.raises(ToolError, match=r"stands in /memories/notes/home\.md already"):
        use([slot], "create", path="/memories/notes/other.md", file_text="In Oslo.")
    with pytest.raises(ToolError, match=r"home\.md already"):
        use([slot], "str_replace", path="/memories/notes/city.md", old_str="Bergen", new_str="Oslo")
    assert kept(slot) == {"city": "In Bergen.", "home": "In Oslo."}


def test_str_replace_replaces_the_one_place(use):
    slot = define()
    blocking(slot.provider).upsert("notes#global", "In Oslo. In May.", id="home", metadata={"source": "chat"})
    use([slot], "str_replace", path="/memories/notes/home.md", old_str="Oslo", new_str="Bergen")
    [item] = blocking(slot.provider).list("notes#global")
    assert (item.id, item.text, item.metadata) == ("home", "In Bergen. In May.", {"source": "chat"})
    use([slot], "str_replace", path="/memories/notes/home.md", old_str=" In May.", new_str="")
    assert kept(slot) == {"home": "In Bergen."}


@pytest.mark.parametrize(("old", "times"), [("In", 2), ("Rome", 0), ("", 0)])
def test_str_replace_refuses_what_stands_there_not_once(use, old, times):
    slot = define()
    put(slot, "home", "In Oslo. In May.")
    with pytest.raises(ToolError, match=f"{times} times"):
        use([slot], "str_replace", path="/memories/notes/home.md", old_str=old, new_str="x")
    assert kept(slot) == {"home": "In Oslo. In May."}


@pytest.mark.parametrize(("line", "expected"), [(0, "new\none\ntwo"), (1, "one\nnew\ntwo"), (2, "one\ntwo\nnew")])
def test_insert_puts_lines_behind_a_line(use, line, expected):
    slot = define()
    put(slot, "list", "one\ntwo")
    use([slot], "insert", path="/memories/notes/list.md", insert_line=line, insert_text="new\n")
    assert kept(slot) == {"list": expected}


@pytest.mark.parametrize("line", [-1, 3])
def test_insert_refuses_a_line_that_is_not_there(use, line):
    slot = define()
    put(slot, "list", "one\ntwo")
    with pytest.raises(ToolError, match="from 0 to 2"):
        use([slot], "insert", path="/memories/notes/list.md", insert_line=line, insert_text="new")


def test_delete_deletes_one_file(use):
    slot = define()
    put(slot, "a", "one")
    put(slot, "b", "two")
    use([slot], "delete", path="/memories/notes/a.md")
    assert kept(slot) == {"b": "two"}
    with pytest.raises(ToolError, match="there is no file"):
        use([slot], "delete", path="/memories/notes/a.md")


@pytest.mark.parametrize("path", ["/memories", "/memories/notes", "/memories/notes/"])
def test_folders_are_neither_deleted_nor_written(use, path):
    slot = define()
    put(slot, "a", "one")
    with pytest.raises(ToolError, match="is a folder"):
        use([slot], "delete", path=path)
    with pytest.raises(ToolError, match="is a folder"):
        use([slot], "create", path=path, file_text="x")
    assert kept(slot) == {"a": "one"}


def test_rename_keeps_the_text_under_another_name_or_in_another_memory(use):
    notes, facts = define(), define("facts")
    blocking(notes.provider).upsert("notes#global", "In Oslo.", id="a", metadata={"n": 1})
    use([notes, facts], "rename", old_path="/memories/notes/a.md", new_path="/memories/notes/b.md")
    assert kept(notes) == {"b": "In Oslo."}
    use([notes, facts], "rename", old_path="/memories/notes/b.md", new_path="/memories/facts/c.md")
    assert (kept(notes), kept(facts)) == ({}, {"c": "In Oslo."})
    assert blocking(facts.provider).list("facts#global")[0].metadata == {"n": 1}


def test_rename_overwrites_nothing(use):
    slot = define()
    put(slot, "a", "one")
    put(slot, "b", "two")
    with pytest.raises(ToolError, match="exists already"):
        use([slot], "rename", old_path="/memories/notes/a.md", new_path="/memories/notes/b.md")
    with pytest.raises(ToolError, match="there is no file"):
        use([slot], "rename", old_path="/memories/notes/c.md", new_path="/memories/notes/d.md")
    assert kept(slot) == {"a": "one", "b": "two"}


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
