"""Folders that libraries make when they are imported, kept out of a home folder that cannot be written."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

MTEB = "MTEB_CACHE"


def away_from_home() -> None:
    """Tell mteb to make its cache folder elsewhere if it cannot be made in the home folder.

    Called when stressbed is imported, so before any of its modules imports mteb. What a user has set is kept.
    """
    if MTEB not in os.environ and not _writable(Path("~/.cache").expanduser()):
        os.environ[MTEB] = elsewhere()


def elsewhere() -> str:
    """Return a folder for mteb's cache outside the home folder; nothing of stressbed reads it."""
    return str(Path(tempfile.gettempdir()) / f"stressbed-mteb-{os.getuid()}")


def _writable(folder: Path) -> bool:
    """Return whether files can be made in a folder, or the folder itself where it does not exist yet."""
    while not folder.exists() and folder != folder.parent:
        folder = folder.parent
    return folder.is_dir() and os.access(folder, os.W_OK | os.X_OK)
