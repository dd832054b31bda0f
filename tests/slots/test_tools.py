"""The tools that the model gets: remember, recall and forget."""

import json

import pytest

from tests.providers.stand_ins import FailingProvider
from vectormem import (
    EmbeddingError,
    InMemoryMemory,
    InMemoryVectorMemory,
    MemoryContext,
    MemoryRun,
    StorageFailedError,
    ToolInputError,
    blocking,
    define_memory,
)
from vectormem.testing import ScriptedEmbedder

KEY = "notes#global"


def define(provider=None, **options):
    return define_memory(**{"name": "notes", "scope": "global", "provider": provider or InMemoryMemory(), **options})


def tools_of(slot, context=None):
    return {tool.name: tool for tool in MemoryRun([slot], context).tools}


def call(slot, tool, arguments):
    return blocking(MemoryRun([slot])).call(tool, arguments)


def descriptions(slot, context=None):
    return [tool.description for tool in tools_of(slot, context).values()]


def texts(provider, key=KEY):
    return [item.text for item in blocking(provider).list(key)]


def test_remember_and_recall_are_offered_in_this_order():
    assert list(tools_of(define())) == ["remember_notes", "recall_notes"]


def test_forget_is_offered_last_where_the_slot_exposes_it():
    assert list(tools_of(define(expose={"forget": True}))) == ["remember_notes", "recall_notes", "forget_notes"]


@pytest.mark.parametrize(
    ("expose", "offered"),
    [
        ({"remember": False}, ["recall_notes"]),
        ({"recall": False}, ["remember_notes"]),
        ({"remember": False, "recall": False, "forget": True}, ["forget_notes"]),
        ({"remember": False, "recall": False}, []),
    ],
)
def test_each_tool_can_be_left_out(expose, offered):
    assert list(tools_of(define(expose=expose))) == offered


def test_tools_of_several_slots_are_in_slot_order():
    run = MemoryRun([define(name="b", expose={"forget": True}), define(name="a")])
    assert [tool.name for tool in run.tools] == ["remember_b", "recall_b", "forget_b", "remember_a", "recall_a"]


def test_a_tool_that_is_not_offered_cannot_be_called():
    slot = define(expose={"remember": False})
    with pytest.raises(ToolInputError, match="remember_notes"):
        call(slot, "remember_notes", {"text": "likes tea"})
    assert texts(slot.provider) == []


def test_a_slot_without_remember_is_filled_from_code():
    slot = define(expose={"remember": False})
    blocking(slot.provider).add(KEY, "likes tea")
    assert [item["text"] for item in call(slot, "recall_notes", {})["items"]] == ["likes tea"]


def test_remember_stores_the_text_under_the_runs_key_and_names_the_item():
    provider = InMemoryMemory()
    slot = define(provider, scope="session")
    run = blocking(MemoryRun([slot], MemoryContext(session_id="s1")))
    result = run.call("remember_notes", {"text": "likes tea"})
    item = blocking(provider).list("notes#session:s1")[0]
    assert (item.text, item.metadata) == ("likes tea", None)
    assert result == {"remembered": item.id}


def test_remembering_a_stored_text_names_the_stored_item():
    slot = define()
    first = call(slot, "remember_notes", {"text": "likes tea"})
    assert call(slot, "remember_notes", {"text": "likes tea"}) == first
    assert texts(slot.provider) == ["likes tea"]


def test_a_changed_fact_is_a_second_item():
    slot = define()
    call(slot, "remember_notes", {"text": "speaks French"})
    call(slot, "remember_notes", {"text": "speaks English"})
    assert texts(slot.provider) == ["speaks English", "speaks French"]


@pytest.mark.parametrize(
    ("scope", "context", "later"),
    [
        ("global", None, "It is recalled in later conversations."),
        ("session", MemoryContext(session_id="s"), "It is recalled later in this conversation."),
        (lambda context: "user:1", None, "It is recalled in later conversations with the same user or key."),
    ],
)
def test_remember_tells_when_the_item_comes_back(scope, context, later):
    assert descriptions(define(scope=scope), context)[0] == f'Save an item to the "notes" memory. {later}'


