"""Memory slots seen as files, for models that are trained to keep notes in files."""

from collections.abc import Sequence
from typing import NamedTuple
from urllib.parse import quote, unquote

from vectormem.checks import check_id
from vectormem.concurrency import AsyncLock
from vectormem.errors import MemoryInvalidError, ToolInputError
from vectormem.items import MemoryItem
from vectormem.providers.protocol import UpsertProvider
from vectormem.slots.access import forget_item, list_items, put_item
from vectormem.slots.define import MemorySlot
from vectormem.slots.run import MemoryRun
from vectormem.slots.scope import MemoryContext

_ROOT = "/memories"
_MOST_FILES = 100_000


class _Folder(NamedTuple):
    slot: MemorySlot
    key: str


class MemoryFiles:
    """The items of slots as files `/memories/<slot>/<id>.md`, in the scope of one context.

    `expose` of a slot says what may be done: recall (view), remember (create, replace, insert, rename) and
    forget (delete). A change of a text reads and writes it in two steps. Raises ToolInputError for what the
    model asks wrongly, and MemoryInvalidError for slots that cannot be files.
    """

    def __init__(self, slots: Sequence[MemorySlot], context: MemoryContext | None = None) -> None:
        keys = MemoryRun(slots, context).snapshot()["keys"]
        for slot in slots:
            _check_slot(slot)
        self._folders = {slot.name: _Folder(slot, keys[slot.name]) for slot in slots if keys[slot.name]}
        self._changing = AsyncLock()

    async def view(self, path: str, lines: Sequence[int] | None = None) -> str:
        """Return the names below a folder, or the lines of a file with their numbers, from `lines[0]` to `lines[1]`."""
        folder, item_id = self._parse(path)
        if item_id is None:
            shown = [folder] if folder else list(self._folders.values())
            names = [name for one in shown for name in await self._names(one)]
            return "\n".join([f"Files in {path}:", *names]) if names else f"{path} holds no files yet."
        text = (await self._item(_allowed(folder, "recall"), item_id, path)).text
        return f"{path}, with line numbers:\n{_numbered(text, lines)}"

    async def create(self, path: str, text: str) -> str:
        """Store a new file."""
        folder, item_id = self._file(path, "remember")
        async with self._changing:
            if await self._find(folder, item_id):
                raise ToolInputError(f"the file {path} exists already; change it with str_replace or insert")
            await self._put(folder, item_id, text)
        return f"{path} was created."

    async def replace(self, path: str, old: str, new: str) -> str:
        """Replace the one place where `old` stands in a file."""
        folder, item_id = self._file(path, "remember")
        async with self._changing:
            item = await self._item(folder, item_id, path)
            found = item.text.count(old) if old else 0
            if found != 1:
                raise ToolInputError(
                    f"old_str must stand in {path} exactly once, verbatim; it stands there {found} times"
                )
            await self._put(folder, item_id, item.text.replace(old, new), item)
        return f"{path} was changed."

    async def insert(self, path: str, line: int, text: str) -> str:
        """Insert text behind a line; 0 is the start of the file."""
        folder, item_id = self._file(path, "remember")
        async with self._changing:
            item = await self._item(folder, item_id, path)
            lines = item.text.split("\n")
            if not 0 <= line <= len(lines):
                raise ToolInputError(f"insert_line must be from 0 to {len(lines)} for {path}, not {line}")
            await self._put(folder, item_id, "\n".join([*lines[:line], text.rstrip("\n"), *lines[line:]]), item)
        return f"{path} was changed."

    async def delete(self, path: str) -> str:
        """Delete a file."""
        folder, item_id = self._file(path, "forget")
        if not await forget_item(folder.slot, folder.key, item_id):
            raise _no_file(path)
        return f"{path} was deleted."

    async def rename(self, old_path: str, new_path: str) -> str:
        """Give a file another name, also in another slot."""
        (old, old_id), (new, new_id) = self._file(old_path, "remember"), self._file(new_path, "remember")
        async with self._changing:
            item = await self._item(old, old_id, old_path)
            if await self._find(new, new_id):
                raise ToolInputError(f"the file {new_path} exists already")
            if old is not new:
                _allowed(old, "forget")
                await self._refuse_same_text(new, new_id, item.text)
            await put_item(new.slot, new.key, new_id, item.text, item.own_metadata())
            if old is not new:
                await forget_item(old.slot, old.key, old_id)
        return f"{old_path} is {new_path} now."

    def _parse(self, path: str) -> tuple[_Folder | None, str | None]:
        """Return what a path names: everything, a slot, or an item of a slot; nothing else can be named."""
        root, *parts = path.removesuffix("/").removeprefix("/").split("/")
        if f"/{root}" != _ROOT or len(parts) > 2 or not path.startswith("/"):
            raise ToolInputError(f"{path!r} is no path of the memory: files are called {_ROOT}/<memory>/<name>.md")
        if parts and parts[0] not in self._folders:
            raise ToolInputError(f"there is no memory {parts[0]!r}; there are: {', '.join(self._folders) or 'none'}")
        return self._folders[parts[0]] if parts else None, _id_of(parts[1]) if len(parts) == 2 else None

    def _file(self, path: str, verb: str) -> tuple[_Folder, str]:
        folder, item_id = self._parse(path)
        if folder is None or item_id is None:
            raise ToolInputError(f"{path!r} is a folder; this takes a file, {_ROOT}/<memory>/<name>.md")
        return _allowed(folder, verb), item_id

    async def _names(self, folder: _Folder) -> list[str]:
        if not folder.slot.expose.recall:
            return []
        items = await list_items(folder.slot, folder.key, limit=_MOST_FILES, query=None)
        return [f"{_ROOT}/{folder.slot.name}/{quote(item.id, safe='@:+=,')}.md" for item in items]

    async def _find(self, folder: _Folder, item_id: str) -> MemoryItem | None:
        items = await list_items(folder.slot, folder.key, limit=_MOST_FILES, query=None)
        return next((item for item in items if item.id == item_id), None)

    async def _item(self, folder: _Folder, item_id: str, path: str) -> MemoryItem:
        item = await self._find(folder, item_id)
        if item is None:
            raise _no_file(path)
        return item

    async def _put(self, folder: _Folder, item_id: str, text: str, old: MemoryItem | None = None) -> None:
        await self._refuse_same_text(folder, item_id, text)
        await put_item(folder.slot, folder.key, item_id, text, old.own_metadata() if old else None)

    async def _refuse_same_text(self, folder: _Folder, item_id: str, text: str) -> None:
        """A memory holds a text once: writing it under a second name would take the first one away."""
        items = await list_items(folder.slot, folder.key, limit=_MOST_FILES, query=None)
        for item in items:
            if item.text == text and item.id != item_id:
                raise ToolInputError(f"the same text stands in {_ROOT}/{folder.slot.name}/{quote(item.id)}.md already")


