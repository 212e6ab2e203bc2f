"""The texts of a dataset as a forecast sees them: all, some, or placeholders of like number and length."""

from __future__ import annotations

import logging
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from stressbed import paths
from stressbed.config import Plan
from stressbed.config.entries import DatasetEntry
from stressbed.config.translations import Translation
from stressbed.dataset.freeze import declared
from stressbed.dataset.record import Template, templates_of
from stressbed.fingerprint import text_digest
from stressbed.plan.assumptions import Assumptions
from stressbed.plan.statistics import Group, groups_of
from stressbed.store import read_json, read_parquet

if TYPE_CHECKING:
    import pandas as pd

How = Literal["counted", "sampled", "estimated"]

ROWS = 4000
"""A dataset with more text occurrences than this is judged by a sample of them."""

PLACEHOLDERS = 240
"""So many texts stand for a dataset that is not there, all groups together."""

REPEATS = 12
"""A text that occurs more often stands so often: five languages are drawn by then."""

OPEN, CLOSE = "\ue000", "\ue001"
"""Around the name of a placeholder: private-use characters, which no cleaning of answers touches."""


@dataclass(frozen=True)
class Sample:
    """A dataset's texts.

    Attributes:
        dataset: Catalogue id.
        manifest: Its manifest; of a dataset that is not frozen, what its entry says.
        texts: Columns of `texts.parquet`, and `weight`: how many different texts each stands for.
        templates: The strings that mteb makes of them.
        occurrences: Texts that are embedded, equal ones included.
        unique: Those that differ.
        characters: Of all different texts together.
        how: All counted, judged by a sample, or estimated.
        basis: In words, what the numbers rest on.
        folder: The frozen dataset, if it is there.
        tokens: Tokens of placeholders.
    """

    dataset: str
    manifest: dict[str, Any]
    texts: pd.DataFrame
    templates: list[Template]
    occurrences: float
    unique: float
    characters: float
    how: How
    basis: str
    folder: Path | None = None
    tokens: dict[str, int] = field(default_factory=dict)

    @property
    def languages(self) -> dict[str, str]:
        """Language of each text."""
        return dict(zip(self.texts["text"].tolist(), self.texts["language"].tolist(), strict=True))


def sample_of(plan: Plan, dataset: str, assumed: Assumptions, *, frozen: bool = True) -> Sample:
    """Return what is known of a dataset: as frozen, as its local files make it, else by published statistics.

    Nothing is written to the results, and nothing is fetched.

    Args:
        plan: The run.
        dataset: Catalogue id.
        assumed: What is assumed of datasets that are not there.
        frozen: Whether what is frozen counts; not where the run would freeze the dataset anew.
    """
    folder = plan.results / Path(paths.MANIFEST.format(dataset=dataset)).parent
    if frozen and all(
        (folder / name).is_file() for name in ("manifest.json", "texts.parquet", "inputs.parquet")
    ):
        return _of_folder(dataset, folder, "the frozen dataset", keep=True)
    entry = plan.catalogue.datasets[dataset]
    made = plan.translation(dataset)
    if made is not None:
        return _translated(sample_of(plan, made.source, assumed), made, entry, assumed)
    if entry.files:
        return _of_files(plan, entry)
    groups, basis = groups_of(entry, assumed)
    return _of_groups(entry, groups, basis, assumed)


def _of_files(plan: Plan, entry: DatasetEntry) -> Sample:
    """Return the texts of local files, frozen in a temporary folder as the run will freeze them."""
    from stressbed.dataset.freeze import freeze
    from stressbed.dataset.record import record

    origin = plan.catalogue.origin["datasets", entry.id].parent
    with tempfile.TemporaryDirectory(prefix="stressbed-plan-") as name, _silence():
        folder = Path(name) / entry.id
        freeze(entry, origin, folder)
        record(folder)
        return _of_folder(entry.id, folder, "its files", keep=False)


@contextmanager
def _silence() -> Iterator[None]:
    """Context without messages of less than a warning: mteb tells every step of a dry run."""
    before = logging.root.manager.disable
    logging.disable(logging.INFO)
    try:
        yield
    finally:
        logging.disable(before)


def _of_folder(dataset: str, folder: Path, basis: str, *, keep: bool) -> Sample:
    texts = read_parquet(folder / "texts.parquet").to_pandas()
    templates = list(templates_of(read_parquet(folder / "inputs.parquet")))
    different = texts["text"].drop_duplicates()
    share, chosen, used = 1.0, texts, templates
    if len(texts) > ROWS:
        share, chosen, used = _some(texts, templates)
        basis = f"{basis}, a sample of {len(chosen)} of {len(texts)} texts"
    return Sample(
        dataset=dataset,
        manifest=read_json(folder / "manifest.json"),
        texts=chosen.assign(weight=1.0 / share),
        templates=used,
        occurrences=len(texts),
        unique=len(different),
        characters=float(different.str.len().sum()),
        how="counted" if share == 1.0 else "sampled",
        basis=basis,
        folder=folder if keep else None,
    )


