"""A ledger of what an endpoint cost, so that a spending cap holds across jobs, crashes and reruns."""

from __future__ import annotations

import json
import uuid
from pathlib import Path

from stressbed.errors import EngineError


class Ledger:
    """What was reserved and spent under one generator, kept in a file beside the store.

    A batch reserves its worst case before anything is sent and settles what it really cost
    afterwards. A process that dies in between leaves its reservation standing: the money may
    have been spent.

    Args:
        path: The ledger's file; made when first needed.
        cap: The most that may be spent, in the currency of the prices.
    """

    def __init__(self, path: Path, *, cap: float) -> None:
        self.path, self.cap = path, cap

    def spent(self) -> float:
        """Return what has been spent or is reserved."""
        amounts: dict[str, float] = {}
        if self.path.is_file():
            for line in self.path.read_text(encoding="utf-8").splitlines():
                entry = json.loads(line)
                amounts[entry["batch"]] = entry["amount"]
        return sum(amounts.values())

    def reserve(self, worst: float) -> str:
        """Return the name of a new reservation.

        Raises:
            EngineError: The worst case would exceed the cap.
        """
        from filelock import FileLock

        self.path.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(f"{self.path}.lock"):
            spent = self.spent()
            if spent + worst > self.cap:
                raise EngineError(
                    f"the next batch might cost {worst:.4f}, "
                    f"and {spent:.4f} of the cap of {self.cap:.4f} are spent",
                    where=str(self.path),
                    allowed="a batch whose worst case (all outputs at their limit) fits the cap",
                    do="raise `spending_cap` and run again: what was answered is kept",
                )
            batch = uuid.uuid4().hex
            self._write(batch, worst)
        return batch

    def settle(self, batch: str, amount: float) -> None:
        """Put what a batch really cost in place of its reservation."""
        from filelock import FileLock

        with FileLock(f"{self.path}.lock"):
            self._write(batch, amount)

    def _write(self, batch: str, amount: float) -> None:
        with self.path.open("a", encoding="utf-8") as f:
            f.write(json.dumps({"batch": batch, "amount": amount}) + "\n")
