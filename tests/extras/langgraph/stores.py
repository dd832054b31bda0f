"""What the tests of LangGraph's store share."""

from datetime import UTC, datetime, timedelta

from embedders import HashEmbedder

INDEX = {"embed": HashEmbedder(256), "dims": 256}


class Clock:
    def __init__(self):
        self.now = datetime(2026, 1, 1, tzinfo=UTC)

    def __call__(self):
        return self.now

    def after(self, **time):
        self.now += timedelta(**time)


def keys(found):
    return [item.key for item in found]