def test_every_tool_carries_the_description_of_its_slot():
    plain = descriptions(define(expose={"forget": True}))
    described = descriptions(define(expose={"forget": True}, description="What the user likes."))
    assert described == [f"{text} What the user likes." for text in plain]


def test_the_input_of_remember_is_one_text():
    schema = tools_of(define())["remember_notes"].input_schema
    assert schema["properties"]["text"]["type"] == "string"
    assert schema["properties"]["text"]["minLength"] == 1
    assert (schema["type"], schema["required"], schema["additionalProperties"]) == ("object", ["text"], False)


def test_the_input_of_forget_is_an_id():
    schema = tools_of(define(expose={"forget": True}))["forget_notes"].input_schema
    assert list(schema["properties"]) == ["id"]
    assert (schema["required"], schema["additionalProperties"]) == (["id"], False)


def test_annotations_say_what_a_tool_does():
    annotations = {name: tool.annotations for name, tool in tools_of(define(expose={"forget": True})).items()}
    assert annotations == {
        "remember_notes": {"readOnlyHint": False, "destructiveHint": False},
        "recall_notes": {"readOnlyHint": True, "destructiveHint": False},
        "forget_notes": {"readOnlyHint": False, "destructiveHint": True},
    }


def test_a_remember_tool_that_replaces_is_marked_destructive():
    schema = {"type": "object", "properties": {"topic": {"type": "string"}}}
    tool = tools_of(define(item_schema=schema, item_key="topic"))["remember_notes"]
    assert tool.annotations == {"readOnlyHint": False, "destructiveHint": True}


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("remember_notes", {}),
        ("remember_notes", {"text": ""}),
        ("remember_notes", {"text": "  \n"}),
        ("remember_notes", {"text": 7}),
        ("remember_notes", {"text": None}),
        ("remember_notes", {"text": "a", "metadata": {}}),
        ("remember_notes", ["a"]),
        ("remember_notes", "likes tea"),
        ("remember_notes", '"likes tea"'),
        ("remember_notes", '{"text": "a"'),
        ("remember_notes", "[" * 100_000),
        ("remember_notes", None),
        ("recall_notes", {"limit": 0}),
        ("recall_notes", {"limit": -1}),
        ("recall_notes", {"limit": 2.5}),
        ("recall_notes", {"limit": True}),
        ("recall_notes", {"limit": "3"}),
        ("recall_notes", '{"limit": NaN}'),
        ("recall_notes", '{"limit": Infinity}'),
        ("recall_notes", {"query": 7}),
        ("recall_notes", {"top_k": 3}),
        ("forget_notes", {}),
        ("forget_notes", {"id": ""}),
        ("forget_notes", {"id": 7}),
        ("forget_notes", {"id": "a", "all": True}),
        ("remember_other", {"text": "a"}),
    ],
)
def test_arguments_that_do_not_fit_are_a_tool_input_error_and_change_nothing(tool, arguments):
    slot = define(expose={"forget": True})
    blocking(slot.provider).add(KEY, "kept")
    with pytest.raises(ToolInputError) as caught:
        call(slot, tool, arguments)
    assert caught.value.code == "TOOL_INPUT_INVALID"
    assert texts(slot.provider) == ["kept"]


@pytest.mark.parametrize("text", ["tea\0pot", "hi \ud83d"])
def test_a_text_that_cannot_be_stored_is_an_error_that_the_model_is_told(text):
    with pytest.raises(ValueError, match="text"):
        call(define(), "remember_notes", {"text": text})


def test_an_error_names_every_argument_that_is_wrong():
    with pytest.raises(ToolInputError, match=r"limit.*query"):
        call(define(), "recall_notes", {"query": 7, "limit": 0})


