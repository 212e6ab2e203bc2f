"""The run config: one strict model from which the schema and the manual are generated."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from stressbed.config.values import MOST_RESAMPLES, Colour, FilePath, GivenLabel, Id, Label, Seed, Words


class Strict(BaseModel):
    """A model that refuses unknown keys, values of another type and infinity, and cannot be changed."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)


JobAxis = Literal["embedder", "dataset", "variant"]
GenerateAxis = Literal["dataset", "generator"]


def _listed(value: object) -> object:
    """Return a list of one for a single name or number, as `--config seeds=1` gives it."""
    return [value] if isinstance(value, str | int) and not isinstance(value, bool) else value


def _whole(value: object) -> object:
    """Return a number for its digits: within `--config 'seeds=[1, 2]'` Snakemake leaves them as text."""
    return int(value) if isinstance(value, str) and value.isascii() and value.isdigit() else value


Listed = BeforeValidator(_listed)
ListedIds = Annotated[list[Id], BeforeValidator(_listed, json_schema_input_type=list[Id] | Id)]


AUTO = "auto"
"""The generator that a selection chooses."""


class LabelPreservation(Strict):
    """A study of whether a rewritten pair keeps its similarity, on rated pairs of texts."""

    dataset: Id = Field(description="An STS dataset of the run.")
    transformations: list[Id] = Field(
        default=["paraphrasing", "summarised_expansion", "translation"],
        min_length=1,
        description="Transformations whose pairs are rated.",
    )
    pairs: int = Field(default=50, gt=0, description="Pairs that are drawn per transformation.")
    raters: int = Field(default=2, ge=1, description="Fewest raters per pair.")


class HumanStudy(Strict):
    """Ratings by people: what goes onto the sheets, and where the filled ones lie."""

    per_transformation: int = Field(
        default=100,
        gt=0,
        description=(
            "Rewrites drawn per transformation; Translation and Cross-Translation are pooled, so they give "
            "twice as many, stratified by target language."
        ),
    )
    seed: Seed = Field(default=0, description="Seed of the draw and of the order on the sheets.")
    source_languages: Annotated[list[str], Listed] = Field(
        default=[], description="Only texts in these languages; all by default."
    )
    raters: int = Field(default=3, ge=1, description="Fewest raters per item.")
    threshold: float = Field(
        default=3.0, ge=1, le=5, description="A transformation with a lower mean rating is not accepted."
    )
    label_preservation: LabelPreservation | None = Field(
        default=None, description="Also sheets on whether pairs keep their similarity."
    )
    drift_embedder: Id | None = Field(
        default=None, description="Embedder of the drift; the run's first one by default."
    )
    ratings: Annotated[list[FilePath], Listed] = Field(
        default=[], description="Filled sheets: files, or folders of them. Without any, sheets are written."
    )
    resamples: int = Field(default=10_000, ge=100, le=MOST_RESAMPLES, description="Bootstrap resamples.")


class Setting(Strict):
    """Datasets that are analysed together, and the embedders that they are run with."""

    label: Label = Field(default="", description="Name in tables and figures; the setting's id by default.")
    datasets: ListedIds = Field(description="Datasets of the run; each belongs to one setting.")
    embedders: ListedIds = Field(
        default=[], description="Embedders of the run that have cells in this setting; all by default."
    )


class Analysis(Strict):
    """How the statistics are made."""

    shift_unit: Literal["dataset", "dataset_embedder"] = Field(
        default="dataset",
        description=(
            "Observations of the shifts: the mean delta of a dataset over embedders (the paper's), or every "
            "dataset x embedder, which are not independent of each other."
        ),
    )
    halves: int = Field(
        default=1000, ge=10, le=MOST_RESAMPLES, description="Random splits of the split-half reliability."
    )
    resamples: int = Field(default=2000, ge=100, le=MOST_RESAMPLES, description="Bootstrap resamples.")
    seed: Seed = Field(default=0, description="Seed of both.")


class RunConfig(Strict):
    """One run: which cells exist and where their results go."""

    run: Id = Field(description="Name of the run; its outputs go to `<results>/runs/<run>/`.")
    description: Words = Field(default="", description="A sentence for the report.")
    results: FilePath = Field(
        default="results", description="Folder of all results, relative to the working directory."
    )
    catalogue: Annotated[list[FilePath], Listed] = Field(
        default=[],
        description=(
            "Folders or files with catalogue entries of your own; they are read after `config/catalogue`."
        ),
    )
    selection: Id | None = Field(
        default=None,
        description=(
            "Catalogue id of the selection that `generator: auto` stands for. A run with a selection and "
            "nothing else only makes the selection."
        ),
    )
    datasets: Annotated[list[Id], Listed] = Field(default=[], description="Catalogue ids of datasets.")
    embedders: Annotated[list[Id], Listed] = Field(default=[], description="Catalogue ids of embedders.")
    generator: ListedIds = Field(
        default=[],
        description=(
            "Catalogue id of the generator, or a list of ids; `auto` for the winner of the `selection`."
        ),
    )
    transformations: Annotated[list[Id], Listed] = Field(
        default=[], description="Catalogue ids of transformations."
    )
    seeds: Annotated[list[Annotated[Seed, BeforeValidator(_whole)]], Listed] = Field(
        default=[],
        description="Seeds of the rewriting: drawn languages, and sampling where temperature > 0.",
    )
    settings: dict[Id, Setting] = Field(
        default={},
        description=(
            "Parts of the run with tables of their own, by name, as the paper's English and multilingual "
            "setting. Without any, all datasets are one."
        ),
    )
    analysis: Analysis = Field(
        default=Analysis(), description="Units, splits and resamples of the statistics."
    )
    human: HumanStudy | None = Field(
        default=None, description="A study with human raters, made after the rewriting."
    )
    job_axes: Annotated[list[JobAxis], Listed] = Field(
        default=["embedder", "dataset"],
        description="Axes along which `embed` and `score` are cut into jobs.",
    )
    generate_job_axes: Annotated[list[GenerateAxis], Listed] = Field(
        default=["dataset", "generator"],
        description="Axes along which `generate` and `transform` are cut into jobs.",
    )
    fallback_mark: float = Field(
        default=0.01,
        ge=0,
        le=1,
        description="Share of texts, fallbacks or left out, above which a cell is marked in the tables.",
    )
    notice: Words = Field(default="", description="First lines of the report: what a reader must know.")
    labels: dict[str, GivenLabel] = Field(
        default={}, description="Names shown in tables and figures, by catalogue id."
    )
    colours: dict[str, Colour] = Field(default={}, description="Colours in figures, by catalogue id (hex).")
