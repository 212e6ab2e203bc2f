"""What a forecast rests on, in sentences: only what matters for this run."""

from __future__ import annotations

from stressbed.plan.build import Facts
from stressbed.plan.forecast import ModelRow
from stressbed.plan.models import UNKNOWN_DIMENSION
from stressbed.plan.numbers import size

TOO_FULL = 0.85
"""Share of a device's memory that weights may take: the cache of keys and values needs the rest."""


def notes_of(facts: Facts) -> list[str]:
    """Return the assumptions behind a forecast's numbers and what they leave out."""
    return [*facts.notes, *_counts(facts), *_lengths(facts), *_speeds(facts), *_left_out(facts)]


def _counts(facts: Facts) -> list[str]:
    by: dict[str, list[str]] = {}
    for name, sample in facts.samples.items():
        if sample.how != "counted":
            by.setdefault(sample.basis.partition(", a sample")[0] + f" ({sample.how})", []).append(name)
    found = [f"Texts of {_listed(names)}: {basis}." for basis, names in by.items()]
    if any(s.how == "estimated" for s in facts.samples.values()):
        found.append(
            "What mteb samples is taken into account as its code says: training texts that the experiments "
            "of a classification draw, in the mean; a fraction of a clustering's documents. Languages are "
            "drawn for placeholders by the run's own code."
        )
    titled = [
        name
        for name, sample in facts.samples.items()
        if sample.how == "estimated" and str(sample.manifest["task"]) in facts.assumed.titles
    ]
    if titled:
        found.append(
            f"Titles of {_listed(titled)} are rewritten for themselves; how many there are is assumed."
        )
    if any(not a.exact for a in facts.asked.values()):
        found.append(
            "Requests of a second step (backtranslation, summarised expansion) are counted as if all answers "
            "to the first one differed."
        )
    if any(not s.exact for s in facts.strings.values()):
        found.append(
            "Strings to encode are counted as if no two rewrites were equal, or equal to their original."
        )
    return found


def _lengths(facts: Facts) -> list[str]:
    if not any(
        a.left_out for a in [*facts.asked.values(), *facts.translated.values(), *facts.screened.values()]
    ):
        return []
    used = dict.fromkeys(
        s.prompt for t in facts.plan.transformations for s in facts.plan.catalogue.transformations[t].steps
    )
    rules = []
    for prompt in used:
        rule = facts.assumed.answers.get(prompt, facts.assumed.other_answer)
        base = f"{rule.base:g} + " if rule.base else ""
        rules.append(f"{prompt} {base}{rule.factor:g} x")
    return [
        f"Tokens of an answer by tokens of its text: {', '.join(rules)}; languages need more or "
        "fewer tokens for the same content (English 4.5 characters a token).",
        *_thinking(facts),
    ]


def _thinking(facts: Facts) -> list[str]:
    entries = [facts.plan.catalogue.generators[g] for g in facts.plan.generators]
    names = [e.id for e in entries if "think" in e.model.lower()]
    return (
        [f"What {_listed(names)} think before they answer is not counted: they take longer."] if names else []
    )


def _speeds(facts: Facts) -> list[str]:
    measured = {*facts.records.writing, *facts.records.encoding} & {m.id for m in facts.models.values()}
    found = []
    if measured:
        found.append(
            f"Speeds of {_listed(sorted(measured))}: as {facts.records.jobs} earlier jobs recorded here."
        )
    rest = [m for m in facts.models.values() if m.id not in measured]
    if any(m.parameters for m in rest):
        found.append(
            f"Speeds of {'other' if measured else 'all'} models with weights: {facts.device.label}, "
            f"{facts.device.teraflops:g} TFLOPS at the peak, of which large models reach "
            f"{100 * facts.assumed.speeds[-1].read:.0f} % reading and "
            f"{100 * facts.assumed.speeds[-1].write:.0f} % writing, small ones less. A first job on your "
            "device shows what is true; run this again afterwards."
        )
    named = [m.id for m in facts.models.values() if m.parameters and not m.told]
    if named:
        found.append(f"Sizes of {_listed(named)} are read from their names.")
    unknown = [m.id for m in facts.models.values() if m.place == "gpu" and m.parameters is None]
    if unknown:
        found.append(f"Nothing tells the size of {_listed(unknown)}: their time is not in the sums.")
    vague = [m.id for m in facts.models.values() if m.role == "embedder" and not m.dimension_told]
    if vague:
        found.append(f"Vectors of {_listed(vague)} are taken to have {UNKNOWN_DIMENSION} numbers.")
    return found


def _left_out(facts: Facts) -> list[str]:
    found = []
    if facts.asked or facts.screened:
        found.append(
            "Not foreseen: retries of answers that come back empty or cut, and jobs that have to be repeated."
        )
    if facts.plan.config.human is not None:
        found.append("The study with people takes minutes here; what people take is not counted.")
    return found


def warnings_of(facts: Facts, models: list[ModelRow], *, missing: float, free: float) -> list[str]:
    """Return what a user should change before the run: memory, disk, spending caps.

    Args:
        facts: What was counted.
        models: What the models take.
        missing: Bytes that results will take and do not take yet.
        free: Bytes that are free.
    """
    found = []
    if missing > free:
        found.append(
            f"The results will take about {size(missing)} more, but {size(free)} are free where they go."
        )
    memory = facts.device.memory_gb * 1e9
    large = [r.model for r in models if r.place == "gpu" and r.weights > TOO_FULL * memory]
    if large:
        found.append(
            f"Weights of {_listed(large)} do not fit {facts.device.label} ({facts.device.memory_gb:g} GB)."
        )
    for row in models:
        entry = facts.plan.catalogue.generators.get(row.model)
        cap = None if entry is None else entry.spending_cap
        if cap is not None and row.price_left is not None and row.price_left > cap:
            found.append(
                f"{row.model}: about {row.price_left:,.2f} are needed, but its spending_cap is {cap:,.2f}: "
                "the run will stop there."
            )
    return found


def _listed(names: list[str]) -> str:
    few = names if len(names) <= 6 else [*names[:5], f"{len(names) - 5} more"]
    return few[0] if len(few) == 1 else f"{', '.join(few[:-1])} and {few[-1]}"