def test_arguments_may_come_as_json_text():
    slot = define()
    call(slot, "remember_notes", '{"text": "likes \\u8336"}')
    assert texts(slot.provider) == ["likes 茶"]


def test_forget_deletes_the_item():
    slot = define(expose={"forget": True})
    memory = blocking(slot.provider)
    gone, _ = memory.add(KEY, "likes tea"), memory.add(KEY, "lives in Oslo")
    assert call(slot, "forget_notes", {"id": gone.id}) == {"forgotten": gone.id}
    assert texts(slot.provider) == ["lives in Oslo"]


def test_forget_of_an_unknown_id_changes_nothing_and_says_so():
    slot = define(expose={"forget": True})
    blocking(slot.provider).add(KEY, "likes tea")
    assert call(slot, "forget_notes", {"id": "no-such-id"}) == {
        "forgotten": None,
        "reason": "No item with this id.",
    }
    assert texts(slot.provider) == ["likes tea"]


def test_forget_reaches_no_other_key():
    provider = InMemoryMemory()
    theirs = blocking(provider).add("other#global", "likes tea")
    slot = define(provider, expose={"forget": True})
    assert call(slot, "forget_notes", {"id": theirs.id})["forgotten"] is None
    assert texts(provider, "other#global") == ["likes tea"]


@pytest.mark.parametrize("tool", ["remember_notes", "recall_notes", "forget_notes"])
def test_what_a_provider_raises_becomes_a_storage_error(tool):
    arguments = {"remember_notes": {"text": "a"}, "recall_notes": {}, "forget_notes": {"id": "a"}}[tool]
    slot = define(FailingProvider(KeyError("gone")), expose={"forget": True})
    with pytest.raises(StorageFailedError, match="'notes' failed") as caught:
        call(slot, tool, arguments)
    assert isinstance(caught.value.__cause__, KeyError)


def test_an_error_of_vectormem_passes_as_it_is():
    error = StorageFailedError("the disk is gone")
    with pytest.raises(StorageFailedError) as caught:
        call(define(FailingProvider(error)), "recall_notes", {})
    assert caught.value is error


def test_remember_stores_nothing_where_embedding_fails():
    embedder = ScriptedEmbedder()
    slot = define(InMemoryVectorMemory(embedder=embedder))
    embedder.answer = lambda texts: []
    with pytest.raises(EmbeddingError, match="returned 0 vectors for 1 texts"):
        call(slot, "remember_notes", {"text": "likes tea"})
    assert texts(slot.provider) == []


def test_tools_take_the_form_of_the_two_big_apis():
    tool = tools_of(define())["remember_notes"]
    assert tool.to_openai() == {
        "type": "function",
        "function": {"name": tool.name, "description": tool.description, "parameters": tool.input_schema},
    }
    assert tool.to_anthropic() == {
        "name": tool.name,
        "description": tool.description,
        "input_schema": tool.input_schema,
    }


def test_everything_that_a_tool_shows_or_returns_is_json():
    slot = define(InMemoryVectorMemory(embedder=ScriptedEmbedder()), expose={"forget": True})
    results = [call(slot, "remember_notes", {"text": "likes tea"}), call(slot, "recall_notes", {"query": "likes tea"})]
    shown = [[tool.input_schema, tool.annotations] for tool in tools_of(slot).values()]
    assert json.loads(json.dumps([results, shown])) == [results, shown]


def test_changing_the_schema_of_one_tool_changes_no_other():
    slot = define()
    tools_of(slot)["remember_notes"].input_schema["properties"]["more"] = {}
    assert list(tools_of(slot)["remember_notes"].input_schema["properties"]) == ["text"]


def test_a_tool_can_be_called_by_itself():
    slot = define()
    tool = tools_of(slot)["remember_notes"]
    blocking(tool).call({"text": "likes tea"})
    assert texts(slot.provider) == ["likes tea"]
