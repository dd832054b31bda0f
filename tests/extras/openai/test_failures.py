"""Servers that fail: what is tried again, for how long, and what is said in the end."""

import asyncio
import time
import traceback

import numpy as np
import openai
import pytest

from embedders import EmbedderError, OpenAIEmbedder
from tests.extras import embeddings_server as steps
from tests.extras.embeddings_server import changed, failing, raw, vector_of
from tests.extras.openai.conftest import KEY
from vectormem import EmbeddingError, InMemoryVectorMemory, blocking

TEXTS = ["tea", "coffee", "oolong"]


def embed(embedder, texts=TEXTS):
    return asyncio.run(embedder.embed(texts))


def expected(texts=TEXTS):
    return np.stack([vector_of(text) for text in texts])


PASSING = {
    "429": failing(429, "slow down"),
    "429 with a pause": failing(429, "slow down", Retry_After="2"),
    "500": failing(500),
    "502 with a page": raw(b"<html>Bad gateway</html>", status=502),
    "503": failing(503, "overloaded"),
    "529": failing(529, "overloaded"),
    "cut-off JSON": steps.cut_off,
    "closed connection": steps.closing,
    "connection closed half-way": steps.closing_half_way,
}


@pytest.mark.parametrize("step", PASSING.values(), ids=PASSING.keys())
def test_what_may_pass_is_tried_again(server, make, pauses, step):
    """agentscope-ai/ReMe#523"""
    server.steps = [step, step]
    np.testing.assert_allclose(embed(make()), expected(), atol=1e-6)
    assert len(server.requests) == 3
    assert len(pauses) == 2


def test_without_a_header_the_pauses_grow_and_with_one_they_are_as_asked(server, make, pauses):
    server.steps = [
        failing(429),
        failing(500),
        failing(429, Retry_After="3"),
        failing(503, Retry_After="1.5"),
        failing(429, retry_after_ms="250", Retry_After="1"),
    ]
    embed(make())
    assert pauses == [0.5, 1, 3, 1.5, 0.25]


def test_a_rate_limit_in_one_batch_loses_none_of_the_others(server, make, pauses):
    server.steps = [steps.right, failing(429), steps.right]
    texts = [f"text {n}" for n in range(6)]
    np.testing.assert_allclose(embed(make(batch_size=2), texts), expected(texts), atol=1e-6)
    assert [request["input"] for request in server.requests] == [texts[:2], texts[2:4], texts[2:4], texts[4:]]


FINAL = {
    "400": (failing(400, "bad request"), "400: bad request"),
    "401": (failing(401, "who are you"), "401: who are you"),
    "403": (failing(403, "not for you"), "403: not for you"),
    "404": (failing(404, "no such model", "model_not_found"), "404: no such model"),
    "422": (failing(422, "unreadable"), "422: unreadable"),
    "no quota": (failing(429, "You exceeded your current quota", "insufficient_quota"), "429: You exceeded"),
    "missing rows": (changed(lambda rows: rows[:2]), "2 vectors for 3 texts"),
    "too many rows": (changed(lambda rows: rows + rows[:1]), "4 vectors for 3 texts"),
    "no rows": (changed(lambda rows: []), "0 vectors for 3 texts"),
    "one index twice": (changed(lambda rows: [rows[0], rows[0], rows[2]]), "numbers its vectors"),
    "vectors of several lengths": (
        changed(lambda rows: [{**rows[0], "embedding": [1.0]}, *rows[1:]]),
        "dimensions",
    ),
    "an error with status 200": (raw(b'{"error": {"message": "model is loading"}}'), "no vectors.*model is loading"),
    "something else": (raw(b"[]"), "no vectors"),
}


@pytest.mark.parametrize(("step", "message"), FINAL.values(), ids=FINAL.keys())
def test_what_does_not_pass_is_told_at_once(server, make, pauses, step, message):
    server.steps = [step]
    with pytest.raises(EmbedderError, match=message) as caught:
        embed(make())
    assert f"'small' at {server.address}" in str(caught.value)
    assert (len(server.requests), pauses) == (1, [])


def test_a_server_that_ignores_the_dimensions_is_found_out(server, make):
    server.steps = [lambda handler, body: steps.right(handler, {**body, "dimensions": 8})]
    with pytest.raises(EmbedderError, match="answered with 8 dimensions, though 5 were asked for"):
        embed(make(dimensions=5))


