"""Items as people and as programs read them."""

import sys
from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from vectormem.cli.output import print_line, print_table, shown, to_json

if TYPE_CHECKING:
    from vectormem.items import MemoryItem


def timestamp(moment: datetime) -> str:
    """Return a time in UTC as ISO 8601 with Z."""
    return moment.isoformat().replace("+00:00", "Z")


def item_document(item: "MemoryItem", *, with_score: bool = False) -> dict[str, Any]:
    """Return an item as a JSON object; the score stands beside the metadata, not in it."""
    document: dict[str, Any] = {
        "id": item.id,
        "text": item.text,
        "created_at": timestamp(item.created_at),
        "metadata": item.own_metadata(),
    }
    return {**document, "score": item.score} if with_score else document


def print_items(items: "Sequence[MemoryItem]", *, with_score: bool = False) -> None:
    """Print items: the text above its id and time on a terminal, tab-separated lines elsewhere."""
    if not sys.stdout.isatty():
        print_table((), [[*_score(item, with_score), _time(item), item.id, item.text] for item in items])
    elif items:
        _print_blocks(items, with_score=with_score)
    else:
        print_line("nothing found" if with_score else "no items")


def _score(item: "MemoryItem", with_score: bool) -> list[str]:
    return [f"{item.score:.3f}" if item.score is not None else "-"] if with_score else []


def _time(item: "MemoryItem") -> str:
    return timestamp(item.created_at.replace(microsecond=0))


def _print_blocks(items: "Sequence[MemoryItem]", *, with_score: bool) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    grid = Table.grid(padding=(0, 2))
    for item in items:
        details = f"\n{shown(item.id)}  {_time(item)}"
        if metadata := item.own_metadata():
            details += f"\n{to_json(metadata)}"
        block = Text.assemble(shown(item.text), (details, "dim"))
        grid.add_row(*(Text(score, "bold cyan") for score in _score(item, with_score)), block)
    Console(highlight=False).print(grid)