def _some(texts: pd.DataFrame, templates: Sequence[Template]) -> tuple[float, pd.DataFrame, list[Template]]:
    """Return the share of a dataset's texts that is kept, these with all their occurrences, their strings.

    Texts are drawn by the hash of what they say; a title comes with its body.
    """
    text_of = dict(zip(texts["text_id"].tolist(), texts["text"].tolist(), strict=True))
    last: dict[str, list[Template]] = {}
    for t in templates:
        if t.text_ids:
            last.setdefault(text_of[t.text_ids[-1]], []).append(t)
    kept: list[Template] = []
    drawn = 0
    for text in sorted(last, key=lambda s: text_digest("plan", s)):
        if len(kept) >= ROWS and drawn >= PLACEHOLDERS:
            break
        kept += last[text]
        drawn += 1
    ids = {i for t in kept for i in t.text_ids}
    return drawn / len(last), texts[texts["text_id"].isin(ids)], kept


def _of_groups(entry: DatasetEntry, groups: list[Group], basis: str, assumed: Assumptions) -> Sample:
    rows: list[dict[str, Any]] = []
    tokens: dict[str, int] = {}
    templates: list[Template] = []
    bodies: dict[str, list[int]] = {}
    for number, group in enumerate(groups):
        made = _placeholders(entry.id, number, group, len(groups), len(rows))
        size = assumed.tokens(group.characters, group.language)
        tokens |= {str(row["text"]): size for row in made}
        ids = [int(row["text_id"]) for row in made]
        rows += made
        if group.field == "corpus.title":
            pairs = zip(ids, bodies[group.subset], strict=False)
            of_bodies = {b: t for t, b in pairs}
            templates = [_titled(t, of_bodies) for t in templates]
            continue
        bodies[group.subset] = ids
        role = group.side if group.side != "both" else "none"
        templates += [Template(role, ("", ""), (i,), strip=False) for i in ids]
    return Sample(
        dataset=entry.id,
        manifest=_manifest(entry),
        texts=_frame(rows),
        templates=templates,
        occurrences=sum(g.occurrences for g in groups),
        unique=sum(g.unique for g in groups),
        characters=sum(g.unique * g.characters for g in groups),
        how="estimated",
        basis=basis,
        tokens=tokens,
    )


def _titled(body: Template, title_of: dict[int, int]) -> Template:
    title = title_of.get(body.text_ids[0])
    if title is None:
        return body
    return Template(body.role, ("", " ", ""), (title, *body.text_ids), strip=True)


def _placeholders(dataset: str, number: int, group: Group, n_groups: int, start: int) -> list[dict[str, Any]]:
    """Return rows that stand for a group: a few texts, each as often as texts of the group occur in the mean.

    Titles are as many as bodies, so that each body has one; few different titles are used several times.
    """
    is_title = group.field == "corpus.title"
    budget = max(8, PLACEHOLDERS // n_groups)
    repeats = 1 if is_title else min(REPEATS, max(1, round(group.occurrences / group.unique)))
    n = int(min(group.occurrences, budget) if is_title else min(group.unique, max(8, budget // repeats)))
    n = max(1, n)
    names = max(1, round(n * group.unique / group.occurrences)) if is_title else n
    return [
        {
            "text_id": start + i * repeats + again,
            "subset": group.subset,
            "split": group.split,
            "field": group.field,
            "row": f"{i}-{again}",
            "position": 0,
            "side": group.side,
            "language": group.language,
            "text": f"{OPEN}{dataset} {number} {i % names}{CLOSE}",
            "weight": group.unique / names,
        }
        for i in range(n)
        for again in range(repeats)
    ]


def _translated(source: Sample, made: Translation, entry: DatasetEntry, assumed: Assumptions) -> Sample:
    """Return placeholders for a dataset that will be its source's texts in another language."""
    ratio = assumed.language(made.language).tokens
    texts = source.texts["text"].tolist()
    name = {t: f"{OPEN}{entry.id} {i}{CLOSE}" for i, t in enumerate(dict.fromkeys(texts))}
    language = source.languages
    tokens = {
        name[t]: max(
            1,
            round(
                (source.tokens.get(t) or assumed.tokens(len(t), language[t]))
                * ratio
                / assumed.language(language[t]).tokens
            ),
        )
        for t in name
    }
    frame = source.texts.assign(text=[name[t] for t in texts], language=made.language)
    return Sample(
        dataset=entry.id,
        manifest=_manifest(entry),
        texts=frame,
        templates=source.templates,
        occurrences=source.occurrences,
        unique=source.unique,
        characters=source.characters,
        how="estimated",
        basis=f"its source {made.source}: {source.basis}",
        tokens=tokens,
    )


def _manifest(entry: DatasetEntry) -> dict[str, Any]:
    """Return what the manifest of a dataset will say, as far as a forecast needs it."""
    return {**declared(entry), "languages": {s: list(entry.languages.get(s, ["und"])) for s in entry.subsets}}


def _frame(rows: list[dict[str, Any]]) -> pd.DataFrame:
    import pandas as pd

    return pd.DataFrame(rows)
