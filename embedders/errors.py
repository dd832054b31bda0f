"""What goes wrong in an embedder."""


class EmbedderError(Exception):
    """An embedder could not turn texts into vectors."""
