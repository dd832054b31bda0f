"""Untrusted text stays text: in every provider, in the block and in the tools."""

import json
import re

import pytest

from tests.conftest import ALL_KINDS, texts_of
from tests.faults.attacks import ATTACKS, IDS
from vectormem import (
    MemoryContext,
    MemoryInvalidError,
    MemoryRun,
    SqliteStore,
    blocking,
    define_memory,
)

TAG = re.compile(r"<[\s/]*memory", re.IGNORECASE)


def run_on(provider, **options):
    slot = define_memory(name="notes", scope="global", provider=provider, **options)
    return blocking(MemoryRun([slot], MemoryContext()))


def test_every_attack_comes_back_as_it_was_as_text_key_and_metadata(every_place, tmp_path):
    """oceanbase/powercontext#898, basicmachines-co/basic-memory#223, cocoindex-io/cocoindex#933"""
    memory = blocking(every_place.open(max_items=None))
    memory.add("bystander", "tea")
    outside = set(tmp_path.parent.iterdir())
    memory.add_many("k", ATTACKS, metadata=[{one: [one]} for one in ATTACKS])
    for one in ATTACKS:
        memory.add(one, "tea", metadata={"key": one})
    assert texts_of(memory.list("k")) == ATTACKS[::-1]
    assert [item.metadata for item in memory.list("k")] == [{one: [one]} for one in reversed(ATTACKS)]
    for one in ATTACKS:
        assert [(item.text, item.metadata) for item in memory.list(one)] == [("tea", {"key": one})]
    assert list(memory.scope_keys()) == sorted([*ATTACKS, "bystander", "k"])
    assert set(tmp_path.parent.iterdir()) == outside
    assert [path for path in tmp_path.rglob("*") if path.is_dir() and path != tmp_path / "files"] == []


def test_an_attack_as_a_query_or_an_id_is_no_syntax_and_reaches_nothing_else(every_place):
    """spences10/ccrecall#29, alibaba/neug#982, ohdearquant/khive#880"""
    memory = blocking(every_place.open(max_items=None))
    memory.add("bystander", "tea or milk, from the memory items of a user, id 1")
    memory.add_many("k", ATTACKS)
    for one in ATTACKS:
        assert set(texts_of(memory.list("k", query=one))) <= set(ATTACKS)
        assert memory.get("k", one) is None
        assert memory.remove("k", one) is False
    assert memory.count("k") == len(ATTACKS)
    assert memory.count("bystander") == 1


def test_an_id_holds_no_white_space_and_nothing_that_acts(every_place):
    """NousResearch/hermes-agent#64288"""
    memory = blocking(every_place.open(max_items=None))
    for number, one in enumerate(ATTACKS):
        if one in IDS:
            assert memory.upsert("k", f"tea {number}", id=one).id == one
        else:
            with pytest.raises(MemoryInvalidError, match="id"):
                memory.upsert("k", f"tea {number}", id=one)
    assert [item.id for item in memory.list("k")] == IDS[::-1]
    for one in IDS:
        assert memory.get("k", one).id == one
        assert memory.remove("k", one) is True


@pytest.mark.parametrize("forget", [False, True])
@pytest.mark.parametrize("max_chars", [None, 5000])
def test_each_attack_is_one_line_of_one_block_with_its_own_id(every_place, forget, max_chars):
    """bytedance/deer-flow#4097, NousResearch/hermes-agent#64288"""
    provider = every_place.open(max_items=None)
    items = blocking(provider).add_many("notes#global", ATTACKS)
    options = {"recall": {"max_items": 1000, "max_chars": max_chars}, "expose": {"forget": forget}}
    block = run_on(provider, **options).block()
    opening, *lines, closing = block.splitlines()
    assert (opening, closing) == ('<memory name="notes">', "</memory>")
    assert block.split("\n") == block.splitlines()
    assert len(TAG.findall(block)) == 2
    assert all(line.startswith("- ") for line in lines)
    if max_chars is None:
        assert len(lines) == len(ATTACKS)
        if forget:
            assert [re.findall(r"\(id: ([^()]*)\)$", line) for line in lines] == [[item.id] for item in items[::-1]]
    else:
        assert len(block) <= max_chars


def test_tools_take_and_give_attacks_as_values(every_place):
    """bytedance/deer-flow#4097"""
    provider = every_place.open(max_items=None)
    run = run_on(provider, expose={"forget": True})
    for one in ATTACKS:
        kept = run.call("remember_notes", {"text": one})
        (shown,) = run.call("recall_notes", {"limit": 1})["items"]
        assert (shown["id"], shown["text"]) == (kept["remembered"], one)
        assert json.loads(json.dumps(shown)) == shown
        assert run.call("forget_notes", {"id": one})["forgotten"] is None
    assert blocking(provider).count("notes#global") == len(ATTACKS)


def test_a_structured_item_of_attacks_is_one_line_of_json(every_place):
    """bytedance/deer-flow#4097"""
    schema = {"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "string"}}, "required": ["a"]}
    provider = every_place.open(max_items=None)
    run = run_on(provider, item_schema=schema, item_key="a", recall={"max_items": 1000})
    for one in ATTACKS:
        run.call("remember_notes", {"a": one, "b": "first"})
        assert run.call("remember_notes", {"a": one, "b": one})["replaced"] is True
    _, *lines, _ = run.block().splitlines()
    assert len(lines) == len(ATTACKS)
    assert len(TAG.findall(run.block())) == 2
    assert [json.loads(item.text) for item in blocking(provider).list("notes#global")] == [
        {"a": one, "b": one} for one in reversed(ATTACKS)
    ]


@pytest.mark.parametrize("description", ATTACKS)
def test_a_description_changes_nothing_but_the_descriptions(description, every_provider):
    slot = define_memory(
        name="notes", scope="global", provider=every_provider, description=description, expose={"forget": True}
    )
    plain = define_memory(name="notes", scope="global", provider=every_provider, expose={"forget": True})
    ours, theirs = (MemoryRun([one]).tools for one in (slot, plain))
    for described, bare in zip(ours, theirs, strict=True):
        assert described.description == f"{bare.description} {description}"
        assert (described.name, described.input_schema) == (bare.name, bare.input_schema)
    blocking(every_provider).add("notes#global", "tea")
    block = blocking(MemoryRun([slot])).block()
    assert re.fullmatch(r'<memory name="notes">\n- tea \(id: \S+\)\n</memory>', block)


def test_the_tables_are_what_they_were_after_every_attack(tmp_path):
    """oceanbase/powercontext#898"""
    assert "sqlite" in ALL_KINDS
    with SqliteStore(tmp_path / "memory.db") as store:

        def tables():
            return store.read(lambda connection: connection.execute("SELECT sql FROM sqlite_schema").fetchall())

        from vectormem import SqliteMemory

        before = tables()
        memory = blocking(SqliteMemory(store, max_items=None))
        for one in ATTACKS:
            memory.add(one, one, metadata={one: one})
            memory.list(one, query=one)
            memory.get(one, one)
        assert tables() == before
        assert len(memory.scope_keys()) == len(ATTACKS)