def test_a_memory_turns_a_failure_into_its_own_error_and_stores_nothing(server, make, pauses):
    server.steps = [changed(lambda rows: rows[:1])]
    memory = blocking(InMemoryVectorMemory(embedder=make()))
    with pytest.raises(EmbeddingError, match="1 vectors for 3 texts"):
        memory.add_many("k", TEXTS)
    assert memory.count("k") == 0
    memory.add_many("k", TEXTS)
    assert memory.count("k") == 3


# Time


@pytest.mark.parametrize("step", [steps.silent, steps.dripping], ids=["silent", "dripping"])
@pytest.mark.parametrize("own", [None, "sync", "async"])
def test_a_slow_server_is_given_up_within_the_time(server, step, own):
    server.steps = [step] * 9

    async def main():
        options = {"base_url": server.url, "api_key": KEY}
        if own is None:
            return await OpenAIEmbedder("small", timeout=0.4, **options).embed(TEXTS)
        client = openai.AsyncOpenAI(**options) if own == "async" else openai.OpenAI(**options)
        try:
            return await OpenAIEmbedder("small", timeout=0.4, client=client).embed(TEXTS)
        finally:
            closed = client.close()
            if closed is not None:
                await closed

    started = time.monotonic()
    with pytest.raises(EmbedderError, match=r"did not answer in time|cannot be reached"):
        asyncio.run(main())
    assert time.monotonic() - started < 2.5  # the server would take 3 seconds, or 20
    server.steps.clear()


def test_a_rate_limit_that_does_not_end_is_given_up_within_the_time(server, make):
    server.steps = [failing(429, "slow down", Retry_After="0.05")] * 99
    with pytest.raises(EmbedderError, match=r"429: slow down; given up after \d+ attempts"):
        embed(make(timeout=0.3))
    server.steps.clear()


def test_a_pause_beyond_the_time_is_not_waited_for(server, make, pauses):
    server.steps = [failing(429, "slow down", Retry_After="3600")]
    with pytest.raises(EmbedderError, match="429: slow down; given up after 1 attempt"):
        embed(make())
    assert pauses == []


def test_nobody_listening_is_told_after_the_tries(make, pauses, server):
    server.close()
    with pytest.raises(EmbedderError, match=r"cannot be reached.*refused"):
        embed(make(timeout=0.2))


def test_cancelling_ends_at_once(server, make):
    server.steps = [steps.silent]

    async def main():
        task = asyncio.create_task(make().embed(TEXTS))
        while not server.requests:
            await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())


# Secrets


LEAKS = {
    "the key": f"Incorrect API key provided: {KEY}.",
    "part of the key": "Incorrect API key provided: sk-proj-*************7890.",
    "another form": "bad token 'VerySecr****7890'",
}


def chain(error):
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


@pytest.mark.parametrize("message", LEAKS.values(), ids=LEAKS.keys())
@pytest.mark.parametrize("status", [401, 500])
def test_no_message_and_no_traceback_shows_the_key(server, make, status, message):
    server.steps = [failing(status, message)] * 9
    with pytest.raises(EmbedderError) as caught:
        embed(make(timeout=0.2))
    shown = "".join(traceback.format_exception(caught.value)) + "".join(map(repr, chain(caught.value)))
    assert "***" in str(caught.value)
    for secret in (KEY, "VerySecr", "7890"):
        assert secret not in shown
    assert not any(isinstance(error, openai.OpenAIError) for error in chain(caught.value))
    server.steps.clear()


def test_a_key_of_another_form_is_not_shown(server, make):
    server.steps = [failing(401, "no such key: tok_ABCDEF in tok_ABCDEF")]
    with pytest.raises(EmbedderError) as caught:
        embed(make(api_key="tok_ABCDEF"))
    assert "tok_ABCDEF" not in str(caught.value)


def test_credentials_in_the_address_are_not_shown(server):
    address = f"http://user:hunter2@{server.address}"
    server.steps = [failing(400, f"cannot serve {address}/embeddings")]
    embedder = OpenAIEmbedder("small", base_url=address, api_key=KEY)
    with pytest.raises(EmbedderError) as caught:
        embed(embedder)
    assert "hunter2" not in str(caught.value) + repr(embedder) + embedder.id
