"""What files hold, as hashes: contents decide what is current, never names or times.

A large file is read once: its hash is remembered by device, inode, size and the times of its last write and
last change. The time of a change cannot be set by a program, so that `cp -p`, `rsync -t` and `touch -d` do
not hide one. What is remembered lies in Snakemake's folder of the working directory; without it the
files are read again. Standard library only.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path

from stressbed.fingerprint import LENGTH, digest, file_digest

KEPT = Path(".snakemake/stressbed/contents.json")
"""Where hashes of large files are remembered, below the working directory."""

LARGE = 1_000_000
"""Bytes from which on a file's hash is worth keeping."""

_State = tuple[int, ...]
_known: dict[str, tuple[_State, str]] = {}
_read_from: set[Path] = set()


def content_of(path: str | Path) -> str | None:
    """Return the hash of a file's bytes, or of all files below a folder with their names; None if absent."""
    place = os.fspath(path)
    try:
        found = os.stat(place)  # noqa: PTH116 - tens of thousands of calls in a dry run
    except OSError:
        return None
    if os.path.isdir(place):  # noqa: PTH112 - likewise
        return digest(contents_below(Path(place)))
    state = (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)
    key = os.path.abspath(place)  # noqa: PTH100 - likewise
    if found.st_size >= LARGE:
        _recall()
    known = _known.get(key)
    if known is not None and known[0] == state:
        return known[1]
    content = _hash(place, found.st_size)
    _known[key] = state, content
    if found.st_size >= LARGE:
        _keep()
    return content


def contents_below(folder: Path, keep: Callable[[str], bool] = lambda _: True) -> dict[str, str]:
    """Return the hash of each file below a folder, by its path in it; temporary and hidden ones are left out.

    Args:
        folder: The folder.
        keep: Whether a file of this relative path counts.
    """
    found = {}
    for path in sorted(_files_below(folder)):
        name = path.relative_to(folder).as_posix()
        content = content_of(path) if keep(name) else None
        if content is not None:
            found[name] = content
    return found


def _files_below(folder: Path) -> Iterator[Path]:
    for root, folders, files in os.walk(folder, followlinks=True):
        folders[:] = [f for f in folders if not f.startswith(".") and f != "__pycache__"]
        yield from (Path(root) / f for f in files if not f.startswith("."))


def _hash(place: str, size: int) -> str:
    if size >= LARGE:
        return file_digest(place)
    with open(place, "rb") as f:  # noqa: PTH123 - likewise
        return hashlib.sha256(f.read()).hexdigest()[:LENGTH]


def _recall() -> None:
    """Read what earlier processes have remembered, once per working directory."""
    path = KEPT.absolute()
    if path in _read_from:
        return
    _read_from.add(path)
    with contextlib.suppress(OSError, ValueError, TypeError):  # damaged or not there: files are read again
        kept = json.loads(path.read_text(encoding="utf-8"))
        for name, (state, content) in kept.items() if isinstance(kept, dict) else ():
            _known.setdefault(name, (tuple(state), str(content)))


def _keep() -> None:
    """Remember hashes of large files where Snakemake keeps its own records; failing that does no harm."""
    path = KEPT.absolute()
    if not path.parents[1].is_dir():
        return
    large = {name: known for name, known in _known.items() if known[0][2] >= LARGE}
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    with contextlib.suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary.write_text(json.dumps(large), encoding="utf-8")
        temporary.replace(path)
