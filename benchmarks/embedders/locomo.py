"""LoCoMo: how many of the turns that answer a question are among the ten closest ones of its conversation."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from embedders import Embedder
from vectormem.embedding import embed

_EVIDENCE = re.compile(r"D:?(\d+):0*(\d+)")


def read(path: Path) -> list[dict[str, Any]]:
    """Return the conversations with their questions."""
    samples: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))
    return samples


async def recall(embedder: Embedder, samples: list[dict[str, Any]], limit: int = 10) -> dict[str, float]:
    """Return the mean share of evidence found, over all usable questions and over those of categories 1 to 4."""
    found: list[tuple[int, float]] = []
    for sample in samples:
        turns = dict(_turns(sample["conversation"]))
        places = {turn: place for place, turn in enumerate(turns)}
        stored = await embed(embedder, list(turns.values()))
        asked = [(question, _evidence(question, places)) for question in sample["qa"]]
        asked = [(question, evidence) for question, evidence in asked if evidence]
        queries = await embed(embedder, [question["question"] for question, _ in asked], kind="query")
        best = np.argsort(-(queries @ stored.T), axis=1, kind="stable")[:, :limit]
        for (question, evidence), top in zip(asked, best, strict=True):
            found.append((question["category"], len(evidence & set(top.tolist())) / len(evidence)))
    plain = [share for category, share in found if category != 5]
    return {"all": round(float(np.mean([share for _, share in found])), 4), "1-4": round(float(np.mean(plain)), 4)}


def _turns(conversation: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the id of each turn, and its text with date and speaker."""
    sessions = sorted((name for name in conversation if re.fullmatch(r"session_\d+", name)), key=_number)
    for name in sessions:
        date = conversation.get(f"{name}_date_time", "")
        for turn in conversation[name]:
            yield _normal(turn["dia_id"]), f"[{date}] {turn['speaker']}: {turn['text']}"


def _number(name: str) -> int:
    return int(name.rpartition("_")[2])


def _normal(turn_id: str) -> str:
    found = _EVIDENCE.search(turn_id)
    return f"D{found[1]}:{found[2]}" if found else turn_id


def _evidence(question: dict[str, Any], places: dict[str, int]) -> set[int]:
    named = _EVIDENCE.findall(" ".join(map(str, question.get("evidence") or [])))
    turns = (f"D{session}:{turn}" for session, turn in named)
    return {places[turn] for turn in turns if turn in places}
