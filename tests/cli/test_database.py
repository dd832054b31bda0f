import pytest

from tests.cli.conftest import KEY, in_terminal
from vectormem.testing import HashEmbedder


@pytest.fixture
def failing_after(monkeypatch):
    """Let the hash embedder fail once it was called this often."""

    def install(calls):
        embed, made = HashEmbedder.embed, []

        async def failing(self, texts, *, kind="document"):
            made.append(len(texts))
            if len(made) > calls:
                raise ConnectionError("no route to the model")
            return await embed(self, texts, kind=kind)

        monkeypatch.setattr(HashEmbedder, "embed", failing)

    return install


def test_keys_lists_every_key_with_its_number_of_items(run, run_json, memory):
    memory().add_many("notes#user:sam", ["one", "two"])
    memory().add("facts#global", "three")
    assert run("keys").stdout == "facts#global\t1\nnotes#user:sam\t2\n"
    assert run_json("keys") == {"keys": [{"key": "facts#global", "items": 1}, {"key": "notes#user:sam", "items": 2}]}
    assert run("keys", "--key", "notes#user:sam").stdout == "notes#user:sam\t2\n"


def test_stats_counts_vectors_by_key_and_embedder(run, run_json, memory, folder):
    memory(embedder=False).add("a#x", "bare")
    memory().add_many("a#x", ["one", "two"])
    memory(embedder=HashEmbedder(32)).add("b#y", "three")
    by_hash = {"embedder": "hash:256", "dimensions": 256, "vectors": 2}
    by_short_hash = {"embedder": "hash:32", "dimensions": 32, "vectors": 1}
    document = run_json("stats")
    files = [folder / "vectormem.db", folder / "vectormem.db-wal"]
    assert document.pop("file_bytes") == sum(file.stat().st_size for file in files if file.exists())
    assert document == {
        "path": "vectormem.db",
        "items": 4,
        "keys": [
            {"key": "a#x", "items": 3, "embedders": [by_hash], "without_vector": 1},
            {"key": "b#y", "items": 1, "embedders": [by_short_hash], "without_vector": 0},
        ],
    }
    lines = run("stats").stdout.splitlines()
    assert lines[:3] == ["a#x\t3\thash:256\t256\t2", "a#x\t3\t(no vector)\t0\t1", "b#y\t1\thash:32\t32\t1"]
    assert [key["key"] for key in run_json("stats", "--key", "b#y")["keys"]] == ["b#y"]


def test_reindex_embeds_all_keys_and_then_has_nothing_left_to_do(run, run_json, memory):
    memory(embedder=False).add_many("a#x", ["tea", "coffee"])
    memory(embedder=HashEmbedder(32)).add("b#y", "green tea")
    assert run_json("reindex") == {"reindexed": 3, "key": None, "embedder": "hash:256"}
    assert run("reindex").stdout == "reindexed 0 items by hash:256\n"
    assert run("search", "tea", "--key", "b#y").stderr == ""
    assert [item["text"] for item in run_json("search", "tea", "--key", "a#x")["items"]] == ["tea"]


def test_reindex_of_a_key_leaves_the_others_alone(run_json, memory):
    for key in ("a#x", "b#y"):
        memory(embedder=False).add(key, "tea")
    assert run_json("reindex", "--key", "b#y") == {"reindexed": 1, "key": "b#y", "embedder": "hash:256"}
    assert [key["without_vector"] for key in run_json("stats")["keys"]] == [1, 0]


def test_a_failing_embedder_ends_reindex_with_status_1_and_the_number_done(run, run_json, memory, failing_after):
    memory(embedder=False).add_many(KEY, [f"fact {number}" for number in range(250)])
    failing_after(2)
    result = run("reindex")
    assert (result.exit_code, result.stdout) == (1, "")
    assert "no route to the model; 192 of 250 items were reindexed" in result.stderr
    assert run_json("stats")["keys"][0]["without_vector"] == 250 - 192


def test_a_failing_embedder_lets_add_store_nothing(run, memory, failing_after):
    memory()
    failing_after(0)
    assert run("add", "tea").exit_code == 1
    assert memory().count(KEY) == 0


def test_on_a_terminal_reindex_draws_a_bar_and_tables_have_headings(run, memory):
    memory(embedder=False).add_many(KEY, [f"fact {number}" for number in range(200)])
    status, shown = in_terminal("reindex")
    assert (status, "100%" in shown, "reindexed 200 items by hash:256" in shown) == (0, True, True), shown
    status, shown = in_terminal("keys")
    assert (status, "Key" in shown, "Items" in shown) == (0, True, True), shown
