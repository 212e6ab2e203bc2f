"""What a run will take, and what of it is done, as plain records."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Stage:
    """What a stage takes.

    Attributes:
        name: The stage.
        unit: What its units are.
        jobs: Jobs.
        jobs_left: Of these, with something to do.
        units: Units of work.
        done: Of these, done.
        exact: Whether `units` is a count.
        tokens_in: Prompt tokens, or tokens to encode; None where there are none.
        tokens_out: Tokens of answers.
        tokens_exact: Whether the tokens are counted.
        seconds: By place (`gpu`, `cpu`, `endpoint`), of all units.
        seconds_left: Of those that are not done.
        measured: Whether the seconds follow from measured speeds.
        bytes: On disk once it is done.
        left_exact: Whether what is done is known exactly.
    """

    name: str
    unit: str
    jobs: int
    jobs_left: int
    units: float
    done: float
    exact: bool
    tokens_in: float | None = None
    tokens_out: float | None = None
    tokens_exact: bool = False
    seconds: dict[str, float] = field(default_factory=dict)
    seconds_left: dict[str, float] = field(default_factory=dict)
    measured: bool = False
    bytes: float = 0.0

    @property
    def share_done(self) -> float:
        """Share of the units that is done, 0 to 1."""
        return self.done / self.units if self.units else 1.0


@dataclass(frozen=True)
class DatasetRow:
    """What a dataset brings.

    Attributes:
        dataset: Catalogue id.
        texts: Texts that are embedded, equal ones included.
        unique: Those that differ.
        naive: Requests if every variant and step asked for itself.
        requests: Those that differ, of all generators.
        requests_done: Of these, answered.
        strings: Strings that an embedder encodes.
        exact: Whether texts are counted.
        requests_exact: Whether requests are.
        strings_exact: Whether strings are.
        basis: In words, what the numbers rest on.
    """

    dataset: str
    texts: float
    unique: float
    naive: float
    requests: float
    requests_done: float
    strings: float
    exact: bool
    requests_exact: bool
    strings_exact: bool
    basis: str


@dataclass(frozen=True)
class ModelRow:
    """What a model takes.

    Attributes:
        model: Catalogue id.
        role: `generator`, `judge` or `embedder`.
        parameters: Its size, if it has weights here.
        parameters_told: Whether the size is not merely read from its name.
        units: Requests or strings.
        done: Of these, done.
        exact: Whether the units are counted.
        place: `gpu`, `cpu` or `endpoint`.
        seconds: Of all units.
        seconds_left: Of those that are not done.
        measured: Whether the seconds follow from measured speeds.
        bytes: Of its answers or vectors in the store.
        weights: Bytes of its files.
        price: What all units cost, in the currency of the catalogue's prices; None without prices.
        price_left: What those cost that are not done.
    """

    model: str
    role: str
    parameters: float | None
    parameters_told: bool
    units: float
    done: float
    exact: bool
    place: str
    seconds: float
    seconds_left: float
    measured: bool
    bytes: float
    weights: float
    price: float | None = None
    price_left: float | None = None


@dataclass(frozen=True)
class Forecast:
    """What a run takes.

    Attributes:
        run: Its name.
        device: Label of the device that models with weights were judged for.
        stages: By stage, in the order of the run.
        datasets: By dataset.
        models: By model.
        other_devices: Label of a device class -> hours of work that is left for models with weights there.
        free_bytes: Free where the results lie.
        notes: What is assumed, and what the numbers leave out.
        warnings: What a user should change before the run.
    """

    run: str
    device: str
    stages: list[Stage]
    datasets: list[DatasetRow]
    models: list[ModelRow]
    other_devices: dict[str, float]
    free_bytes: float
    notes: list[str]
    warnings: list[str]

    def stage(self, name: str) -> Stage:
        """Return a stage by its name."""
        return next(s for s in self.stages if s.name == name)

    def hours(self, place: str, *, left: bool = False) -> float:
        """Return the hours of work at a place (`gpu`, `cpu`, `endpoint`)."""
        found = [s.seconds_left if left else s.seconds for s in self.stages]
        return sum(f.get(place, 0.0) for f in found) / 3600

    @property
    def requests(self) -> float:
        """Requests to LLMs of all stages."""
        return sum(s.units for s in self.stages if s.unit == "requests")

    @property
    def bytes(self) -> float:
        """Bytes of all results."""
        return sum(s.bytes for s in self.stages)

    @property
    def share_done(self) -> float:
        """Share of the time that is done, 0 to 1."""
        places = {p for s in self.stages for p in s.seconds}
        total = sum(self.hours(p) for p in places)
        left = sum(self.hours(p, left=True) for p in places)
        return 1 - left / total if total else 1.0

    @property
    def price(self) -> float | None:
        """What requests cost that are not yet answered; None if no model has a price."""
        prices = [m.price_left for m in self.models if m.price_left is not None]
        return sum(prices) if prices else None


@dataclass
class Jobs:
    """The jobs of a stage by the path of their statistics, and those with something to do."""

    every: set[str] = field(default_factory=set)
    left: set[str] = field(default_factory=set)

    def add(self, path: str, *, left: bool) -> None:
        """Count a job."""
        self.every.add(path)
        if left:
            self.left.add(path)


def by_place(pairs: Mapping[str, float], add: Mapping[str, float]) -> dict[str, float]:
    """Return sums by place."""
    return {p: pairs.get(p, 0.0) + add.get(p, 0.0) for p in {*pairs, *add}}


Progress = Callable[[str], None]
"""Called with what is being looked at."""
