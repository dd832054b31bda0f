"""Vectors of another model for documents that are stored already."""

from collections.abc import Callable, Sequence
from itertools import islice

import numpy as np

from vectormem.adapters.langchain_embedder import AnyEmbedder
from vectormem.index.array import Matrix
from vectormem.stores.rows import VectorKind
from vectormem.stores.sqlite.document_space import Document, Path
from vectormem.stores.sqlite.documents import Documents, DocumentWriter

_AT_ONCE = 96


def reindex(
    documents: Documents,
    prefix: Path,
    embedding: AnyEmbedder,
    texts_of: Callable[[Document], Sequence[str]],
    on_progress: Callable[[int, int], object] | None = None,
) -> int:
    """Embed what has texts and no vectors of this model; return how many documents. What is done stays done."""
    kind = VectorKind(embedding.id, embedding.embed(["a text to see the length of a vector"], "query").shape[1])
    found = documents.read(lambda reader: list(reader.without_vector(prefix, kind)))
    pending = [(one, texts) for one in found if (texts := texts_of(one))]
    done = 0
    for start in range(0, len(pending), _AT_ONCE):
        chunk = pending[start : start + _AT_ONCE]
        vectors = iter(embedding.embed([text for _, texts in chunk for text in texts], "document"))
        matrices = [np.stack(list(islice(vectors, len(texts)))) for _, texts in chunk]
        done += documents.change(_change(embedding.id, [one for one, _ in chunk], matrices))
        if on_progress is not None:
            on_progress(start + len(chunk), len(pending))
    return done


def _change(
    embedder: str, documents: Sequence[Document], matrices: Sequence[Matrix]
) -> Callable[[DocumentWriter], int]:
    def change(writer: DocumentWriter) -> int:
        return sum(writer.set_vectors(one, embedder, vectors) for one, vectors in zip(documents, matrices, strict=True))

    return change
