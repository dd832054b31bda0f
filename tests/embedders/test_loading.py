"""Models are loaded once in a process."""

import gc
import os
import threading
import weakref

import pytest

from embedders.loading import load_once, place, wrap_once


def test_threads_that_ask_at_once_get_one_model():
    calls, gate, found = [], threading.Barrier(8), []

    def load():
        calls.append(1)
        return object()

    def ask():
        gate.wait()
        found.append(load_once("threads", load))

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(calls) == 1
    assert len(found) == 8
    assert len(set(map(id, found))) == 1


def test_another_key_is_loaded_by_itself():
    assert load_once("one", lambda: 1) == 1
    assert load_once("two", lambda: 2) == 2
    assert load_once("one", lambda: 3) == 1


def test_a_failure_is_not_kept():
    def fail():
        raise OSError("no such model")

    with pytest.raises(OSError, match="no such model"):
        load_once("failing", fail)
    assert load_once("failing", lambda: "there now") == "there now"


def test_a_name_that_is_no_path_is_its_own_key():
    assert place("no-such-owner/no-such-model") == "no-such-owner/no-such-model"


def test_a_folder_has_one_key_however_it_is_written(tmp_path, monkeypatch):
    (tmp_path / "model").mkdir()
    monkeypatch.chdir(tmp_path)
    assert place("model")[0] == place(str(tmp_path / "model"))[0] == os.path.realpath(tmp_path / "model")


def test_a_folder_whose_files_change_gets_another_key(tmp_path):
    weights = tmp_path / "weights.bin"
    weights.write_bytes(b"one")
    before = place(str(tmp_path))
    assert place(str(tmp_path)) == before
    weights.write_bytes(b"longer")
    assert place(str(tmp_path)) != before


class Model:
    """Something that was loaded by somebody else."""


class Wrapper:
    def __init__(self, model):
        self.model = model


def test_a_model_of_ones_own_has_one_wrapper_while_that_is_in_use():
    one, two = Model(), Model()
    wrapper = wrap_once(one, Wrapper)
    assert wrapper.model is one
    assert wrap_once(one, Wrapper) is wrapper
    assert wrap_once(two, Wrapper) is not wrapper


def test_a_wrapper_that_nobody_uses_is_not_kept():
    gone = weakref.ref(wrap_once(Model(), Wrapper))
    gc.collect()
    assert gone() is None
