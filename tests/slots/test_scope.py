"""Scopes, and the provider keys that they resolve to."""

import pytest

from vectormem import (
    InMemoryMemory,
    MemoryContext,
    MemoryInvalidError,
    MemoryRun,
    blocking,
    define_memory,
    memory_key,
)


def define(scope, name="notes", provider=None):
    return define_memory(name=name, scope=scope, provider=provider or InMemoryMemory())


def by_user(context):
    user = context.metadata.get("user_id")
    return f"user:{user}" if user else None


def test_a_global_slot_has_one_key_for_all():
    slot = define("global")
    assert memory_key(slot) == "notes#global"
    assert memory_key(slot, MemoryContext(session_id="s1", metadata={"a": 1})) == "notes#global"


def test_a_session_slot_has_one_key_for_each_session():
    slot = define("session", name="prefs")
    assert memory_key(slot, MemoryContext(session_id="s1")) == "prefs#session:s1"
    assert memory_key(slot, MemoryContext(session_id="s2")) == "prefs#session:s2"


def test_a_function_returns_the_scope_key():
    slot = define(lambda context: "user:u-42", name="user_facts")
    assert memory_key(slot, MemoryContext()) == "user_facts#user:u-42"


def test_a_function_sees_the_session_the_metadata_and_the_principal():
    slot = define(lambda context: f"{context.session_id}/{context.metadata['team']}/{context.principal}")
    context = MemoryContext(session_id="s1", metadata={"team": "red"}, principal="ada")
    assert memory_key(slot, context) == "notes#s1/red/ada"


def test_a_session_slot_is_off_without_a_session():
    slot = define("session")
    assert memory_key(slot) is None
    assert memory_key(slot, MemoryContext(metadata={"user_id": "u"})) is None


def test_a_function_that_returns_none_turns_the_slot_off():
    slot = define(by_user)
    assert memory_key(slot, MemoryContext()) is None
    assert memory_key(slot, MemoryContext(metadata={"user_id": "u-42"})) == "notes#user:u-42"


def test_a_function_may_fall_back_to_the_session():
    slot = define(lambda context: by_user(context) or (context.session_id and f"session:{context.session_id}"))
    assert memory_key(slot, MemoryContext(session_id="s1")) == "notes#session:s1"


def test_a_slot_that_is_off_recalls_nothing_and_offers_no_tools():
    provider = InMemoryMemory()
    slot = define("session", provider=provider)
    blocking(provider).add("notes#session:s1", "likes tea")
    run = MemoryRun([slot], MemoryContext())
    assert blocking(run).system_prompt("Be brief.") == "Be brief."
    assert run.tools == []


@pytest.mark.parametrize(
    "key",
    [7, 0, False, 1.5, b"user:1", ["user:1"], {"user": 1}, object(), ""],
)
def test_a_key_that_is_no_text_fails_and_names_the_slot(key):
    with pytest.raises(MemoryInvalidError, match="'notes'") as caught:
        MemoryRun([define(lambda context: key)])
    assert caught.value.code == "MEMORY_INVALID"


@pytest.mark.parametrize(
    "key",
    [
        *("undefined", "null", "None", "nan", "NaN"),
        *("user:undefined", "user:null", "user:None", "user:nan", "org:1:user:None", "None:notes", "org:null:user:1"),
        *("[object Object]", "user:[object Object]", "user:<object object at 0x7f00deadbeef>"),
        *("user:<app.User at 0x10>", "user:a\0b", "user:\ud83d"),
    ],
)
def test_a_key_built_from_a_missing_value_fails_and_names_the_slot(key):
    with pytest.raises(MemoryInvalidError, match="'notes'"):
        memory_key(define(lambda context: key))


@pytest.mark.parametrize(
    "key",
    ["user:Nonetheless", "nullable", "user:undefined-behaviour", "user: 1", "a#b", "ünïcode", "user:0", "nano"],
)
def test_a_key_that_only_resembles_a_missing_value_is_accepted(key):
    assert memory_key(define(lambda context: key)) == f"notes#{key}"


def test_a_missing_value_from_an_f_string_fails():
    slot = define(lambda context: f"user:{context.metadata.get('user_id')}")
    with pytest.raises(MemoryInvalidError, match="missing value"):
        MemoryRun([slot], MemoryContext())


def test_an_object_from_an_f_string_fails():
    slot = define(lambda context: f"user:{context.principal}")
    with pytest.raises(MemoryInvalidError, match="missing value"):
        MemoryRun([slot], MemoryContext(principal=object()))


def test_a_function_that_raises_fails_the_run_with_the_same_code():
    slot = define(lambda context: context.metadata["user_id"])
    with pytest.raises(MemoryInvalidError, match="'notes'") as caught:
        MemoryRun([slot], MemoryContext())
    assert caught.value.code == "MEMORY_INVALID"
    assert isinstance(caught.value.__cause__, KeyError)


def test_an_async_function_is_refused():
    async def scope(context):
        return "user:1"

    with pytest.raises(MemoryInvalidError, match="async"):
        memory_key(define(scope))


@pytest.mark.parametrize("session_id", ["", 7, "None", "a\0b"])
def test_a_session_id_that_is_no_usable_text_fails(session_id):
    with pytest.raises(MemoryInvalidError, match="'notes'"):
        memory_key(define("session"), MemoryContext(session_id=session_id))


def test_two_slots_with_one_scope_key_keep_separate_items_in_a_shared_provider():
    provider = InMemoryMemory()
    facts, goals = define("global", name="facts", provider=provider), define("global", name="goals", provider=provider)
    run = blocking(MemoryRun([facts, goals]))
    run.call("remember_facts", {"text": "likes tea"})
    run.call("remember_goals", {"text": "learn Dutch"})
    memory = blocking(provider)
    assert [item.text for item in memory.list("facts#global")] == ["likes tea"]
    assert [item.text for item in memory.list("goals#global")] == ["learn Dutch"]
    assert list(memory.scope_keys()) == ["facts#global", "goals#global"]


def test_one_user_has_one_memory_in_every_session_and_no_other_user_sees_it():
    slot = define(by_user)

    def block(session_id, user_id):
        context = MemoryContext(session_id=session_id, metadata={"user_id": user_id})
        return blocking(MemoryRun([slot], context)).block()

    first = MemoryRun([slot], MemoryContext(session_id="s1", metadata={"user_id": "ada"}))
    blocking(first).call("remember_notes", {"text": "likes tea"})
    assert block("s2", "ada") == '<memory name="notes">\n- likes tea\n</memory>'
    assert block("s1", "bob") == ""


def test_conversations_with_one_session_id_share_a_memory():
    slot = define("session")
    first = MemoryRun([slot], MemoryContext(session_id="s1"))
    blocking(first).call("remember_notes", {"text": "likes tea"})
    second, other = MemoryRun([slot], MemoryContext(session_id="s1")), MemoryRun([slot], MemoryContext(session_id="s2"))
    assert blocking(second).block() == '<memory name="notes">\n- likes tea\n</memory>'
    assert blocking(other).block() == ""


def test_a_scope_is_resolved_once_a_run():
    seen = []

    def scope(context):
        seen.append(context)
        return "user:1"

    context = MemoryContext(session_id="s1")
    run = blocking(MemoryRun([define(scope)], context))
    run.system_prompt("")
    run.call("recall_notes", {})
    assert seen == [context]
