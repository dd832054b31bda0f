"""The operations of LangGraph's store: what they may hold, and what their results are."""

import json
import math

from vectormem.adapters.missing import missing_extra
from vectormem.canonical import check_storable, encode_object
from vectormem.chat.checks import check_count
from vectormem.checks import check_query
from vectormem.errors import MemoryInvalidError
from vectormem.ranking.filters import compile_filter
from vectormem.stores.rows import from_microseconds
from vectormem.stores.sqlite.document_space import Document, Draft, Path, encode_path
from vectormem.stores.sqlite.documents import DocumentReader

try:
    from langgraph.store.base import GetOp, ListNamespacesOp, MatchCondition, Op, PutOp, SearchItem, SearchOp
except ImportError as error:
    raise missing_extra("langgraph", error) from error

_MICROSECONDS_A_MINUTE = 60_000_000
_LONGEST_MINUTES = 2**40


def check_op(op: Op) -> None:
    """Raise MemoryInvalidError for an operation that is none, or that cannot be run."""
    if isinstance(op, GetOp | PutOp):
        _check_path(op.namespace)
        if not isinstance(op.key, str):
            raise MemoryInvalidError(f"the key of an item must be a string, not {op.key!r}")
        check_storable(op.key.replace("\0", ""), "the key of an item")
    elif isinstance(op, SearchOp):
        _check_path(op.namespace_prefix)
        check_count(op.limit, "limit")
        check_count(op.offset, "offset")
        check_query(op.query)
        compile_filter(op.filter)
    elif isinstance(op, ListNamespacesOp):
        check_count(op.limit, "limit")
        check_count(op.offset, "offset")
        for condition in op.match_conditions or ():
            if condition.match_type not in ("prefix", "suffix"):
                raise MemoryInvalidError(
                    f'namespaces are matched by "prefix" or "suffix", not {condition.match_type!r}'
                )
    else:
        raise MemoryInvalidError(f"a batch takes GetOp, PutOp, SearchOp and ListNamespacesOp, not {op!r}")


def draft_of(op: PutOp, now: int) -> Draft | None:
    """Return what a put stores; None where it deletes."""
    if op.value is None:
        return None
    if op.ttl is not None and not 0 < op.ttl < _LONGEST_MINUTES:
        raise MemoryInvalidError(f"ttl must be a number of minutes above 0, or None, not {op.ttl!r}")
    ttl = None if op.ttl is None else math.ceil(op.ttl * _MICROSECONDS_A_MINUTE)
    indexed = None if op.index is None else json.dumps(op.index)
    return Draft(op.key, encode_object(op.value, "the value of an item"), now, ttl, indexed)


def item_of(reader: DocumentReader, document: Document, score: float | None) -> SearchItem:
    """Return a document as an item of LangGraph."""
    return SearchItem(
        namespace=reader.path_of(document.path),
        key=document.key,
        value=json.loads(document.value),
        created_at=from_microseconds(document.created_at),
        updated_at=from_microseconds(document.updated_at),
        score=score,
    )


def namespaces(op: ListNamespacesOp, reader: DocumentReader, now: int | None) -> list[Path]:
    """Return the namespaces that match all conditions, sorted; with `now`, those that hold something then."""
    conditions = op.match_conditions or ()
    found = (
        path for path in reader.paths(_fixed_prefix(conditions), now) if all(_fits(path, one) for one in conditions)
    )
    cut = list(dict.fromkeys(path[: op.max_depth] for path in found))
    return cut[op.offset : op.offset + op.limit]


def _fixed_prefix(conditions: tuple[MatchCondition, ...]) -> Path:
    """Return the labels that all matching namespaces start with, as far as the first condition says them."""
    path = next((one.path for one in conditions if one.match_type == "prefix"), ())
    return tuple(path[: path.index("*")] if "*" in path else path)


def _fits(path: Path, condition: MatchCondition) -> bool:
    wanted = tuple(condition.path)
    if len(path) < len(wanted):
        return False
    part = path[: len(wanted)] if condition.match_type == "prefix" else path[len(path) - len(wanted) :]
    return all(pattern in ("*", label) for pattern, label in zip(wanted, part, strict=True))


def _check_path(path: object) -> None:
    if not isinstance(path, tuple):
        raise MemoryInvalidError(f"a namespace must be a tuple of strings, not {path!r}")
    encode_path(path)
