"""The `<memory>` block of the system prompt: stored text, made harmless, one line an item."""

import re
from collections.abc import Iterable, Sequence

from vectormem.items import MemoryItem

_TAG = re.compile(r"<(?=[\s/]*memory)", re.IGNORECASE)
_CLOSING = "</memory>"
_MARK = "…"
_SHORTEST_CUT = 16
_LINE_EXTRA = len("- \n")
_ID_CHARS = len(" (id: 00000000-0000-0000-0000-000000000000)")


def render_block(name: str, items: Sequence[MemoryItem], *, show_ids: bool, max_chars: int | None = None) -> str:
    """Return the block of a slot, at most `max_chars` long; "" where there are no items.

    Text can neither open nor close a block nor start a line: memory tags are escaped and white space is
    collapsed. With `show_ids` each line ends in ` (id: <id>)`.
    """
    texts = [_one_line(item.text) for item in items]
    endings = [f" (id: {_one_line(item.id)})" if show_ids else "" for item in items]
    if max_chars is None:
        kept = dict(enumerate(texts))
    else:
        kept = fit(texts, [_LINE_EXTRA + len(ending) for ending in endings], max_chars - _frame(name))
    lines = [f"- {text}{endings[position]}" for position, text in kept.items()]
    return "\n".join([_opening(name), *lines, _CLOSING]) if lines else ""


def fit(texts: Sequence[str], extras: Sequence[int], budget: int) -> dict[int, str]:
    """Return, by position, the texts that fit into `budget` characters; each costs its length and its extra.

    Texts that do not fit whole are left out. Where the first alone is too long, it is cut and marked: it
    gets what the others leave, which is at least half.
    """
    if not texts or len(texts[0]) + extras[0] <= budget:
        return _fit_whole(texts, extras, range(len(texts)), budget)
    spare = max(0, (budget - extras[0] - _SHORTEST_CUT) // 2)
    others = _fit_whole(texts, extras, range(1, len(texts)), spare)
    room = budget - extras[0] - len(_MARK) - sum(len(text) + extras[position] for position, text in others.items())
    return {0: texts[0][:room].rstrip() + _MARK, **others} if room > 0 else others


def smallest_budget(name: str, *, show_ids: bool) -> int:
    """Return the fewest characters that a block of one item, cut short, needs."""
    return _frame(name) + _LINE_EXTRA + (_ID_CHARS if show_ids else 0) + _SHORTEST_CUT


def without_blocks(prompt: str, names: Iterable[str]) -> str:
    """Return the prompt without the blocks of these slots that it holds already."""
    for name in names:
        prompt = re.sub(rf'\n*<memory name="{re.escape(name)}">\n(?:- .*\n)+</memory>', "", prompt)
    return prompt


def join_blocks(prompt: str | None, block: str) -> str:
    """Return the prompt with the block at its end, one blank line between them."""
    return "\n\n".join(filter(None, (prompt, block)))


def _one_line(text: str) -> str:
    return _TAG.sub("&lt;", " ".join(text.split()))


def _fit_whole(texts: Sequence[str], extras: Sequence[int], positions: Iterable[int], budget: int) -> dict[int, str]:
    kept: dict[int, str] = {}
    for position in positions:
        cost = len(texts[position]) + extras[position]
        if cost <= budget:
            kept[position] = texts[position]
            budget -= cost
    return kept


def _opening(name: str) -> str:
    return f'<memory name="{name}">'


def _frame(name: str) -> int:
    return len(_opening(name)) + 1 + len(_CLOSING)
