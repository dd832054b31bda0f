"""The command `embedders`."""

from typing import Annotated

import typer

from vectormem.cli.embedder import KINDS, EmbedderChoice, EmbedderKind, parse_embedder
from vectormem.cli.options import DEFAULT_DATABASE, DatabaseOption, JsonOption, OnlyKeyOption
from vectormem.cli.output import print_json, print_line, print_table, shown

_FROM_PYTHON = (
    EmbedderKind(
        "PydanticAIEmbedder(model)", "from Python: a model of pydantic-ai", None, "pydantic-ai", ("pydantic_ai",)
    ),
    EmbedderKind("LiteLLMEmbedder(model)", "from Python: a model of litellm", None, "litellm", ("litellm",)),
    EmbedderKind("CachedEmbedder(embedder, path)", "from Python: asks another one for each text once"),
    EmbedderKind("as_embedder(function, id=...)", "from Python: a function of yours"),
)

_ALL = (*KINDS.values(), *_FROM_PYTHON)


def embedders(
    measured: Annotated[
        EmbedderChoice | None,
        typer.Argument(
            parser=parse_embedder, metavar="EMBEDDER", show_default=False, help="Load this one and measure it."
        ),
    ] = None,
    db: DatabaseOption = DEFAULT_DATABASE,
    key: OnlyKeyOption = None,
    embedder: Annotated[
        EmbedderChoice | None,
        typer.Option("--embedder", parser=parse_embedder, metavar="EMBEDDER", help="The same as the argument."),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Show which embedders there are and which can be used, or measure one.

    Measured: dimensions, texts a second in calls of one and of 64 texts,
    and how often a question is closer to its answer than to another
    sentence, though it shares no word with either.

    Example: vectormem embedders st:sentence-transformers/all-MiniLM-L6-v2
    """
    chosen = measured or embedder
    if chosen is not None:
        _measure(chosen, as_json=as_json)
    elif as_json:
        print_json({"embedders": list(map(_document, _ALL))})
    else:
        rows = [(kind.grammar, kind.about, _state(kind)) for kind in _ALL]
        print_table(("Embedder", "What it is", "Usable"), rows)


def _measure(chosen: EmbedderChoice, *, as_json: bool) -> None:
    from vectormem.cli.measuring import measure

    loaded = chosen.load()
    result = measure(loaded)
    if as_json:
        print_json({"embedder": chosen.spec, "id": loaded.id, **result._asdict()})
        return
    print_line(f"id: {shown(loaded.id)}")
    print_line(f"dimensions: {result.dimensions}")
    print_line(f"texts a second: {result.rate_of_1:,.0f} one by one, {result.rate_of_64:,.0f} in calls of 64")
    print_line(f"sanity: {result.sanity:.0%} of the questions are closer to their answer than to another sentence")


def _document(kind: EmbedderKind) -> dict[str, object]:
    return {
        "embedder": kind.grammar,
        "on_command_line": kind.parse is not None,
        "about": kind.about,
        "extra": kind.extra,
        "installed": _is_installed(kind),
    }


def _state(kind: EmbedderKind) -> str:
    return "yes" if _is_installed(kind) else f"pip install 'vectormem[{kind.extra}]'"


def _is_installed(kind: EmbedderKind) -> bool:
    from embedders.extras import is_installed

    return all(map(is_installed, kind.modules))
