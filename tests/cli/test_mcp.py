import asyncio
import json

import pytest

from embedders import HashEmbedder
from tests.cli.conftest import KEY, in_process, texts
from vectormem import MemoryInvalidError, SqliteMemory, blocking
from vectormem.cli.embedder import parse_embedder
from vectormem.cli.mcp_serving import Offer
from vectormem.cli.opening import chat_memory, opened_store
from vectormem.cli.place import FilePlace
from vectormem.mcp_server.caller import Caller

WITHOUT_THE_EXTRA = (
    "import sys; sys.modules['mcp'] = sys.modules['mcp_types'] = None\n"
    "sys.argv = ['vectormem', 'mcp', *{!r}]\n"
    "from vectormem.cli.app import main\n"
    "main()"
)


@pytest.mark.parametrize("transport", [(), ("--http", "--port", "0")])
def test_without_the_extra_the_install_line_is_shown(transport, folder):
    result = in_process(code=WITHOUT_THE_EXTRA.format(transport))
    assert (result.returncode, result.stdout) == (1, b"")
    assert b"pip install 'vectormem[mcp]'" in result.stderr
    assert list(folder.iterdir()) == []


def test_with_json_it_is_shown_as_json():
    result = in_process(code=WITHOUT_THE_EXTRA.format(("--json",)))
    assert json.loads(result.stdout)["error"]["code"] == "EXTRA_MISSING"


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (("--port", "8000"), "need --http"),
        (("--host", "127.0.0.1"), "need --http"),
        (("--tokens", "tokens.json"), "need --http"),
        (("--allow-host", "a.example"), "need --http"),
        (("--http", "--tokens", "tokens.json", "--principal", "ada"), "give one of the two"),
        (("--http", "--tokens", "tokens.json", "--token", "t"), "take away --token"),
        (("--port", "0"), "need --http"),
        (("--key", "facts#user:ada", "--principal", "ada"), "--key names one memory"),
        (("--key", "facts#user:ada", "--slots", "slots"), "--key names one memory"),
        (("--http", "--key", "facts#user:ada", "--tokens", "tokens.json"), "--key names one memory"),
        (("--key", "facts"), "SLOT#SCOPE_KEY"),
        (("--key", "#global"), "SLOT#SCOPE_KEY"),
        (("--key", "facts#"), "SLOT#SCOPE_KEY"),
        (("--principal", " "), "must not be blank"),
        (("--http", "--port", "65536"), "65535"),
        (("--embedder", "word2vec"), "there is no embedder"),
        (("--embedder", "st"), "st:MODEL needs"),
        (("--db", ":memory:"), "would be gone"),
    ],
)
def test_options_that_do_not_go_together_are_wrong_usage(run, arguments, reason):
    result = run("mcp", *arguments)
    assert (result.exit_code, result.stdout) == (2, "")
    assert reason in " ".join(result.stderr.replace("│", " ").split())


def keys_of(offer, *callers):
    """Return the key under which each caller remembers in the first slot."""
    with offer.opened(callers) as memories:
        for caller in callers:
            tool = memories.tools(caller)[0].tool.name
            asyncio.run(memories.call(caller, tool, {"text": f"by {caller.principal}"}))
    return {key: texts(items) for key, items in stored(offer.db.path).items()}


def stored(path):
    with blocking(SqliteMemory(path)) as memory:
        return {key: memory.list(key) for key in memory.scope_keys()}


def offer(folder, **options):
    defaults = {"db": FilePlace(folder / "agent.db"), "embedder": parse_embedder("hash"), "slots": None, "key": KEY}
    return Offer(**{**defaults, "max_items": None, **options})


def test_the_only_user_has_the_memory_of_the_key(folder):
    assert keys_of(offer(folder), Caller()) == {KEY: ["by None"]}
    assert keys_of(offer(folder, db=FilePlace(folder / "b.db"), key="facts#user:sam"), Caller()) == {
        "facts#user:sam": ["by None"]
    }


def test_every_principal_has_a_memory_of_their_own(folder):
    assert keys_of(offer(folder), Caller("ada"), Caller("eve")) == {
        "memory#user:ada": ["by ada"],
        "memory#user:eve": ["by eve"],
    }


@pytest.mark.parametrize("principal", ["None", "null", "[object Object]"])
def test_a_principal_that_looks_like_a_missing_one_is_refused(folder, principal):
    with (
        pytest.raises(MemoryInvalidError, match="built from a missing value"),
        offer(folder).opened([Caller(principal)]),
    ):
        pass


def test_max_items_bounds_the_memory(folder):
    with offer(folder, max_items=2).opened([Caller()]) as memories:
        for text in "abc":
            asyncio.run(memories.call(Caller(), "remember_memory", {"text": text}))
    assert texts(stored(folder / "agent.db")[KEY]) == ["c", "b"]


@pytest.mark.parametrize(
    ("scope", "told"), [("'global'", True), ("lambda c: c.principal", False), ("'session'", False)]
)
def test_a_slot_that_principals_share_is_told_of(folder, capsys, scope, told):
    (folder / "notes.py").write_text(
        f"from vectormem import InMemoryMemory\nslot = dict(scope={scope}, provider=InMemoryMemory())\n"
    )
    with offer(folder, slots=folder).opened([Caller("ada"), Caller("eve")]):
        pass
    assert ("the memory 'notes' is one and the same for several users" in capsys.readouterr().err) is told


def test_chats_are_those_of_the_principal_or_global(folder):
    with opened_store(FilePlace(folder / "agent.db"), create=True) as store:
        for scope_key in ("global", "user:ada"):
            chat_memory(store, HashEmbedder(), scope_key).save_message("m", "user", f"The chat is {scope_key}")
    with offer(folder).opened([Caller(), Caller("ada")]) as memories:
        found = [
            asyncio.run(memories.call(one, "search_memory", {"query": "chat"})) for one in (Caller(), Caller("ada"))
        ]
    assert [[one["text"] for one in json.loads(answer.text)["messages"]] for answer in found] == [
        ["The chat is global"],
        ["The chat is user:ada"],
    ]
