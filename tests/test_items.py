"""Items: frozen, in UTC, and what their JSON looks like."""

import copy
import json
import pickle
from datetime import UTC, datetime, timedelta, timezone

import pytest
from pydantic import ValidationError

from tests.conftest import FixedEmbedder
from vectormem import InMemoryVectorMemory, MemoryItem, blocking

MOMENT = datetime(2026, 1, 2, 3, 4, 5, 678901, tzinfo=UTC)
OSLO = timezone(timedelta(hours=2))


def item(**changes):
    return MemoryItem(**{"id": "1", "text": "Tea.", "created_at": MOMENT, **changes})


def built(metadata, score):
    return MemoryItem.build("1", "Tea.", MOMENT, metadata, score)


def test_an_item_has_a_text_an_id_and_a_time_and_no_more():
    assert item().model_dump() == {"id": "1", "text": "Tea.", "created_at": MOMENT, "metadata": None, "score": None}


@pytest.mark.parametrize("field", ["id", "text", "created_at", "metadata", "score"])
def test_an_item_is_frozen(field):
    for one in (item(), built('{"a":1}', 0.5)):
        with pytest.raises(ValidationError):
            setattr(one, field, "x")


def test_an_unknown_field_is_refused():
    with pytest.raises(ValidationError):
        item(createdAt=MOMENT)


def test_a_time_without_a_zone_is_refused():
    with pytest.raises(ValidationError):
        item(created_at=datetime(2026, 1, 2))  # noqa: DTZ001


def test_a_time_of_another_zone_becomes_utc():
    moment = item(created_at=datetime(2026, 1, 2, 5, 4, 5, 678901, tzinfo=OSLO)).created_at
    assert moment == MOMENT
    assert moment.utcoffset() == timedelta(0)


def test_the_json_has_the_time_in_iso_form_with_a_z():
    assert json.loads(item(metadata={"a": None}).model_dump_json())["created_at"] == "2026-01-02T03:04:05.678901Z"
    assert MemoryItem.model_validate_json(item(metadata={"a": None}).model_dump_json()) == item(metadata={"a": None})


@pytest.mark.parametrize("metadata", [None, "{}", '{"a":1,"b":[true,null,1.5,"x"]}', '{"score":"mine"}'])
@pytest.mark.parametrize("score", [None, 0.25, 0.0, -1.0])
def test_a_built_item_equals_a_validated_one(metadata, score):
    one = built(metadata, score)
    shown = None if metadata is None else json.loads(metadata)
    if score is not None and "score" not in (shown or {}):
        shown = {**(shown or {}), "score": score}
    other = item(metadata=shown, score=score)
    assert (one.model_dump(), one.model_dump_json()) == (other.model_dump(), other.model_dump_json())
    assert repr(one) == repr(other)
    assert one.model_fields_set == other.model_fields_set


@pytest.mark.parametrize(
    ("metadata", "score", "own"),
    [
        (None, None, None),
        (None, 0.5, None),
        ("{}", None, {}),
        ("{}", 0.5, None),
        ('{"a":1}', 0.5, {"a": 1}),
        ('{"score":3}', 0.5, {"score": 3}),
        ('{"score":3}', None, {"score": 3}),
        ('{"score":null}', 0.5, {"score": None}),
    ],
)
def test_the_own_metadata_is_without_an_added_score_and_never_without_a_score_of_its_own(metadata, score, own):
    assert built(metadata, score).own_metadata() == own


def test_copies_and_pickles_keep_what_is_own():
    one = built('{"a":1}', 0.5)
    for twin in (copy.copy(one), copy.deepcopy(one), one.model_copy(), pickle.loads(pickle.dumps(one))):
        assert twin == one
        assert twin.own_metadata() == {"a": 1}
    assert one.model_copy(update={"text": "Milk."}).text == "Milk."
    assert built(None, None).model_fields_set == one.model_fields_set


def test_changing_the_metadata_of_a_result_changes_neither_the_store_nor_other_results():
    memory = blocking(InMemoryVectorMemory(embedder=FixedEmbedder({"Tea.": [1, 0]})))
    given = {"tags": ["hot"]}
    first = memory.add("k", "Tea.", metadata=given)
    given["tags"].append("changed by the caller")
    first.metadata["tags"].append("changed in the result")
    memory.list("k", query="Tea.")[0].metadata["tags"].append("changed in a ranked result")
    assert memory.list("k")[0].metadata == {"tags": ["hot"]}
    assert memory.get("k", first.id).metadata == {"tags": ["hot"]}


@pytest.mark.parametrize("moment", ["0001-01-01T00:00:00+00:01", "9999-12-31T23:59:59-00:01"])
def test_a_time_that_no_year_of_utc_holds_is_a_validation_error(moment):
    with pytest.raises(ValidationError, match="outside the years 1 to 9999"):
        MemoryItem.model_validate({"id": "1", "text": "tea", "created_at": moment})
