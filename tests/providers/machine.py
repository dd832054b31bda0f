"""A memory beside a plain list: whatever is done to both, they have to hold and answer the same."""

import math
import re

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from vectormem import blocking

MAX_ITEMS = 4
KEYS = st.sampled_from(["notes#a", "notes#A"])
TEXTS = st.sampled_from(["red", "reds", "red green", "Green grass", "green, red & blue", "blue", "an ox", "glass"])
QUERIES = st.sampled_from(["red", "green", "blue", "glass", "ox", "an ox", "nothing", "red green blue"])
METADATA = st.sampled_from([None, {"n": 1}, {"n": 2, "list": ["x"]}])
IDS = st.one_of(st.none(), st.sampled_from(["x", "y"]), st.integers(0, MAX_ITEMS))


class MemoryMachine(RuleBasedStateMachine):
    """Subclasses open the provider; `held` is the list, oldest first, for each key."""

    def open(self):
        raise NotImplementedError

    def reopen(self):
        return self.memory.target

    def ranked(self, items, query):
        """Return what a query finds, written down without the code under test."""
        return by_shared_words(items, query)

    @initialize()
    def start(self):
        self.memory = blocking(self.open())
        self.held = {"notes#a": [], "notes#A": []}

    @rule(key=KEYS, text=TEXTS, metadata=METADATA)
    def add(self, key, text, metadata):
        self.expect_added(key, text, metadata, self.memory.add(key, text, metadata=metadata))

    @rule(key=KEYS, texts=st.lists(TEXTS, max_size=6), metadata=METADATA)
    def add_many(self, key, texts, metadata):
        items = self.memory.add_many(key, texts, metadata=metadata)
        assert len(items) == len(texts)
        for text, item in zip(texts, items, strict=True):
            self.expect_added(key, text, metadata, item)

    @rule(key=KEYS, text=TEXTS, id=IDS, metadata=METADATA)
    def upsert(self, key, text, id, metadata):
        item_id = self.id_at(key, id)
        item = self.memory.upsert(key, text, id=item_id, metadata=metadata)
        if item_id is None:
            self.expect_added(key, text, metadata, item)
            return
        assert (item.id, item.text, item.metadata) == (item_id, text, metadata)
        self.held[key] = [old for old in self.held[key] if old.id != item_id and old.text != text]
        self.put(key, item)

    @rule(key=KEYS, id=IDS)
    def remove(self, key, id):
        item_id = self.id_at(key, id) or "no-such-id"
        kept = [item for item in self.held[key] if item.id != item_id]
        assert self.memory.remove(key, item_id) is (len(kept) < len(self.held[key]))
        self.held[key] = kept

    @rule(key=KEYS)
    def clear(self, key):
        assert self.memory.clear(key) == len(self.held[key])
        self.held[key] = []

    @rule(key=KEYS, source=KEYS)
    def restore(self, key, source):
        items = list(self.held[source])
        for item in items:
            if all(item.id != old.id and item.text != old.text for old in self.held[key]):
                self.held[key].append(item)
        added = len(self.held[key])
        before = self.memory.count(key)
        assert self.memory.restore(key, items, oldest_first=True) == added - before
        self.held[key] = self.held[key][-MAX_ITEMS:]

    @rule()
    def open_again(self):
        self.memory = blocking(self.reopen())

    @rule(key=KEYS, query=QUERIES, limit=st.one_of(st.none(), st.integers(1, 5)))
    def search(self, key, query, limit):
        found = [item.id for item in self.memory.list(key, query=query, limit=limit)]
        assert found == [item.id for item in self.ranked(self.held[key][::-1], query)][:limit]

    @rule(key=KEYS, limit=st.integers(1, 5))
    def take_newest(self, key, limit):
        assert list(self.memory.list(key, limit=limit)) == self.held[key][::-1][:limit]

    @rule(key=KEYS, id=IDS)
    def get(self, key, id):
        item_id = self.id_at(key, id) or "no-such-id"
        assert self.memory.get(key, item_id) == next((item for item in self.held[key] if item.id == item_id), None)

    @invariant()
    def both_hold_the_same(self):
        for key, held in self.held.items():
            assert list(self.memory.list(key)) == held[::-1]
            assert self.memory.count(key) == len(held)
        assert list(self.memory.scope_keys()) == sorted(key for key, held in self.held.items() if held)

    def id_at(self, key, id):
        """Return an id as it is, or that of the item at a position."""
        if not isinstance(id, int):
            return id
        return self.held[key][id].id if id < len(self.held[key]) else "no-such-id"

    def expect_added(self, key, text, metadata, item):
        stored = next((old for old in self.held[key] if old.text == text), None)
        if stored is None:
            assert (item.text, item.metadata) == (text, metadata)
            assert item.id not in {old.id for old in self.held[key]}
            self.put(key, item)
        else:
            assert item == stored

    def put(self, key, item):
        self.held[key] = [*self.held[key], item][-MAX_ITEMS:]


def by_shared_words(items, query):
    """Rank by whole words shared, without a plural s; words under three letters count where all are so."""
    wanted = {_singular(word) for word in re.findall("[a-z]+", query.lower())}
    wanted = {word for word in wanted if len(word) >= 3} or wanted
    counts = [len(wanted & {_singular(word) for word in re.findall("[a-z]+", item.text.lower())}) for item in items]
    order = sorted(range(len(items)), key=lambda position: (-counts[position], position))
    return [items[position] for position in order if counts[position]]


def by_cosine(items, query, vectors, min_score=0.2):
    """Rank by the cosine of vectors written down, newest first where they are equal."""
    scored = [(round(_cosine(vectors[item.text], vectors[query]), 9), item) for item in items]
    return [item for score, item in sorted(scored, key=lambda pair: -pair[0]) if score >= min_score]


def _singular(word):
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word


def _cosine(a, b):
    norms = math.hypot(*a) * math.hypot(*b)
    return sum(x * y for x, y in zip(a, b, strict=True)) / norms if norms else 0.0
