"""What a memory holds: one short text with an id, a time and optional metadata."""

import json
from datetime import UTC, datetime
from typing import Annotated, Self, TypeAlias

from pydantic import AfterValidator, AwareDatetime, BaseModel, ConfigDict, JsonValue, PrivateAttr

_set = object.__setattr__
_FIELDS = {"id", "text", "created_at", "metadata", "score"}
_PRIVATE = {injected: {"_score_injected": injected} for injected in (False, True)}


def to_utc(moment: datetime) -> datetime:
    """Return an aware time in UTC. Raises ValueError where that lies outside the years 1 to 9999."""
    try:
        return moment.astimezone(UTC)
    except OverflowError as error:
        raise ValueError(f"{moment.isoformat()} lies outside the years 1 to 9999 in UTC") from error


Moment: TypeAlias = Annotated[AwareDatetime, AfterValidator(to_utc)]
"""A time with a time zone, brought to UTC."""


class MemoryItem(BaseModel):
    """One stored item.

    `created_at` is aware and in UTC. `score` is the cosine similarity, from -1 to 1, on ranked results
    only; it is never stored. Ranked results also carry it as `metadata["score"]`, unless the item's own
    metadata has that key.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str
    text: str
    created_at: Moment
    metadata: dict[str, JsonValue] | None = None
    score: float | None = None

    _score_injected: bool = PrivateAttr(default=False)

    @classmethod
    def build(cls, id: str, text: str, created_at: datetime, metadata: str | None, score: float | None) -> Self:
        """Build an item from what a store holds (`metadata` is JSON text), without validating it again."""
        shown = None if metadata is None else json.loads(metadata)
        injected = score is not None and (shown is None or "score" not in shown)
        if injected:
            shown = {**(shown or {}), "score": score}
        item = cls.__new__(cls)  # what model_construct does, in a fifth of its time
        fields = {"id": id, "text": text, "created_at": created_at, "metadata": shown, "score": score}
        _set(item, "__dict__", fields)
        _set(item, "__pydantic_fields_set__", _FIELDS)  # shared: a frozen model never changes them
        _set(item, "__pydantic_extra__", None)
        _set(item, "__pydantic_private__", _PRIVATE[injected])
        return item

    def own_metadata(self) -> dict[str, JsonValue] | None:
        """Return the metadata as stored, without a score that ranking added; None where nothing is left."""
        if not self._score_injected or self.metadata is None:
            return self.metadata
        return {name: value for name, value in self.metadata.items() if name != "score"} or None
