"""Folders that nobody else on the machine may enter."""

from pathlib import Path


def make_private_folder(folder: Path) -> None:
    """Create a folder, and those above it that are missing, for their owner alone."""
    if folder.is_dir():
        return
    make_private_folder(folder.parent)
    folder.mkdir(mode=0o700, exist_ok=True)
