"""The checkpointer in a file of ours: what the conformance suite does not ask."""

import itertools
import threading
from operator import add
from typing import Annotated, TypedDict

import pytest
from langgraph.checkpoint.serde.encrypted import EncryptedSerializer
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.graph import START, StateGraph
from langgraph.types import Command, interrupt

from vectormem import MemoryInvalidError, SqliteStore
from vectormem.adapters.langgraph_saver import VectormemSaver


class State(TypedDict):
    steps: Annotated[list[str], add]
    long: str


def graph(saver, *, pauses=False):
    def first(state):
        return {"steps": ["first"]} if state.get("long") else {"steps": ["first"], "long": "x" * 50_000}

    def second(state):
        answer = interrupt("go on?") if pauses else "on"
        return {"steps": [f"second {answer}"]}

    made = StateGraph(State)
    made.add_node("first", first)
    made.add_node("second", second)
    made.add_edge(START, "first")
    made.add_edge("first", "second")
    return made.compile(checkpointer=saver)


def thread(name="t", **more):
    return {"configurable": {"thread_id": name, **more}}


@pytest.fixture
def saver(tmp_path):
    with VectormemSaver(tmp_path / "m.db") as saver:
        yield saver


def test_a_graph_goes_on_where_it_paused_after_the_file_was_opened_anew(tmp_path):
    with VectormemSaver(tmp_path / "m.db") as saver:
        assert "__interrupt__" in graph(saver, pauses=True).invoke({"steps": []}, thread())
    with VectormemSaver(tmp_path / "m.db") as saver:
        given = graph(saver, pauses=True).invoke(Command(resume="yes"), thread())
    assert given["steps"] == ["first", "second yes"]


def test_a_long_value_is_stored_once_for_all_steps_and_runs(tmp_path):
    with SqliteStore(tmp_path / "m.db") as store:
        saver = VectormemSaver(store)
        for _ in range(10):
            graph(saver).invoke({"steps": []}, thread())
        stored = store.read(lambda connection: connection.execute("SELECT sum(length(value)) FROM graph_blobs").get)
        assert len(list(saver.list(thread()))) == 40
        assert 50_000 < stored < 2 * 50_000


def test_a_branch_from_an_earlier_checkpoint_keeps_both_histories(saver):
    one = graph(saver)
    one.invoke({"steps": []}, thread())
    early = next(found for found in saver.list(thread()) if found.metadata["step"] == 1)
    changed = one.update_state(early.config, {"steps": ["changed"]}, as_node="first")
    assert one.invoke(None, changed)["steps"] == ["first", "changed", "second on"]
    values = [found.checkpoint["channel_values"].get("steps") for found in saver.list(thread())]
    assert values[0] == ["first", "changed", "second on"]
    assert ["first", "second on"] in values


def test_the_latest_checkpoint_is_the_one_stored_last_though_the_clock_went_back(saver):
    config = thread(checkpoint_ns="")
    for name in ("z", "a"):
        checkpoint = {"v": 4, "id": name, "ts": "", "channel_values": {}, "channel_versions": {}, "versions_seen": {}}
        config = saver.put(config, checkpoint, {}, {})
    assert saver.get_tuple(thread()).checkpoint["id"] == "a"
    assert [found.checkpoint["id"] for found in saver.list(thread(), before=config)] == ["z"]


def test_a_listing_of_many_pages_follows_the_order_and_stops_at_its_limit(saver):
    for number in range(130):
        name = f"{number:03}"
        checkpoint = {"v": 4, "id": name, "ts": "", "channel_values": {}, "channel_versions": {}, "versions_seen": {}}
        saver.put(thread(checkpoint_ns=""), checkpoint, {"step": number, "even": number % 2 == 0}, {})
    ids = [f"{number:03}" for number in reversed(range(130))]
    assert [found.checkpoint["id"] for found in saver.list(thread())] == ids
    assert [found.checkpoint["id"] for found in saver.list(thread(), filter={"even": True}, limit=60)] == ids[1::2][:60]
    assert list(saver.list(thread(), limit=0)) == []


