"""The run config: one strict model from which the schema and the manual are generated."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from stressbed.paths import ID_PATTERN


class Strict(BaseModel):
    """A model that refuses unknown keys and values of another type, and cannot be changed."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


Id = Annotated[str, Field(pattern=f"^{ID_PATTERN}$")]
Colour = Annotated[str, Field(pattern="^#[0-9A-Fa-f]{6}$")]
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


class RunConfig(Strict):
    """One run: which cells exist and where their results go."""

    run: Id = Field(description="Name of the run; its outputs go to `<results>/runs/<run>/`.")
    description: str = Field(default="", description="A sentence for the report.")
    results: str = Field(
        default="results", description="Folder of all results, relative to the working directory."
    )
    catalogue: Annotated[list[str], Listed] = Field(
        default=[],
        description=(
            "Folders or files with catalogue entries of your own; they are read after `config/catalogue`."
        ),
    )
    datasets: Annotated[list[Id], Listed] = Field(min_length=1, description="Catalogue ids of datasets.")
    embedders: Annotated[list[Id], Listed] = Field(min_length=1, description="Catalogue ids of embedders.")
    generator: ListedIds = Field(min_length=1, description="Catalogue id of the generator, or a list of ids.")
    transformations: Annotated[list[Id], Listed] = Field(
        min_length=1, description="Catalogue ids of transformations."
    )
    seeds: Annotated[list[Annotated[int, Field(ge=0), BeforeValidator(_whole)]], Listed] = Field(
        min_length=1,
        description="Seeds of the rewriting: drawn languages, and sampling where temperature > 0.",
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
        description="Share of fallbacks above which a cell is marked in the tables.",
    )
    notice: str = Field(default="", description="First lines of the report: what a reader must know.")
    labels: dict[str, str] = Field(
        default={}, description="Names shown in tables and figures, by catalogue id."
    )
    colours: dict[str, Colour] = Field(default={}, description="Colours in figures, by catalogue id (hex).")
