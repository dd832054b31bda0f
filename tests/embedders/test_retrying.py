"""Trying again, with the clock of the test."""

import asyncio
from datetime import UTC, datetime
from email.utils import format_datetime

import pytest

from embedders import EmbedderError
from embedders.retrying import TemporaryError, asked_pause, retried


class Clock:
    """Time that passes when somebody sleeps, or when a call takes some."""

    def __init__(self):
        self.now = 100.0
        self.pauses = []

    def __call__(self):
        return self.now

    async def sleep(self, seconds):
        self.pauses.append(seconds)
        self.now += seconds


def attempt(clock, failures, *, seconds=60.0, takes=0.0, chance=0.0):
    """Call something that fails as told and then answers; return the answer and the seconds given to each call."""
    given, left = [], list(failures)

    async def call(seconds):
        given.append(seconds)
        clock.now += takes
        if left:
            raise left.pop(0)
        return "answer"

    work = retried(call, seconds=seconds, clock=clock, sleep=clock.sleep, chance=lambda: chance)
    return asyncio.run(work), given


def faults(count, pause=None):
    return [TemporaryError(f"busy {n}", pause) for n in range(count)]


def test_a_call_that_succeeds_is_made_once():
    clock = Clock()
    assert attempt(clock, []) == ("answer", [30.0])
    assert clock.pauses == []


def test_pauses_double_from_half_a_second_to_eight():
    clock = Clock()
    attempt(clock, faults(7))
    assert clock.pauses == [0.5, 1, 2, 4, 8, 8, 8]


def test_up_to_a_quarter_of_a_pause_is_left_out_by_chance():
    clock = Clock()
    attempt(clock, faults(2), chance=1.0)
    assert clock.pauses == [0.375, 0.75]


def test_the_pause_that_the_server_asks_for_is_kept():
    clock = Clock()
    attempt(clock, [TemporaryError("busy", 7.5), TemporaryError("busy", 0.0)])
    assert clock.pauses == [7.5, 0.0]


def test_each_call_gets_half_of_the_time_that_is_left():
    clock = Clock()
    assert attempt(clock, faults(2, pause=1), takes=9)[1] == [30.0, 25.0, 20.0]


def test_it_gives_up_before_the_time_is_over_and_says_why():
    clock = Clock()
    with pytest.raises(
        EmbedderError, match=r"^busy 4; given up after 5 attempts, the next one would be past 10 seconds$"
    ):
        attempt(clock, faults(99), seconds=10)
    assert clock.now < 110


def test_a_server_that_asks_for_more_time_than_there_is_is_not_waited_for():
    clock = Clock()
    with pytest.raises(EmbedderError, match="busy; given up after 1 attempt,"):
        attempt(clock, [TemporaryError("busy", 3600)])
    assert clock.pauses == []


def test_other_errors_pass_at_once():
    clock = Clock()
    with pytest.raises(EmbedderError, match=r"^no such model$"):
        attempt(clock, [EmbedderError("no such model")])
    assert clock.pauses == []


def test_the_error_carries_none_of_the_errors_before_it():
    with pytest.raises(EmbedderError) as caught:
        attempt(Clock(), faults(1, pause=99))
    assert (caught.value.__cause__, caught.value.__context__) == (None, None)


NOW = datetime(2026, 11, 30, 12, 0, 0, tzinfo=UTC).timestamp()


@pytest.mark.parametrize(
    ("seconds", "milliseconds", "pause"),
    [
        ("3", None, 3.0),
        ("0.25", None, 0.25),
        ("5", "1500", 1.5),
        ("5", "soon", 5.0),
        (None, None, None),
        ("soon", None, None),
        ("-1", None, None),
        ("nan", None, None),
        ("inf", None, None),
        (format_datetime(datetime(2026, 11, 30, 12, 0, 20, tzinfo=UTC), usegmt=True), None, 20.0),
        (format_datetime(datetime(2026, 11, 30, 11, 0, 0, tzinfo=UTC), usegmt=True), None, 0.0),
    ],
)
def test_the_headers_are_read_as_seconds_milliseconds_or_a_date(seconds, milliseconds, pause):
    assert asked_pause(seconds, milliseconds, NOW) == pause