def test_a_listing_that_is_left_half_way_holds_nothing_up(saver):
    graph(saver).invoke({"steps": []}, thread())
    listing = saver.list(thread())
    next(listing)
    saver.delete_thread("t")
    assert saver.get_tuple(thread()) is None


def test_other_threads_are_never_seen(saver):
    graph(saver).invoke({"steps": []}, thread("a"))
    assert saver.get_tuple(thread("%")) is None
    assert list(saver.list(thread("b"))) == []
    assert {found.config["configurable"]["thread_id"] for found in saver.list(None)} == {"a"}


@pytest.mark.parametrize("config", [{}, {"configurable": {}}, thread(None), thread("")], ids=str)
def test_a_config_without_a_thread_is_refused(saver, config):
    with pytest.raises(MemoryInvalidError, match="thread_id"):
        saver.get_tuple(config)


@pytest.mark.parametrize("filter", [{"$xor": 1}, {"step": {"$near": 1}}], ids=str)
def test_a_filter_that_is_none_is_refused(saver, filter):
    with pytest.raises(MemoryInvalidError, match="operators"):
        list(saver.list(thread(), filter=filter))


def test_metadata_are_encrypted_with_the_state(tmp_path):
    class Xor:
        def encrypt(self, plaintext):
            return "xor", bytes(byte ^ 0x5A for byte in plaintext)

        def decrypt(self, ciphername, ciphertext):
            return bytes(byte ^ 0x5A for byte in ciphertext)

    serde = EncryptedSerializer(Xor(), JsonPlusSerializer())
    with VectormemSaver(tmp_path / "m.db", serde=serde) as saver:
        graph(saver).invoke({"steps": ["secret"]}, {**thread(), "metadata": {"user": "private-name"}})
        assert saver.get_tuple(thread()).metadata["user"] == "private-name"
    stored = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert b"secret" not in stored
    assert b"private-name" not in stored


def test_versions_of_another_checkpointer_are_counted_on(saver):
    assert [saver.get_next_version(version, None) for version in (None, 1)] == [1, 2]
    text = saver.get_next_version(f"{7:032}.0.25", None)
    assert text > f"{7:032}.0.99"
    assert text.startswith(f"{8:032}.")


def test_pruning_keeps_what_a_channel_of_differences_needs(saver):
    def put(name, parent, values, counters):
        checkpoint = {"v": 4, "id": name, "ts": "", "channel_versions": {}, "versions_seen": {}}
        config = thread(checkpoint_ns="", **({"checkpoint_id": parent} if parent else {}))
        saver.put(config, {**checkpoint, "channel_values": values}, {"counters_since_delta_snapshot": counters}, {})

    put("1", None, {"log": "whole"}, {"log": (0, 0)})
    put("2", "1", {"log": "whole again"}, {"log": (0, 0)})
    put("3", "2", {}, {"log": (1, 1)})
    put("4", "3", {}, {"log": (2, 2)})
    saver.prune(["t"])
    assert [found.checkpoint["id"] for found in saver.list(thread())] == ["4", "3", "2"]
    assert saver.get_delta_channel_history(config=thread(), channels=["log"])["log"]["seed"] == "whole again"


def test_graphs_in_many_threads_at_once_keep_their_states_apart(saver):
    errors = []

    def work(name):
        try:
            for _ in range(5):
                given = graph(saver).invoke({"steps": [name]}, thread(name))
            assert set(given["steps"]) == {name, "first", "second on"}
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(f"thread {number}",)) for number in range(6)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert errors == []
    assert {name: len(list(group)) for name, group in itertools.groupby(sorted(_threads(saver)))} == {
        f"thread {number}": 20 for number in range(6)
    }


def _threads(saver):
    return [found.config["configurable"]["thread_id"] for found in saver.list(None)]


def test_one_file_holds_checkpoints_beside_other_things(tmp_path):
    with SqliteStore(tmp_path / "m.db") as store:
        one = VectormemSaver(store)
        graph(one).invoke({"steps": []}, thread())
        with VectormemSaver(store) as other:
            other.delete_thread("t")
        assert one.get_tuple(thread()) is None