def _check_slot(slot: MemorySlot) -> None:
    if slot.item_schema is not None:
        raise MemoryInvalidError(f"memory {slot.name!r} has an item_schema; files hold any text")
    if not isinstance(slot.provider, UpsertProvider):
        raise MemoryInvalidError(f"memory {slot.name!r} has a provider without upsert; a file keeps its name by it")


def _allowed(folder: _Folder | None, verb: str) -> _Folder:
    assert folder is not None
    if not getattr(folder.slot.expose, verb):
        raise ToolInputError(f"the memory {folder.slot.name!r} does not let you {verb} anything")
    return folder


def _id_of(name: str) -> str:
    if not name.endswith(".md"):
        raise ToolInputError(f"{name!r} is no name of a file here; names end with .md")
    try:
        return check_id(unquote(name.removesuffix(".md")))
    except MemoryInvalidError as error:
        raise ToolInputError(f"{name!r} is no name of a file here: {error}") from error


def _numbered(text: str, lines: Sequence[int] | None) -> str:
    numbered = [f"{number:6}\t{line}" for number, line in enumerate(text.split("\n"), start=1)]
    if lines is None:
        return "\n".join(numbered)
    first, last = (*lines, -1)[:2]
    if len(lines) != 2 or not 1 <= first <= len(numbered) or not (last == -1 or first <= last):
        raise ToolInputError(f"view_range must be [first, last] within lines 1 to {len(numbered)}, not {list(lines)}")
    return "\n".join(numbered[first - 1 : None if last == -1 else last])


def _no_file(path: str) -> ToolInputError:
    return ToolInputError(f"there is no file {path}; view {_ROOT} to see what there is")
