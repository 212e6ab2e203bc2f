"""Each input of a job is read once when the job ends, not once for each of its outputs.

Snakemake (9.27, `PersistenceBase.finished`) computes the checksums of all inputs anew for every output, see
https://github.com/snakemake/snakemake/issues/4240. A job with a few hundred cells has as many inputs, so
that a run with `job_axes: [embedder]` spent most of Snakemake's time on reading the same files over and over.
"""

from __future__ import annotations

import os
from functools import wraps
from typing import Any

_Key = tuple[str, int, int, int, int | None, bool, Any]


def remember_checksums() -> None:
    """Let Snakemake keep a file's checksum for as long as its time, size and inode stay the same.

    Files in remote storage are left to Snakemake. Calling it again changes nothing.
    """
    from snakemake.io import _IOFile

    plain = _IOFile.checksum
    if hasattr(plain, "remembered"):
        return
    remembered: dict[_Key, str | None] = {}

    @wraps(plain)
    async def checksum(
        self: Any, threshold: int | None = None, force: bool = False, algorithm: Any = None
    ) -> str | None:
        """Return `_IOFile.checksum`, computed once for a file that has not changed."""
        try:
            facts = None if self.is_storage else os.stat(self.file)  # noqa: PTH116 - hundreds of thousands of calls
        except OSError:
            facts = None
        if facts is None:
            return await plain(self, threshold, force, algorithm)  # type: ignore[no-any-return]
        key = (str(self), facts.st_mtime_ns, facts.st_size, facts.st_ino, threshold, force, algorithm)
        if key not in remembered:
            remembered[key] = await plain(self, threshold, force, algorithm)
        return remembered[key]

    checksum.remembered = remembered  # type: ignore[attr-defined]
    _IOFile.checksum = checksum
