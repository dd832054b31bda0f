"""A server as a key-value store: keys, values, event loops, cancelled calls and errors."""

import asyncio

import pytest
import redis
from redis.asyncio import Redis, RedisCluster

from tests.conftest import in_forked_child
from tests.extras.redis.server import ClusterNode
from vectormem import KVMemory, MemoryInvalidError, RedisKV, StorageFailedError, blocking


@pytest.fixture
def kv(server):
    return RedisKV(server.url)


def run(kv, *calls):
    """Make calls one after the other in one event loop, close, and return their results."""

    async def all_of_them():
        async with kv:
            return [await call() for call in calls]

    return asyncio.run(all_of_them())


def test_a_key_is_one_json_document_under_memory_slash_key(server, kv):
    blocking(KVMemory(kv)).add("notes#global", "Tea.")
    assert server.command("EXISTS", "memory/notes#global") == ":1"
    assert server.command("DBSIZE") == ":1"


def test_a_value_is_set_where_the_key_holds_what_is_expected(kv):
    results = run(
        kv,
        lambda: kv.compare_and_set("k", None, "one"),
        lambda: kv.compare_and_set("k", None, "two"),
        lambda: kv.compare_and_set("k", "one", "drei 😀"),
        lambda: kv.get("k"),
        lambda: kv.compare_and_set("k", b"one", None),
        lambda: kv.compare_and_set("k", "drei 😀".encode(), None),
        lambda: kv.get("k"),
        lambda: kv.compare_and_set("k", "drei 😀", "four"),
        lambda: kv.get("k"),
    )
    assert results == [True, False, True, "drei 😀".encode(), False, True, None, False, None]


def test_an_empty_value_is_not_taken_for_an_absent_one(kv):
    results = run(
        kv,
        lambda: kv.compare_and_set("k", None, ""),
        lambda: kv.compare_and_set("k", None, "one"),
        lambda: kv.get("k"),
        lambda: kv.compare_and_set("k", "", "one"),
    )
    assert results == [True, False, b"", True]


def test_plain_puts_and_deletes_work_too(kv):
    results = run(kv, lambda: kv.put("k", "one"), lambda: kv.get("k"), lambda: kv.delete("k"), lambda: kv.get("k"))
    assert results == [None, b"one", None, None]


@pytest.mark.parametrize("prefix", ["", "app:", "a*b?[c]^\\", "ä/"])
def test_only_the_keys_of_the_prefix_are_listed(server, prefix):
    """mem0ai/mem0#5749"""
    kv = RedisKV(server.url, prefix=prefix)
    memory = blocking(KVMemory(kv))
    keys = ["*", "a:b/c", "back\\slash", "x|y", "[abc]", "user:{1}"]
    for key in keys:
        memory.add(key, f"Of {key}.")
    server.command("SET", "axxb1c^/memory/z", "not ours")
    server.command("SET", "other:memory/z", "not ours")
    assert memory.scope_keys() == sorted(keys)
    assert [item.text for item in memory.list("*")] == ["Of *."]


def test_many_keys_are_all_listed_once(kv):
    memory = blocking(KVMemory(kv))
    for number in range(300):
        memory.add(f"k{number}", "Tea.")
    assert memory.scope_keys() == sorted(f"k{number}" for number in range(300))


def test_prefixes_keep_programs_apart(server):
    ours, theirs = (blocking(KVMemory(RedisKV(server.url, prefix=prefix))) for prefix in ("a:", "b:"))
    ours.add("k", "Tea.")
    assert theirs.list("k") == []
    assert theirs.scope_keys() == []


def test_one_object_serves_one_event_loop_after_another(kv):
    memory = KVMemory(kv)
    for text in ("one", "two", "three"):
        asyncio.run(memory.add("k", text))
    assert [item.text for item in asyncio.run(memory.list("k"))] == ["three", "two", "one"]


def test_closing_in_another_event_loop_closes_the_connections(own_server):
    own_server.start()
    kv = RedisKV(own_server.url)
    with redis.Redis.from_url(own_server.url) as watching:
        before = len(watching.client_list())
        blocking(KVMemory(kv)).add("k", "Tea.")
        assert len(watching.client_list()) == before + 1
        asyncio.run(kv.aclose())
        assert len(watching.client_list()) == before


def test_a_closed_object_opens_again(kv):
    memory = KVMemory(kv)

    async def scenario():
        await memory.add("k", "one")
        await kv.aclose()
        await memory.add("k", "two")
        await kv.aclose()
        await kv.aclose()

    asyncio.run(scenario())
    assert [item.text for item in asyncio.run(memory.list("k"))] == ["two", "one"]


