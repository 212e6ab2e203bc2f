"""Bring what a run needs while there is a network; the run then works with the hub switched off."""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from stressbed import paths
from stressbed.errors import DataError, StressbedError
from stressbed.sources import PACKAGE

if TYPE_CHECKING:
    from stressbed.config.entries import DatasetEntry, EmbedderEntry, GeneratorEntry, ModelSource
    from stressbed.config.load import Plan

log = logging.getLogger("stressbed")

Kind = Literal["dataset", "embedder", "generator"]
Place = Literal["hub", "package", "folder", "endpoint", "built-in"]

BUILT_IN = frozenset({"tf", "tfidf-svd", "bm25", "random", "planted"})
"""Embedder backends without weights of their own."""

ENGINES_BUILT_IN = frozenset({"fake", "planted"})
"""Engines without a model."""

_NON_COMMERCIAL = re.compile(r"(^|[-_ ])nc([-_ ]|$)|non-?commercial|research[- ]only", re.IGNORECASE)


@dataclass(frozen=True)
class Requirement:
    """Something that a run needs.

    Attributes:
        kind: `dataset`, `embedder` or `generator`.
        id: Catalogue id.
        place: Where it comes from; only `hub` needs a network.
        name: Hub id, folder, package or endpoint.
        revision: Pinned revision.
        licence: Licence as the catalogue says.
        gated: Whether the hub asks for an agreement first.
        non_commercial: Whether the licence forbids commercial use, by its name.
    """

    kind: Kind
    id: str
    place: Place
    name: str
    revision: str | None
    licence: str
    gated: bool
    non_commercial: bool

    def __str__(self) -> str:
        """Return one line for the list."""
        marks = [m for m, on in (("GATED", self.gated), ("NON-COMMERCIAL", self.non_commercial)) if on]
        at = f" at {self.revision}" if self.revision else ""
        line = f"{self.kind} {self.id}: {self.place} {self.name}{at}, licence {self.licence}"
        return f"{' '.join(marks)} {line}" if marks else line


def forbids_commercial_use(licence: str) -> bool:
    """Return whether a licence's name says that commercial use is not allowed (`cc-by-nc-4.0`)."""
    return _NON_COMMERCIAL.search(licence) is not None


def requirements(plan: Plan) -> list[Requirement]:
    """Return everything that a run needs: gated first, then non-commercial, then the rest by kind and id."""
    found = list(_requirements(plan))
    kinds = ("dataset", "embedder", "generator")
    return sorted(found, key=lambda r: (not r.gated, not r.non_commercial, kinds.index(r.kind), r.id))


def _requirements(plan: Plan) -> Iterator[Requirement]:
    config, catalogue = plan.config, plan.catalogue
    for name in plan.datasets:
        dataset = catalogue.datasets[name]
        if dataset.translate_dataset is not None:
            continue  # made here, of its source, by its generator: both are in these lists
        place: Place = "hub" if dataset.task else "package" if _is_packaged(dataset) else "folder"
        where = _hub_path(dataset) if dataset.task else ", ".join(dataset.files.values())
        yield _requirement("dataset", dataset, place, where)
    for name in dict.fromkeys(config.embedders):
        embedder = catalogue.embedders[name]
        place = "built-in" if embedder.backend in BUILT_IN else _place(embedder, embedder.backend, plan.base)
        yield _requirement("embedder", embedder, place, embedder.model)
    for name in plan.generators:
        generator = catalogue.generators[name]
        built_in = generator.engine in ENGINES_BUILT_IN
        place = "built-in" if built_in else _place(generator, generator.engine, plan.base)
        yield _requirement("generator", generator, place, generator.model)


def _requirement(
    kind: Kind, entry: DatasetEntry | EmbedderEntry | GeneratorEntry, place: Place, name: str
) -> Requirement:
    return Requirement(
        kind=kind,
        id=entry.id,
        place=place,
        name=name,
        revision=entry.revision,
        licence=entry.licence,
        gated=entry.gated,
        non_commercial=forbids_commercial_use(entry.licence),
    )


def _is_packaged(entry: DatasetEntry) -> bool:
    return all(f.startswith(PACKAGE) for f in entry.files.values())


def _hub_path(entry: DatasetEntry) -> str:
    """Return the repository of a task's data."""
    from stressbed.dataset.thaw import mteb_task

    return str(mteb_task(str(entry.task), entry.revision).metadata.dataset["path"])


def _place(source: ModelSource, backend: str, base: Path) -> Place:
    if backend == "openai":
        return "endpoint"
    if source.model.startswith(PACKAGE):
        return "package"
    return "folder" if (base / Path(source.model).expanduser()).exists() else "hub"


def prefetch(plan: Plan) -> None:
    """Bring the datasets, model weights, tokenizers and model code that a run needs.

    Datasets are frozen into the store, models go to the hub client's cache (`HF_HOME`). What is
    there already is not brought again. One failure does not keep the others from coming.

    Raises:
        DataError: Something could not be had; all failures are named.
    """
    needed = requirements(plan)
    for requirement in needed:
        level = logging.WARNING if requirement.gated or requirement.non_commercial else logging.INFO
        log.log(level, "%s", requirement)
    problems: list[StressbedError] = []
    for number, requirement in enumerate(needed, 1):
        if requirement.place != "hub":
            continue
        log.info("[%d/%d] %s %s", number, len(needed), requirement.kind, requirement.id)
        try:
            _bring(requirement, plan)
        except StressbedError as e:
            log.error("%s", e)  # noqa: TRY400  # its message says all; a trace would hide it
            problems.append(e)
    if len(problems) == 1:
        raise problems[0]
    if problems:
        listed = "\n".join(f"{i}. {p.message()}" for i, p in enumerate(problems, 1))
        raise DataError(f"{len(problems)} things that the run needs could not be brought\n{listed}")


def _bring(requirement: Requirement, plan: Plan) -> None:
    if requirement.kind == "dataset":
        bring_dataset(plan.catalogue.datasets[requirement.id], plan)
    elif requirement.kind == "embedder":
        bring_model(plan.catalogue.embedders[requirement.id], plan)
    else:
        bring_model(plan.catalogue.generators[requirement.id], plan)


def bring_dataset(entry: DatasetEntry, plan: Plan) -> None:
    """Freeze an mteb task into the store, unless it is there."""
    from stressbed.dataset.freeze import freeze_into_store

    freeze_into_store(entry, plan.results / paths.STORE)


def bring_model(source: ModelSource, plan: Plan) -> None:
    """Download a model at its pinned revision, and code that its config names in other repositories."""
    from stressbed.dataset.hub import hub_errors
    from stressbed.dataset.quiet import quiet

    quiet()
    from huggingface_hub import snapshot_download

    from stressbed.models import model_folder

    with hub_errors(f"model {source.model} at {source.revision or 'main'}"):
        folder = model_folder(source, cache=plan.results / paths.STORE, folder=plan.base)
        if source.trust_remote_code:
            for repository in sorted(code_repositories(folder)):
                log.info("model code of %s", repository)
                snapshot_download(repository, allow_patterns=["*.py", "*.json"])


def code_repositories(folder: Path) -> set[str]:
    """Return other repositories whose code a config names (`auto_map: owner/name--file.Class`)."""
    found: set[str] = set()
    for path in sorted(folder.glob("*config.json")):
        content = json.loads(path.read_text(encoding="utf-8"))
        values = list((content.get("auto_map") or {}).values()) if isinstance(content, dict) else []
        flat = [v for value in values for v in (value if isinstance(value, list) else [value])]
        found |= {v.partition("--")[0] for v in flat if isinstance(v, str) and "--" in v}
    return found
