"""How `demo` is shown: in panels on a terminal, as plain lines elsewhere."""

import sys
from collections.abc import Iterator
from typing import Any, NamedTuple

from vectormem.cli.output import print_line, shown, to_json

_EXPLANATIONS = (
    "The model gets two tools, and decides to remember.",
    "Another session of the same user. What fits the message comes into the system prompt, found by meaning.",
)


class _Part(NamedTuple):
    label: str
    lines: list[str]


def print_demo(document: dict[str, Any]) -> None:
    """Print both conversations, and what the memory holds at the end."""
    show_title, show_part = (_rich_title, _rich_part) if sys.stdout.isatty() else (_plain_title, _plain_part)
    for conversation, explanation in zip(document["conversations"], _EXPLANATIONS, strict=True):
        show_title(f"Conversation {conversation['session_id']}")
        print_line(explanation)
        for part in _parts(conversation):
            show_part(part)
    show_title(f"Memory {shown(document['key'])}")
    show_part(_Part("items, newest first", [shown(item["text"]) for item in document["items"]]))
    kept = document["db"]
    print_line(f"Kept in {shown(kept)}." if kept else "The database was a temporary file; --db FILE keeps it.")


def _parts(conversation: dict[str, Any]) -> Iterator[_Part]:
    yield _Part("the model received this system prompt", _split(conversation["system_prompt"]))
    tools = (f"{tool['name']}: {tool['description']}" for tool in conversation["tools"])
    yield _Part("and these tools", list(map(shown, tools)))
    said = (line for message in conversation["messages"] for line in _lines(message))
    yield _Part("what was said", list(said))


def _lines(message: dict[str, Any]) -> Iterator[str]:
    if message["content"]:
        yield shown(f"{message['role']}: {message['content']}")
    for call in message.get("tool_calls", ()):
        yield f"{message['role']} calls {shown(call['name'])}({to_json(call['args'])})"


def _split(text: str) -> list[str]:
    return [shown(line) for line in text.split("\n")]


def _plain_title(title: str) -> None:
    print_line(f"\n== {title} ==")


def _plain_part(part: _Part) -> None:
    print_line(f"{part.label}:")
    for line in part.lines:
        print_line(f"  {line}")


def _rich_title(title: str) -> None:
    from rich.console import Console
    from rich.rule import Rule
    from rich.text import Text

    Console().print(Rule(Text(title, "bold cyan"), style="cyan", align="left"))


def _rich_part(part: _Part) -> None:
    from rich.console import Console
    from rich.panel import Panel
    from rich.text import Text

    text = Text("\n".join(part.lines))
    text.highlight_regex(r"(?s)<memory .*</memory>", "bold green")
    Console().print(Panel(text, title=Text(part.label, "bold"), title_align="left", border_style="dim"))