def test_a_client_that_was_passed_in_stays_open(server):
    async def scenario():
        async with Redis.from_url(server.url) as client:
            async with RedisKV(client) as kv:
                await kv.put("k", "Tea.")
            return await client.get("k")

    assert asyncio.run(scenario()) == b"Tea."


def test_a_forked_child_has_connections_of_its_own(kv):
    memory = KVMemory(kv)
    memory_here = blocking(memory)
    memory_here.add("k", "Of the parent.")
    assert in_forked_child(lambda: asyncio.run(memory.add("k", "Of the child.")).text) == "Of the child."
    memory_here.add("k", "Of the parent again.")
    assert [item.text for item in memory_here.list("k")] == ["Of the parent again.", "Of the child.", "Of the parent."]


def test_a_child_that_forked_inside_a_running_loop_has_connections_of_its_own(kv):
    async def scenario():
        await kv.put("k", "of the parent")

        def in_child():
            asyncio.events._set_running_loop(None)
            return asyncio.run(kv.get("k"))

        assert in_forked_child(in_child) == b"of the parent"
        return await kv.get("k")

    assert asyncio.run(scenario()) == b"of the parent"


@pytest.mark.parametrize("steps", range(1, 12))
def test_the_answer_to_a_cancelled_call_is_never_given_to_another(kv, steps):
    """redis/redis-py#2624"""

    async def scenario():
        await kv.put("a", "of a")
        await kv.put("b", "of b")
        task = asyncio.create_task(kv.get("a"))
        for _ in range(steps):
            await asyncio.sleep(0)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        return [await kv.get("b") for _ in range(3)]

    assert asyncio.run(scenario()) == [b"of b"] * 3


@pytest.mark.parametrize("steps", range(1, 12))
def test_a_cancelled_add_leaves_the_memory_usable(kv, steps):
    memory = KVMemory(kv)

    async def scenario():
        task = asyncio.create_task(memory.add("k", "cancelled"))
        for _ in range(steps):
            await asyncio.sleep(0)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        kept = await memory.add("k", "kept")
        await memory.add("k", "cancelled")
        return kept, await memory.list("k")

    kept, items = asyncio.run(scenario())
    assert kept in items
    assert sorted(item.text for item in items) == ["cancelled", "kept"]


def test_a_key_of_another_type_is_a_storage_error_and_stays(server, kv):
    server.command("LPUSH", "memory/k", "x")
    memory = blocking(KVMemory(kv))
    for verb in (lambda: memory.list("k"), lambda: memory.add("k", "Tea."), lambda: memory.clear("k")):
        with pytest.raises(StorageFailedError, match="WRONGTYPE"):
            verb()
    assert server.command("LLEN", "memory/k") == ":1"


@pytest.mark.parametrize("server", [None, 3, object(), "localhost:6379", "http://localhost", ""])
def test_what_is_no_server_is_refused(server):
    with pytest.raises(MemoryInvalidError):
        RedisKV(server)


@pytest.mark.parametrize("timeout", [0, -1, None, "5"])
def test_a_timeout_is_a_number_of_seconds(timeout):
    with pytest.raises(MemoryInvalidError, match="timeout"):
        RedisKV("redis://localhost", timeout=timeout)


def test_a_password_is_in_no_message(server, tmp_path):
    kv = RedisKV(f"unix://user:s3cret@{server.socket}")
    with pytest.raises(StorageFailedError) as raised:
        blocking(KVMemory(kv)).list("k")
    assert "s3cret" not in f"{raised.value} {kv!r} {raised.value.__cause__!r}"
    with pytest.raises(MemoryInvalidError) as refused:
        RedisKV("http://user:s3cret@localhost")
    assert "s3cret" not in str(refused.value)


def test_a_cluster_keeps_every_item():
    node = ClusterNode()
    node.start()

    async def scenario():
        async with RedisCluster(host="127.0.0.1", port=node.port) as client:
            memories = [KVMemory(RedisKV(client)) for _ in range(8)]
            await asyncio.gather(*(memory.add("notes#user:{x}", f"text {n}") for n, memory in enumerate(memories)))
            await memories[0].add("other", "Tea.")
            return await memories[0].list("notes#user:{x}"), await memories[0].scope_keys()

    try:
        items, keys = asyncio.run(scenario())
    finally:
        node.close()
    assert sorted(item.text for item in items) == [f"text {n}" for n in range(8)]
    assert keys == ["notes#user:{x}", "other"]
