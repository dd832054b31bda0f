"""The work of `import`: files read in chunks, each chunk stored at once."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from vectormem.cli.chats import OpenChats, import_chats
from vectormem.cli.formats import Format, guess_format
from vectormem.cli.jsonl import Record, read_jsonl
from vectormem.cli.options import DEFAULT_KEY
from vectormem.cli.output import counted
from vectormem.cli.paragraphs import read_markdown, read_text
from vectormem.cli.sources import Source, opened_source
from vectormem.errors import MemoryInvalidError
from vectormem.items import MemoryItem
from vectormem.sync import BlockingMemory

_CHUNK = 1_000

_READERS: dict[Format, Callable[[Source], Iterator[Record]]] = {
    Format.JSONL: read_jsonl,
    Format.TEXT: read_text,
    Format.MARKDOWN: read_markdown,
}


@dataclass
class Imported:
    """How many items a file has, and how many of them were new."""

    file: str
    format: Format
    read: int = 0
    imported: int = 0


def import_file(
    memory: BlockingMemory,
    open_chats: OpenChats,
    name: str,
    format: Format | None,
    key: str | None,
    on_chunk: Callable[[int], object],
) -> Imported:
    """Store the items of a file, or of standard input for `-`; `on_chunk` is told how many bytes were read.

    `key` takes all items; without it, each goes to the key in its line. Chats become messages. Raises
    MemoryInvalidError at a bad line, after storing what stands before it; of chats, nothing is stored then.
    """
    with opened_source(name) as source:
        result = Imported(source.name, format or guess_format(name, source.first))
        if result.format is Format.CHATS:
            result.read, result.imported = import_chats(open_chats, source, key)
            on_chunk(source.bytes_read)
            return result
        try:
            for chunk in _chunks(_READERS[result.format](source)):
                for own_key, items in _by_key(chunk, key).items():
                    result.imported += memory.restore(own_key, items, oldest_first=True)
                result.read += len(chunk)
                on_chunk(source.bytes_read)
        except MemoryInvalidError as error:
            stored = f"{counted(result.read, 'item')} before it stored"
            raise MemoryInvalidError(f"{error}; {stored}, mend the file and import it again for the rest") from error
    return result


def _chunks(records: Iterable[Record]) -> Iterator[list[Record]]:
    """Cut the records into chunks; where reading fails, what was read before it comes first."""
    chunk: list[Record] = []
    try:
        for record in records:
            chunk.append(record)
            if len(chunk) == _CHUNK:
                yield chunk
                chunk = []
    except MemoryInvalidError:
        yield chunk
        raise
    yield chunk


def _by_key(chunk: list[Record], key: str | None) -> dict[str, list[MemoryItem]]:
    groups: dict[str, list[MemoryItem]] = {}
    for record in chunk:
        own_key = key if key is not None else record.key if record.key is not None else DEFAULT_KEY
        groups.setdefault(own_key, []).append(record.item)
    return groups
