"""How much of what was said, or is written, is found: recall through `search_messages` and through providers."""

import argparse
import asyncio
import csv
import json
import re
import time
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from rich.console import Console
from rich.table import Table

from benchmarks.local_models import EMBEDDERS, Remembering, embedder_of
from benchmarks.machine import describe_commit
from vectormem import ChatStorage, InMemoryVectorMemory

RANKINGS = ("keyword", "vector", "hybrid")
_DEPTHS = (5, 10, 20)
_CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open", 4: "single-hop", 5: "adversarial"}
_EVIDENCE = re.compile(r"D:?(\d+):0*(\d+)")


class Question(NamedTuple):
    """A question with the names of what answers it, each with its grade."""

    text: str
    relevant: Mapping[str, int]
    category: str


class Turn(NamedTuple):
    """A turn of a conversation, with its session and text."""

    name: str
    session: int
    date: datetime
    text: str


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure what the options name; print tables and write JSON."""
    options = _parser().parse_args(arguments)
    console = Console(width=180)
    document: dict[str, Any] = {"commit": describe_commit(), "sets": {}}
    for given in options.embedders:
        name, _, spec = given.partition("=")
        embedder = Remembering(embedder_of(spec or name))
        for title, measure in _sets(options).items():
            found = {ranking: asyncio.run(measure(embedder, ranking)) for ranking in options.rankings}
            document["sets"].setdefault(title, {})[name] = found
            _show(console, f"{title}, {embedder.id}", found)
            if options.out:
                options.out.write_text(json.dumps(document, indent=1) + "\n")
    return 0


def _sets(options: argparse.Namespace) -> dict[str, Callable[..., Any]]:
    sets: dict[str, Callable[..., Any]] = {}
    if options.locomo:
        conversations = read_locomo(options.locomo)[: options.conversations]
        sets["LoCoMo"] = lambda embedder, ranking: chat_quality(conversations, embedder, ranking)
    for title, read, path in (
        ("SciFact", read_scifact, options.scifact),
        ("Cranfield", read_cranfield, options.cranfield),
    ):
        if path:
            sets[title] = _provider_set(*read(path))
    for path in options.xquad or ():
        sets[f"XQuAD {path.name.split('.')[1]}"] = _provider_set(*read_xquad(path))
    return sets


def _provider_set(texts: Mapping[str, str], questions: Sequence[Question]) -> Callable[..., Any]:
    return lambda embedder, ranking: provider_quality(texts, questions, embedder, ranking)


async def chat_quality(
    conversations: Sequence[tuple[Sequence[Turn], Sequence[Question]]], embedder: Remembering, ranking: str
) -> dict[str, Any]:
    """Return recall over the turns of each conversation: its sessions are the chats of one scope key."""
    answers: list[dict[str, Any]] = []
    seconds = 0.0
    for number, (turns, questions) in enumerate(conversations):
        async with ChatStorage(":memory:", embedder=embedder, auto_embed_messages=False, ranking=ranking) as chat:
            for place, turn in enumerate(turns):
                moment = turn.date + timedelta(seconds=place)
                await chat.save_message(f"session {turn.session}", "user", turn.text, id=turn.name, created_at=moment)
            await chat.embed_pending()
            await embedder.embed([question.text for question in questions], kind="query")
            await chat.search_messages("warm up", limit=1)
            started = time.perf_counter()
            for question in questions:
                found = await chat.search_messages(question.text, limit=_DEPTHS[-1], min_similarity=0)
                names = [match.message.id for match in found]
                part = "tuned on" if number % 2 == 0 else "held out"
                answers.append({"part": part, "category": question.category, **_figures(names, question.relevant)})
            seconds += time.perf_counter() - started
    groups = {"all": answers}
    for key in ("part", "category"):
        for answer in answers:
            groups.setdefault(answer[key], []).append(answer)
    return {
        "questions a second": len(answers) / seconds,
        **{name: _means(group) for name, group in sorted(groups.items())},
    }


async def provider_quality(
    texts: Mapping[str, str], questions: Sequence[Question], embedder: Remembering, ranking: str
) -> dict[str, Any]:
    """Return how well the provider ranks texts for questions."""
    memory = InMemoryVectorMemory(embedder=embedder, max_items=None, min_score=-1, ranking=ranking)
    items = await memory.add_many("k", list(texts.values()))
    names: dict[str, list[str]] = defaultdict(list)
    for name, item in zip(texts, items, strict=True):
        names[item.id].append(name)
    await embedder.embed([question.text for question in questions], kind="query")
    started = time.perf_counter()
    answers = []
    for question in questions:
        found = await memory.list("k", query=question.text, limit=_DEPTHS[-1])
        answers.append(_figures([name for item in found for name in names[item.id]], question.relevant))
    return {"questions a second": len(questions) / (time.perf_counter() - started), "all": _means(answers)}


def _figures(found: Sequence[str], relevant: Mapping[str, int]) -> dict[str, float]:
    ranks = [rank for rank, name in enumerate(found) if name in relevant]
    figures = {f"recall@{k}": sum(rank < k for rank in ranks) / len(relevant) for k in _DEPTHS}
    figures |= {f"hit@{k}": float(any(rank < k for rank in ranks)) for k in (1, 5, 10)}
    gain = sum(relevant[found[rank]] / np.log2(rank + 2) for rank in ranks if rank < 10)
    best = sum(grade / np.log2(rank + 2) for rank, grade in enumerate(sorted(relevant.values(), reverse=True)[:10]))
    return {**figures, "MRR": 1 / (ranks[0] + 1) if ranks else 0.0, "nDCG@10": float(gain / best)}


def _means(answers: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    names = [name for name, value in answers[0].items() if isinstance(value, float)]
    return {"questions": len(answers), **{name: float(np.mean([one[name] for one in answers])) for name in names}}


def _show(console: Console, title: str, found: Mapping[str, Mapping[str, Any]]) -> None:
    figures = ("recall@5", "recall@10", "recall@20", "hit@1", "hit@5", "hit@10", "MRR", "nDCG@10")
    table = Table("ranking", "group", "questions", *figures, "per second", title=title, title_justify="left")
    for ranking, groups in found.items():
        for group, means in groups.items():
            if isinstance(means, Mapping):
                rate = f"{groups['questions a second']:.0f}" if group == "all" else ""
                table.add_row(ranking, group, str(means["questions"]), *(f"{means[one]:.3f}" for one in figures), rate)
    console.print(table)


def read_locomo(path: Path) -> list[tuple[list[Turn], list[Question]]]:
    """Read LoCoMo: for each conversation its turns, with the date of their session, and its questions."""
    conversations = []
    for sample in json.loads(path.read_text()):
        turns = list(_turns(sample["conversation"]))
        known = {turn.name for turn in turns}
        questions = []
        for entry in sample["qa"]:
            pairs = [pair for text in entry["evidence"] for pair in _EVIDENCE.findall(text)]
            evidence = {_turn_name(*pair): 1 for pair in pairs if _turn_name(*pair) in known}
            if evidence:
                category = _CATEGORIES[entry["category"]]
                questions.append(Question(entry["question"], evidence, category))
        conversations.append((turns, questions))
    return conversations


def _turns(conversation: Mapping[str, Any]) -> Any:
    numbers = sorted(int(name.split("_")[1]) for name, value in conversation.items() if isinstance(value, list))
    for number in numbers:
        said = conversation[f"session_{number}_date_time"]
        date = datetime.strptime(said, "%I:%M %p on %d %B, %Y").replace(tzinfo=UTC)
        for turn in conversation[f"session_{number}"]:
            name = _turn_name(*_EVIDENCE.findall(turn["dia_id"])[0])
            yield Turn(name, number, date, f"[{said}] {turn['speaker']}: {turn['text']}")


def _turn_name(session: str, turn: str) -> str:
    return f"D{int(session)}:{int(turn)}"


def read_scifact(folder: Path) -> tuple[dict[str, str], list[Question]]:
    """Read SciFact: abstracts, and claims with what bears on them."""
    documents = [json.loads(line) for line in _lines(folder / "corpus.jsonl")]
    texts = {str(one["_id"]): f"{one['title']} {one['text']}" for one in documents}
    claims = [json.loads(line) for line in _lines(folder / "queries_test.jsonl")]
    grades: dict[str, dict[str, int]] = defaultdict(dict)
    with (folder / "beir_qrels_test.tsv").open() as file:
        for claim, document, grade in list(csv.reader(file, delimiter="\t"))[1:]:
            grades[claim][document] = int(grade)
    asked = ((one["text"], grades.get(str(one["_id"]))) for one in claims)
    return texts, [Question(text, found, "claim") for text, found in asked if found]


def _lines(path: Path) -> list[str]:
    return path.read_text("utf-8").strip().split("\n")


def read_cranfield(folder: Path) -> tuple[dict[str, str], list[Question]]:
    """Read Cranfield: abstracts, and queries with all that was judged to be of use."""
    texts = {}
    for number, body in _numbered(folder / "cran.all.1400"):
        fields = dict(zip(*[iter(re.split(r"^\.([TABW])$", body, flags=re.MULTILINE)[1:])] * 2, strict=True))
        text = " ".join(f"{fields.get('T', '')} {fields.get('W', '')}".split())
        if text:  # two of them are empty
            texts[number] = text
    grades: dict[str, dict[str, int]] = defaultdict(dict)
    for line in (folder / "cranqrel").read_text().splitlines():
        query, document = line.split()[:2]
        grades[query][document] = 1  # also where the code is -1: one document a query, and a telling one
    queries = [" ".join(body.replace(".W", "").split()) for _, body in _numbered(folder / "cran.qry")]
    return texts, [Question(text, grades[str(place)], "query") for place, text in enumerate(queries, 1)]


def _numbered(path: Path) -> list[tuple[str, str]]:
    parts = re.split(r"^\.I (\d+)\n", path.read_text(), flags=re.MULTILINE)[1:]
    return list(zip(parts[::2], parts[1::2], strict=True))


def read_xquad(path: Path) -> tuple[dict[str, str], list[Question]]:
    """Read XQuAD in one language: paragraphs, and questions with the paragraph that answers them."""
    paragraphs = [one for article in json.loads(path.read_text())["data"] for one in article["paragraphs"]]
    texts = {str(place): one["context"] for place, one in enumerate(paragraphs)}
    return texts, [
        Question(asked["question"], {str(place): 1}, "question")
        for place, one in enumerate(paragraphs)
        for asked in one["qas"]
    ]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("python -m benchmarks quality", description=__doc__)
    parser.add_argument("--locomo", type=Path, metavar="FILE", help="locomo10.json; CC BY-NC, read from where it lies")
    parser.add_argument("--conversations", type=int, metavar="N", help="only the first N conversations")
    parser.add_argument("--scifact", type=Path, metavar="FOLDER", help="in the form of BEIR")
    parser.add_argument("--cranfield", type=Path, metavar="FOLDER")
    parser.add_argument("--xquad", type=Path, nargs="+", metavar="FILE", help="xquad.LANGUAGE.json")
    known = ", ".join(EMBEDDERS)
    parser.add_argument(
        "--embedders", nargs="+", default=["hash"], metavar="[NAME=]EMBEDDER", help=f"{known}, or as for --embedder"
    )
    parser.add_argument("--rankings", nargs="+", choices=RANKINGS, default=list(RANKINGS))
    parser.add_argument("--out", type=Path, metavar="FILE.json", help="where to write the figures")
    return parser
