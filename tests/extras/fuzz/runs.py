"""Runs of the fuzzer, each in a process of its own, since the fuzzer ends the process that it runs in."""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[3]
TARGET_NAMES = (
    "keyword_words",
    "file_names",
    "jsonl",
    "text_paragraphs",
    "markdown",
    "chat_exports",
    "documents",
    "tool_arguments",
    "mcp_arguments",
    "mcp_addresses",
    "block",
    "terminal",
    "chat_passages",
)
_CODE = """
import sys, atheris
from tests.extras.fuzz.targets import TARGETS
atheris.Setup(sys.argv[1:], TARGETS[sys.argv[1]])
atheris.Fuzz()
"""
SEEDS = {
    "jsonl": ['{"key": "k", "id": "i", "text": "tea", "created_at": "2026-01-01T00:00:00Z", "metadata": {"a": [1]}}\n'],
    "markdown": ["# Tea\n\ngreen\n\n```\ncode\n```\n\nTitle\n=====\n* * *\n"],
    "documents": [
        '0{"version": 1, "key": "k", "items": [{"id": "1", "text": "a", "created_at": "2026-01-01T00:00:00Z"}]}'
    ],
    "keyword_words": ["İnci STRASSE straße glass buses 我买了咖啡豆 it's", "❤️ résumé क्षि"],
    "chat_exports": ['0{"conversation_id": "c", "role": "user", "content": "tea", "id": "m"}\n'],
    "mcp_addresses": ["1memory://mine?query=tea", "1memory://talk?session_id=s&query=tea"],
    "file_names": ["notes#user:Alice", "CON", "a. ", "k" * 300],
    "chat_passages": ["One sentence. Another one! " * 40, "茶" * 900, "word " * 300],
}


def fuzz(target, *, runs, seed=1, most_bytes=500, corpus=None):
    """Run a target so many times; return the figures. Raises AssertionError with the input where one fails.

    `corpus` is a folder that keeps the inputs which have led somewhere new.
    """
    with tempfile.TemporaryDirectory() as folder:
        corpus = corpus or Path(folder) / "corpus"
        corpus.mkdir(exist_ok=True)
        for number, text in enumerate(SEEDS.get(target, ["tea"])):
            (corpus / str(number)).write_text(text)
        options = [f"-runs={runs}", f"-seed={seed}", f"-max_len={most_bytes}", "-timeout=20", "-rss_limit_mb=0"]
        done = subprocess.run(
            [sys.executable, "-c", _CODE, target, *options, f"-artifact_prefix={folder}/", str(corpus)],
            cwd=ROOT,
            capture_output=True,
            text=True,
            errors="replace",
        )
        crashes = {path.name: path.read_bytes() for path in Path(folder).iterdir() if path.is_file()}
    said = done.stdout + done.stderr
    assert done.returncode == 0, f"{said[-3000:]}\n{crashes}"
    count, seconds = re.search(r"Done (\d+) runs in (\d+) second", said).groups()
    features = re.findall(r"cov: (\d+) ft: (\d+)", said)[-1]
    return {
        "executions": int(count),
        "crashes": 0,
        "seconds": int(seconds),
        "branches_reached": int(features[0]),
        "features_reached": int(features[1]),
    }
