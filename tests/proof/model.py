"""A memory written down as plain lists, and what may be done to one: the oracle of the long runs."""

import copy
from datetime import UTC, datetime
from typing import NamedTuple

from vectormem import MemoryItem

MOMENT = datetime(2026, 1, 1, tzinfo=UTC)
OLD_KEY, NEW_KEY = "a", "notes#a"
KEYS = (OLD_KEY, NEW_KEY, "notes#A", "../%")
_WORDS = ("tea", "milk", "bread", "green", "black", "grüner", "茶", "ox", "reds", "it's", "<b>", "%s")
_METADATA = (None, None, {"n": 1}, {"n": 2, "list": ["x", {"é": None}]})


class Held(NamedTuple):
    """An item as the model knows it."""

    id: str
    text: str
    metadata: dict | None


class Act(NamedTuple):
    """A change: a verb of a memory and its arguments."""

    verb: str
    arguments: tuple


class Ids:
    """Ids that memory and model draw in the same order."""

    def __init__(self, name):
        self.name = name
        self.drawn = 0

    def __call__(self):
        self.drawn += 1
        return f"{self.name}.{self.drawn}"


class Model:
    """Items by key, oldest first. `do` changes them as a memory with this cap has to."""

    def __init__(self, ids, max_items=None, keys=None):
        self.ids = ids
        self.max_items = max_items
        self.keys = keys or {}
        self.copied = {}

    def copy(self):
        twin = Model(copy.copy(self.ids), self.max_items, {key: list(items) for key, items in self.keys.items()})
        twin.copied = {key: set(ids) for key, ids in self.copied.items()}
        return twin

    def state(self):
        """Return the items by key, and the ids that were copied once, as `state_of` a memory does."""
        return self.keys, self.copied.get(NEW_KEY, set())

    def do(self, act):
        """Change the items; return what the verb of a memory has to return."""
        return getattr(self, act.verb)(*act.arguments)

    def newest(self, key):
        return self.keys.get(key, [])[::-1]

    def add(self, key, text, metadata):
        return self.add_many(key, [text], metadata)[0]

    def add_many(self, key, texts, metadata):
        fresh = [Held(self.ids(), text, metadata) for text in texts]
        return [self._put(key, item) for item in fresh]

    def upsert(self, key, text, item_id, metadata):
        item = Held(self.ids(), text, metadata)
        if item_id is None:
            return self._put(key, item)
        kept = [old for old in self.keys.get(key, []) if item_id != old.id and text != old.text]
        item = item._replace(id=item_id)
        self._hold(key, [*kept, item])
        return item

    def remove(self, key, item_id):
        kept = [item for item in self.keys.get(key, []) if item.id != item_id]
        removed = len(kept) < len(self.keys.get(key, []))
        self._hold(key, kept)
        return removed

    def clear(self, key):
        return len(self.keys.pop(key, []))

    def restore(self, key, items):
        held = list(self.keys.get(key, []))
        before = len(held)
        for item in items:
            if all(item.id != old.id and item.text != old.text for old in held):
                held.append(item)
        self._hold(key, held)
        return len(held) - before

    def migrate(self, old_key, new_key, remove_old):
        old = self.keys.get(old_key, [])
        fresh = [(item.id, Held(self.ids(), item.text, item.metadata)) for item in old]
        known = self.copied.setdefault(new_key, set())
        before = len(self.keys.get(new_key, []))
        for old_id, item in fresh:
            if old_id not in known:
                self._put(new_key, item)
        known.update(old_id for old_id, _ in fresh)
        copied = len(self.keys.get(new_key, [])) - before
        if remove_old:
            self._hold(old_key, [])
        return len(old), copied

    def reindex(self, _):
        return None

    def _put(self, key, item):
        held = self.keys.get(key, [])
        stored = next((old for old in held if old.text == item.text), None)
        if stored is None:
            self._hold(key, [*held, item])
        return stored or item

    def _hold(self, key, items):
        kept = items if self.max_items is None else items[-self.max_items :]
        self.keys[key] = kept
        if not kept:
            del self.keys[key]


def some_act(chance, model, *, weights):
    """Return a change that makes sense on what the model holds."""
    verb = chance.choices(list(weights), list(weights.values()))[0]
    key = chance.choice(KEYS)
    held = model.keys.get(key, [])
    known = chance.choice(held).id if held and chance.random() < 0.8 else f"nobody{chance.randrange(3)}"
    match verb:
        case "add":
            return Act(verb, (key, some_text(chance), chance.choice(_METADATA)))
        case "add_many":
            texts = [some_text(chance) for _ in range(chance.randrange(1, 8))]
            return Act(verb, (key, texts, chance.choice(_METADATA)))
        case "upsert":
            item_id = None if chance.random() < 0.1 else known
            return Act(verb, (key, some_text(chance), item_id, chance.choice(_METADATA)))
        case "remove":
            return Act(verb, (key, known))
        case "clear":
            return Act(verb, (key,))
        case "restore":
            return Act(verb, (key, list(model.keys.get(chance.choice(KEYS), []))))
        case "migrate":
            return Act(verb, (OLD_KEY, NEW_KEY, chance.random() < 0.5))
        case _:
            return Act(verb, (chance.choice((48, 64)),))


def some_text(chance):
    return " ".join(chance.choice(_WORDS) for _ in range(chance.randrange(1, 4))) + f" {chance.randrange(12)}"


async def perform(memory, act):
    """Do to a memory what the act says; return it in the model's form."""
    match act:
        case ("add", (key, text, metadata)):
            return held_of(await memory.add(key, text, metadata=metadata))
        case ("add_many", (key, texts, metadata)):
            return [held_of(item) for item in await memory.add_many(key, texts, metadata=metadata)]
        case ("upsert", (key, text, item_id, metadata)):
            return held_of(await memory.upsert(key, text, id=item_id, metadata=metadata))
        case ("restore", (key, items)):
            given = [MemoryItem(created_at=MOMENT, **item._asdict()) for item in items]
            return await memory.restore(key, given, oldest_first=True)
        case ("migrate", (old_key, new_key, remove_old)):
            return await memory.copy_from(old_key, new_key, remove_old=remove_old)
        case (verb, arguments):
            return await getattr(memory, verb)(*arguments)


def held_of(item):
    return Held(item.id, item.text, item.own_metadata())
