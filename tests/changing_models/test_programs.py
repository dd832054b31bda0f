"""An old and a new program, with different models, on one store in use."""

import json
import signal
import subprocess
import sys

import pytest

from tests.changing_models.program import KEY, model
from vectormem import SqliteVectorMemory, blocking

TEXTS = [f"fact {n}" for n in range(60)]
OLD, NEW = ("old-model", "8"), ("new-model", "12")


def start(path, which, verb, *texts):
    call = [sys.executable, "-m", "tests.changing_models.program", str(path), *which, verb, *texts]
    program = subprocess.Popen(call, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert program.stdout.readline() == "ready\n"
    return program


def finish(program):
    out, error = program.communicate(timeout=120)
    assert program.returncode == 0, error
    return out, error


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "memory.db"
    finish(start(path, OLD, "add", *TEXTS))
    return path


@pytest.fixture
def memory(path):
    """Open the store as a third program with one of the models."""
    opened = []

    def open_memory(which):
        name, dimensions = which
        embedder = model(name, int(dimensions))
        opened.append(blocking(SqliteVectorMemory(path, embedder=embedder, min_score=-1)))
        return opened[-1]

    yield open_memory
    for one in opened:
        one.close()


def finds_all(memory, texts):
    return all(memory.list(KEY, query=text, limit=1)[0].text == text for text in texts)


def test_the_new_program_lists_everything_and_says_what_it_cannot_find(path):
    out, error = finish(start(path, NEW, "ask", "fact 7"))
    answer = json.loads(out)
    assert (answer["found"], answer["listed"]) == ([], TEXTS[::-1])
    assert f"memory key '{KEY}': queries skip items that 'new-model' (12 d) has not embedded: " in error
    assert f"60 of 'old-model' (8 d); reindex('{KEY}') adds them" in error


def test_both_programs_add_at_once_and_each_finds_its_own(path, memory):
    old = start(path, OLD, "add", *[f"old {n}" for n in range(25)])
    new = start(path, NEW, "add", *[f"new {n}" for n in range(25)])
    finish(old)
    finish(new)
    assert memory(OLD).count(KEY) == 110
    assert finds_all(memory(OLD), [*TEXTS, *(f"old {n}" for n in range(25))])
    assert finds_all(memory(NEW), [f"new {n}" for n in range(25)])


def test_reindex_reports_progress_and_afterwards_everything_is_found(path, memory):
    out, _ = finish(start(path, NEW, "reindex"))
    assert out.split("\n")[:-1] == [f"{done} 60" for done in range(10, 61, 10)] + ["60"]
    assert finds_all(memory(NEW), TEXTS)


def test_a_reindex_that_is_killed_is_gone_on_with_and_loses_nothing(path, memory):
    killed = start(path, NEW, "reindex")
    assert killed.stdout.readline() == "10 60\n"
    killed.send_signal(signal.SIGKILL)
    killed.communicate()
    out, _ = finish(start(path, NEW, "reindex"))
    rest = int(out.split()[-1])
    assert 0 < rest <= 50
    assert [item.text for item in memory(NEW).list(KEY)] == TEXTS[::-1]
    assert finds_all(memory(NEW), TEXTS)


def test_the_old_program_goes_on_while_the_new_one_reindexes(path, memory):
    old = start(path, OLD, "add", *[f"old {n}" for n in range(40)])
    new = start(path, NEW, "reindex")
    finish(new)
    finish(old)
    out, _ = finish(start(path, NEW, "reindex"))  # what the old program has added since
    assert int(out.split()[-1]) <= 40
    everything = [*TEXTS, *(f"old {n}" for n in range(40))]
    assert sorted(item.text for item in memory(NEW).list(KEY)) == sorted(everything)
    assert finds_all(memory(NEW), everything)


def test_two_reindexes_at_once_share_the_work_or_repeat_it_and_lose_nothing(path, memory):
    both = [start(path, NEW, "reindex") for _ in range(2)]
    for program in both:
        finish(program)
    assert memory(NEW).count(KEY) == 60
    assert finds_all(memory(NEW), TEXTS)


def test_the_old_program_is_told_once_the_new_one_has_taken_its_items(path):
    finish(start(path, NEW, "reindex"))
    out, error = finish(start(path, OLD, "ask", "fact 7"))
    assert json.loads(out)["listed"] == TEXTS[::-1]
    assert "60 of 'new-model' (12 d)" in error
