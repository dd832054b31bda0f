"""Slots defined in the files of a folder."""

import hashlib
import importlib.util
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from vectormem.errors import MemoryInvalidError
from vectormem.slots.define import MemorySlot, define_memory

_OPTIONS = frozenset({"scope", "provider"})


def load_memory_slots(dir: str | os.PathLike[str], *, overrides: Sequence[MemorySlot] = ()) -> list[MemorySlot]:
    """Return the slots that the `*.py` files of a folder define, by file name, one in each.

    A file holds one `MemorySlot`, or one dict of the options of `define_memory` whose name defaults to the
    file's. Files that start with an underscore are passed over. A slot in `overrides` takes the place of
    the one with its name; others are put at the end. Loading runs the files: load none that you do not
    trust. Raises MemoryInvalidError for a folder or file that does not fit.
    """
    folder = Path(dir)
    if not folder.is_dir():
        raise MemoryInvalidError(f"the slot folder {folder} does not exist")
    files = sorted(path for path in folder.glob("*.py") if not path.name.startswith("_"))
    slots: dict[str, MemorySlot] = {}
    for slot, path in [(_slot_in(path), path) for path in files]:
        if slot.name in slots:
            raise MemoryInvalidError(f"{path} defines memory {slot.name!r}, which another file of {folder} defines too")
        slots[slot.name] = slot
    return list({**slots, **{slot.name: slot for slot in overrides}}.values())


def _slot_in(path: Path) -> MemorySlot:
    values = {id(value): value for name, value in vars(_run(path)).items() if not name.startswith("_")}
    found = [value for value in values.values() if isinstance(value, MemorySlot) or _is_options(value)]
    if len(found) != 1:
        raise MemoryInvalidError(
            f"{path} must hold one MemorySlot, or one dict of options with a scope and a provider; "
            f"it holds {len(found)}"
        )
    if isinstance(found[0], MemorySlot):
        return found[0]
    try:
        return define_memory(**{"name": path.stem, **found[0]})
    except (TypeError, MemoryInvalidError) as error:
        raise MemoryInvalidError(f"{path}: {error}") from error


def _is_options(value: Any) -> bool:
    return isinstance(value, Mapping) and value.keys() >= _OPTIONS


def _run(path: Path) -> ModuleType:
    digest = hashlib.sha256(str(path.resolve()).encode()).hexdigest()[:16]
    name = f"_vectormem_slots_{digest}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise MemoryInvalidError(f"{path} cannot be loaded")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses and pydantic look annotations up there
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        del sys.modules[name]
        raise MemoryInvalidError(f"{path} failed: {error!r}") from error
    return module
