import asyncio
import json
import os

import pytest

from vectormem.mcp_server.limits import MOST_BYTES
from vectormem.mcp_server.standard_streams import Wire


class Pipes:
    """A wire and the client's ends of it."""

    def __init__(self):
        theirs_in, self.feed = os.pipe()
        self.read, theirs_out = os.pipe()
        self.wire = Wire((theirs_in, theirs_out))
        self._open = {theirs_out, self.feed, self.read}

    def send(self, *messages):
        for message in messages:
            line = message if isinstance(message, bytes) else json.dumps(message).encode()
            os.write(self.feed, line + b"\n")

    def end(self):
        self.close(self.feed)

    def close(self, *descriptors):
        for descriptor in descriptors or tuple(self._open):
            self._open.remove(descriptor)
            os.close(descriptor)


@pytest.fixture
def run():
    """Run a coroutine function with pipes."""

    def start(work):
        async def main():
            pipes = Pipes()
            try:
                return await asyncio.wait_for(work(pipes), 30)
            finally:
                pipes.close()

        return asyncio.run(main())

    return start


def request(number, method="ping"):
    return {"jsonrpc": "2.0", "id": number, "method": method}


def response(number):
    return json.dumps({"jsonrpc": "2.0", "id": number, "result": {}}) + "\n"


def test_lines_come_in_as_they_are(run):
    async def work(pipes):
        pipes.send(b"not JSON", "gr\u00fcn", b"\xff")
        pipes.end()
        return [line async for line in pipes.wire]

    assert run(work) == ["not JSON\n", '"gr\\u00fcn"\n', "\ufffd\n"]


def test_a_last_line_without_a_line_break_is_a_line(run):
    async def work(pipes):
        os.write(pipes.feed, b"a\nb")
        pipes.end()
        return [line async for line in pipes.wire]

    assert run(work) == ["a\n", "b"]


def test_a_line_that_is_too_long_is_refused_and_the_next_one_is_read(run):
    async def work(pipes):
        async def feed():
            for line in (b"a" * (MOST_BYTES - 1), b"b" * MOST_BYTES, b"c" * (3 * MOST_BYTES + 5), b"d"):
                await asyncio.to_thread(_write_all, pipes.feed, line + b"\n")
            pipes.end()

        feeding = asyncio.create_task(feed())
        lines = [(line[0], len(line)) async for line in pipes.wire]
        await feeding
        return lines, [json.loads(line) for line in os.read(pipes.read, 65536).splitlines()]

    lines, answers = run(work)
    assert lines == [("a", MOST_BYTES), ("d", 2)]
    assert [(answer["id"], answer["error"]["code"]) for answer in answers] == [(None, -32600)] * 2


def test_the_end_waits_for_what_was_asked(run):
    async def work(pipes):
        pipes.send(request(1), request("1"))
        pipes.end()
        seen, lines = [], aiter(pipes.wire)
        seen += [await anext(lines), await anext(lines)]
        ending = asyncio.create_task(anext(lines, "the end"))
        await pipes.wire.write(response(1))
        seen.append(ending.done())
        await pipes.wire.write(response("1"))
        return [*seen[2:], await ending]

    assert run(work) == [False, "the end"]


def test_a_request_that_was_taken_back_is_not_waited_for(run):
    async def work(pipes):
        pipes.send(request(1), {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}})
        pipes.end()
        return len([line async for line in pipes.wire])

    assert run(work) == 2


def test_an_answer_that_nobody_reads_is_an_error(run):
    async def work(pipes):
        pipes.close(pipes.read)
        with pytest.raises(BrokenPipeError):
            await pipes.wire.write(response(1))

    run(work)


def test_a_wire_that_nobody_reads_holds_up_no_cancellation(run):
    async def work(pipes):
        writing = asyncio.create_task(pipes.wire.write("x" * 2**22 + "\n"))
        await asyncio.sleep(0)
        writing.cancel()
        with pytest.raises(asyncio.CancelledError):
            await writing

    run(work)


def _write_all(descriptor, data):
    while data:
        data = data[os.write(descriptor, data) :]
