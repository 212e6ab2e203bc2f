"""Catalogue entries: everything that changes a cell is part of an entry named in its path."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from stressbed.config.model import Strict
from stressbed.config.planted import Planted
from stressbed.config.values import MOST_RESAMPLES, GivenLabel, Id, Label, Seed, SourcePath

TaskType = Literal[
    "Classification",
    "MultilabelClassification",
    "Clustering",
    "PairClassification",
    "Reranking",
    "Retrieval",
    "STS",
    "STR",
    "Summarization",
    "BitextMining",
]
Axis = Literal["lexical_stylistic", "length", "language"]
Engine = Literal["transformers", "vllm", "openai", "fake", "planted"]
Backend = Literal[
    "sentence-transformers", "mteb", "tf", "tfidf-svd", "bm25", "random", "wordllama", "openai", "planted"
]  # fmt: skip
FITTED = frozenset({"tf", "tfidf-svd", "bm25"})
"""Backends whose vectors hang on the dataset they are fitted on."""

Dtype = Literal["auto", "float32", "float16", "bfloat16"]
Guided = Literal["auto", "structured_outputs", "json_schema", "none"]
Attention = Literal["eager", "sdpa", "flash_attention_2"]
FileFormat = Literal["table", "lee", "fasttext"]
Question = Literal["rewording", "shorter", "longer", "language", "mixed"]
"""What users do to texts, and a run's recommendation answers."""


class TranslateDataset(Strict):
    """Where a translated dataset comes from; its language is the one under `languages`."""

    source: Id = Field(description="Dataset whose texts are translated; it need not be part of the run.")
    generator: Id = Field(description="The LLM that translates; not `auto`.")
    transformation: Id = Field(
        default="translation",
        description="Whose prompt, limits and fallback rules are used; its `pool` is not.",
    )
    seed: Seed = Field(default=1337, description="Seed, where the generator samples.")


class Evaluation(Strict):
    """How a dataset's scores are made where it is not mteb's way; its metrics stay mteb's."""

    pool_subsets: bool = Field(
        default=False,
        description=(
            "Put the rows of all subsets into one table, so that there is one score over all rows instead of "
            "the mean over subsets (STS, STR, PairClassification)."
        ),
    )
    training_rows: Literal["sampled", "all"] = Field(
        default="sampled",
        description=(
            "What a classifier is fitted on. `sampled`: a few rows of each class, several times (mteb). "
            "`all`: all training rows, once."
        ),
    )


class DatasetEntry(Strict):
    """A dataset: an mteb task at a fixed revision, local files plus a task type, or a translation."""

    id: Id = Field(description="Name in run configs and paths.")
    task: str | None = Field(default=None, description="mteb task name; leave out for local files.")
    revision: str | None = Field(default=None, description="Revision of the task's data (mteb tasks).")
    files: dict[str, SourcePath] = Field(
        default={},
        description=(
            "Local files (CSV, JSONL, Parquet) by table: `train`, `test`, `corpus`, `queries`, `qrels`, "
            "`top_ranked`. Relative to the catalogue file. `package:NAME/PATH` names a file inside an "
            "installed package."
        ),
    )
    format: FileFormat = Field(
        default="table",
        description=(
            "How local files are laid out. `table`: rows with named columns. `lee`: `corpus` has one "
            "document a line, `ratings` a tab-separated matrix with a rating of every pair. `fasttext`: "
            "`all` has lines `__label__NAME text`, split into halves for train and test."
        ),
    )
    encoding: str = Field(
        default="utf-8", description="Encoding of local text files, by Python's name (`cp1252`, `latin-1`)."
    )
    columns: dict[str, str | dict[str, str]] = Field(
        default={},
        description=(
            "Your column for each standard column (`text`, `label`, `sentence1`, ...); where tables differ, "
            "by table: `{train: {text: body}, test: {text: words}}`."
        ),
    )
    translate_dataset: TranslateDataset | None = Field(
        default=None,
        description=(
            "Makes this the same items as another dataset's in another language, translated once. Labels, "
            "ids and limits are the source's; task type, main score, subsets and splits must agree with it."
        ),
    )
    task_type: TaskType = Field(description="mteb's task type; STR is STS on relatedness data.")
    subsets: list[str] = Field(
        default=["default"], description="Subsets that are evaluated (mteb's hf_subsets)."
    )
    splits: list[str] = Field(default=["test"], description="Splits that are evaluated.")
    languages: dict[str, list[str]] = Field(
        description="Languages of each subset, as ISO 639-3 plus script (`eng-Latn`)."
    )
    field_languages: dict[str, dict[str, str]] = Field(
        default={},
        description="Where the two sides of a subset differ: subset -> field -> language.",
    )
    main_score: str = Field(description="mteb's main score of the task.")
    evaluation: Evaluation | None = Field(
        default=None, description="Another reading of the task than mteb's, if any."
    )
    row_limit: int | None = Field(
        default=None,
        gt=0,
        description="Keep at most so many rows of each table (queries for retrieval, documents for `lee`).",
    )
    corpus_sample: int | None = Field(
        default=None,
        ge=0,
        description=(
            "Of the documents that no query judges keep so many, drawn at random (Retrieval, Reranking); "
            "those that queries judge or rerank stay. Fewer documents are an easier task."
        ),
    )
    max_words: int | None = Field(
        default=None,
        gt=0,
        description="Leave out longer texts, before `row_limit` counts (formats `lee`, `fasttext`).",
    )
    max_score: float | None = Field(default=None, description="Top of the rating scale (STS, STR, local).")
    min_score: float | None = Field(default=None, description="Bottom of the rating scale.")
    licence: str = Field(default="unknown", description="Licence of the data.")
    gated: bool = Field(default=False, description="Whether the hub asks for an agreement first.")
    n_texts: int | None = Field(
        default=None, description="Distinct texts of the evaluated splits, where known."
    )
    description: str = Field(default="", description="What it is and where it comes from.")

    def column(self, table: str, standard: str) -> str:
        """Return the user's name of a standard column of a table."""
        for names in (self.columns.get(table), self.columns):
            if isinstance(names, dict) and isinstance(found := names.get(standard), str):
                return found
        return standard


class ModelSource(Strict):
    """Where a model's files come from: hub id, folder, or an installed package."""

    model: SourcePath = Field(
        description=(
            "Hub id, folder, endpoint's model name, or `package:NAME/PATH` inside an installed package."
        )
    )
    revision: str | None = Field(default=None, description="Pinned revision (hub) or version (package).")
    gguf_file: SourcePath | None = Field(default=None, description="GGUF file inside `model`, if it is one.")
    licence: str = Field(default="unknown", description="Licence of the model.")
    gated: bool = Field(default=False, description="Whether the hub asks for an agreement first.")
    parameters: int | None = Field(default=None, description="Number of parameters.")
    trust_remote_code: bool = Field(default=False, description="Run code that comes with the model.")


class Sampling(Strict):
    """How a generator draws its tokens."""

    temperature: float = Field(default=0.0, ge=0, description="0 is greedy.")
    top_p: float = Field(default=1.0, gt=0, le=1, description="Nucleus.")


class Limits(Strict):
    """Output limit of a request, relative to its input, in tokens."""

    factor: float = Field(default=2.0, gt=0, description="Output tokens per input token.")
    minimum: int = Field(default=64, gt=0, description="At least so many.")
    maximum: int = Field(default=512, gt=0, description="At most so many.")
    expansion_factor: float = Field(default=4.0, gt=0, description="`factor` for expanding steps.")


class RetryRule(Strict):
    """What happens to an empty output or one cut at the token limit."""

    attempts: int = Field(default=1, ge=0, le=4, description="Further attempts after the first.")
    limit_factor: float = Field(default=2.0, ge=1, description="Larger output limit from attempt 2 on.")
    temperature: float = Field(default=0.7, ge=0, description="Temperature from attempt 3 on.")


class MarkPair(Strict):
    """Two marks around a part of an answer, as they stand there."""

    open: str = Field(min_length=1, description="The opening mark, with its line break where it has one.")
    close: str = Field(min_length=1, description="The closing mark; may be a blank line.")


class GeneratorEntry(ModelSource):
    """An LLM that rewrites texts."""

    id: Id = Field(description="Name in run configs and paths.")
    label: Label = Field(default="", description="Name in tables and figures.")
    engine: Engine = Field(description="Which engine runs it.")
    dtype: Dtype = Field(
        default="float32",
        description="Number type of weights and activations; `auto`: as the model's files say.",
    )
    quantization: str | None = Field(default=None, description="Quantisation, if any.")
    sampling: Sampling = Field(default=Sampling(), description="Temperature and top_p.")
    limits: Limits = Field(default=Limits(), description="Output limits.")
    retry: RetryRule = Field(default=RetryRule(), description="Retries.")
    context: int = Field(default=8192, gt=0, description="Longest prompt plus output, in tokens.")
    batch_size: int = Field(default=64, gt=0, description="Requests per batch: the unit of resumption.")
    base_url: str | None = Field(default=None, description="Endpoint (engine `openai`).")
    api_key_env: str | None = Field(
        default=None, description="Name of the environment variable that holds the endpoint's key."
    )
    concurrency: int = Field(default=8, gt=0, description="Requests in flight (engine `openai`).")
    price_in: float | None = Field(default=None, ge=0, description="Price per million input tokens.")
    price_out: float | None = Field(default=None, ge=0, description="Price per million output tokens.")
    spending_cap: float | None = Field(default=None, ge=0, description="Stop before this is exceeded.")
    gpus_per_job: int | None = Field(
        default=None,
        gt=0,
        description=(
            "GPUs of a job (engines `vllm`, `transformers`): a copy of the model on each, or on each "
            "`tensor_parallel_size` x `pipeline_parallel_size` of them. Default: one copy."
        ),
    )
    engine_options: dict[str, str | int | float | bool | None] = Field(
        default={},
        description=(
            "Options of the engine (docs/engines.md lists them) and, with `template_` before their names, of "
            "the chat template; the marks of `planted`. For engine `openai`, null for `temperature`, `top_p` "
            "or `seed` leaves it out of the requests."
        ),
    )
    guided: Guided = Field(
        default="auto",
        description=(
            "How an endpoint (engine `openai`) is told that a judge's answer must be a rating: "
            "`structured_outputs` (vLLM's own field), `json_schema` (`response_format`), or `none`. `auto`: "
            "`none` for endpoints; the other engines guide by themselves, and `none` keeps them from it."
        ),
    )
    chat_template: bool = Field(default=True, description="False for a base model without one.")
    thinking_marks: list[MarkPair] = Field(
        default=[],
        description=(
            "Marks around its thinking that post-processing does not know yet (docs/transformations.md): "
            "what they enclose is taken off."
        ),
    )
    answer_marks: list[MarkPair] = Field(
        default=[],
        description="Marks around its answer that are not known yet; what they enclose is the answer.",
    )
    description: str = Field(default="", description="What it is.")


class PromptEntry(Strict):
    """A prompt template; `{target_language}` is filled, the text follows after a blank line."""

    id: Id = Field(description="Name in transformations.")
    template: str = Field(description="The words, verbatim.")
    role: Literal["user", "system"] = Field(default="user", description="Role of the message.")
    separator: str = Field("\n\n", description="Between the template and the text.")
    source: str = Field(description="Where the words come from.")


class Step(Strict):
    """One LLM call of a transformation."""

    prompt: Id = Field(description="Prompt of this call.")
    language: Literal["source", "target", "intermediate"] = Field(
        description="What fills `{target_language}`."
    )
    expands: bool = Field(default=False, description="Whether the output is longer than the input.")


class FlagThresholds(Strict):
    """Numbers of the error flags' rules; the defaults are the paper's where it gives one."""

    runaway: float = Field(
        default=5.0, gt=0, description="More output words per input word than this are a runaway."
    )
    truncated: float = Field(
        default=0.2, ge=0, le=1, description="A smaller share of the input's words is truncated."
    )
    truncated_from: int = Field(
        default=3, ge=0, description="Only inputs with more words than this can be truncated."
    )
    language_ratio: float = Field(
        default=3.0, ge=1, description="Another language must be so many times likelier to be wrong."
    )
    language_letters: int = Field(
        default=12, ge=0, description="Outputs with fewer letters are not judged by language."
    )
    excuse_input: bool = Field(
        default=True,
        description=(
            "What the input holds too is no leak: a marker, a label or `{`, `[` at its start. `false`: the "
            "paper's words, which look at the output alone."
        ),
    )


class TransformationEntry(Strict):
    """A transformation in its axis."""

    id: Id = Field(description="Name in run configs and paths.")
    label: GivenLabel = Field(description="Name in tables and figures.")
    axis: Axis = Field(description="Axis it belongs to.")
    steps: list[Step] = Field(min_length=1, max_length=2, description="One or two LLM calls.")
    draw: Literal["none", "dataset", "subset", "text"] = Field(
        default="none",
        description=(
            "Whether a language is drawn once per dataset, once per subset or for each text. A text that may "
            "not have the dataset's language takes the next one of the draw."
        ),
    )
    pool: list[str] = Field(default=[], description="Languages that may be drawn.")
    exclude: Literal["none", "source", "row", "subset"] = Field(
        default="none",
        description=(
            "Languages that may not be drawn: the text's own, those of its row (both sides of a pair), or "
            "all of the subset."
        ),
    )
    fields: Literal["all", "queries", "documents"] = Field(default="all", description="Texts it touches.")
    kind: Literal["rewrite", "summarise", "expand"] = Field(
        default="rewrite", description="Which length rules apply to its outputs."
    )
    on_empty: Literal["original", "drop"] = Field(default="original", description="After all retries.")
    on_cut: Literal["keep", "original", "drop"] = Field(default="keep", description="After all retries.")
    on_too_long: Literal["original", "drop"] = Field(
        default="original", description="When the prompt does not fit the model."
    )
    flag_thresholds: FlagThresholds = Field(
        default=FlagThresholds(), description="Numbers of the error flags' rules."
    )
    question: Question | Literal["none"] | None = Field(
        default=None,
        description=(
            "Which question of the `recommendation` it answers: `rewording`, `shorter`, `longer`, "
            "`language` (one for all texts), `mixed` (one for each text), `none`. By default, on the axis "
            "`length` with one step: `longer` if it expands, `shorter` for `kind: summarise`; on the axis "
            "`language` by `draw`: `mixed` for `text`, else `language`; all others none."
        ),
    )
    order: int = Field(default=0, description="Place in tables and figures.")
    task: str = Field(
        default="",
        description=(
            "What a rater, human or LLM, is told that was to be done, as one sentence; may name "
            "`{source_language}` and `{target_language}`."
        ),
    )


class MarkersEntry(Strict):
    """What a generator writes, in one language, when it talks about its work instead of doing it."""

    id: Id = Field(description="Name of the list.")
    languages: list[str] = Field(min_length=1, description="Languages that it is written in.")
    reasoning: list[str] = Field(
        default=[],
        description="Regular expressions of reasoning, anywhere in an output; case does not matter.",
    )
    prefixes: list[str] = Field(
        default=[],
        description="Regular expressions of labels that an output begins with, without their colon.",
    )
    refusals: list[str] = Field(
        default=[],
        description="Regular expressions of what an output begins with that gives no rewrite but says so.",
    )
    spaces: bool = Field(
        default=True,
        description="Whether spaces stand between words, so that a marker is not part of a longer word.",
    )
    source: str = Field(description="Where the words come from.")


class JudgePromptEntry(Strict):
    """What an LLM that rates rewrites is asked; the answer is one number of the scale."""

    id: Id = Field(description="Name in selections.")
    version: int = Field(default=1, ge=1, description="Raise it when the words change.")
    template: str = Field(
        description=(
            "The words. `{task}`, `{original}` and `{rewrite}` must stand in it; `{source_language}` and "
            "`{target_language}` may."
        )
    )
    role: Literal["user", "system"] = Field(default="user", description="Role of the message.")
    scale: list[int] = Field(default=[1, 2, 3, 4, 5], min_length=2, description="Ratings, worst first.")
    max_tokens: int = Field(
        default=16, gt=0, description="Output limit where the engine cannot guide the answer."
    )
    source: str = Field(description="Where the words come from.")


class SelectionEntry(Strict):
    """How a generator is chosen: candidates, screening data, shortlist, judges."""

    id: Id = Field(description="Name in run configs and paths.")
    candidates: list[Id] = Field(min_length=2, description="Generators to choose from.")
    dataset: Id = Field(description="Dataset whose texts every candidate rewrites.")
    rows: int | None = Field(
        default=None, gt=0, description="Screen so many rows (pairs, documents, ...) only, drawn at random."
    )
    sample_seed: Seed = Field(default=0, description="Seed of that draw.")
    transformations: list[Id] = Field(min_length=1, description="Transformations that are screened.")
    seed: Seed = Field(default=1337, description="Seed of the rewriting.")
    shortlist: int = Field(
        default=5, ge=2, description="So many candidates with the lowest error rates judge each other."
    )
    judges: list[Id] = Field(default=[], description="Generators that judge beside the shortlist.")
    judge_prompt: Id = Field(description="Prompt of the judges.")
    rating: Literal["choice", "expected"] = Field(
        default="choice",
        description=(
            "`choice`: the number that the judge answers. `expected`: the mean of the scale under its "
            "token probabilities, where the engine gives them."
        ),
    )
    resamples: int = Field(default=10_000, ge=100, le=MOST_RESAMPLES, description="Bootstrap resamples.")
    alpha: float = Field(default=0.05, gt=0, lt=1, description="Level of intervals and letters.")
    description: str = Field(default="", description="What it is.")


class EmbedderEntry(ModelSource):
    """A model under test."""

    id: Id = Field(description="Name in run configs and paths.")
    label: Label = Field(default="", description="Name in tables and figures.")
    family: str = Field(default="", description="Family of models that differ in size only, if any.")
    backend: Backend = Field(description="How it is loaded.")
    dtype: Dtype = Field(
        default="float32",
        description="Number type of weights; `auto`: as the model's files or mteb's loader say.",
    )
    max_length: int | None = Field(default=None, gt=0, description="Longest input in tokens.")
    pooling: str | None = Field(default=None, description="Pooling, where it is not the model's own.")
    normalise: bool = Field(
        default=False,
        description=("Scale vectors to length 1, in float32. `false`: they stay as their loader gives them."),
    )
    instructions: dict[str, str] = Field(
        default={},
        description=(
            "Instruction put before a text, by `TASK:ROLE`, `TASK`, `TYPE:ROLE`, `TYPE`, or role "
            "(`query`, `document`); the most specific wins."
        ),
    )
    prompts: Literal["shipped"] | None = Field(
        default=None,
        description=(
            "`shipped`: the prompts that the model's own files bring stand before its texts, chosen by role "
            "and task type, and there are no `instructions` (backend `sentence-transformers`)."
        ),
    )
    similarity: Literal["cosine", "dot"] | None = Field(
        default=None,
        description="Similarity function. Default: the one that the model names, cosine where it names none.",
    )
    dimensions: int | None = Field(
        default=None, gt=0, le=1_000_000, description="Size of its vectors, where it is a choice."
    )
    batch_size: Annotated[int, Field(gt=0)] | Literal["auto"] = Field(
        default=64,
        description=(
            "Texts per batch and GPU; not part of its identity. `auto`: the most up to 512 that fit the "
            "GPU's memory, found by trying; 64 without a GPU."
        ),
    )
    gpus_per_job: int | None = Field(
        default=None, gt=0, description="GPUs of a job, a copy of the model on each. Default: 1."
    )
    attention: Attention | None = Field(
        default=None,
        description=(
            "Attention kernel; not part of its identity. Default: the library's choice. `flash_attention_2` "
            "needs the package flash-attn, a GPU and a `dtype` of 16 bits."
        ),
    )
    base_url: str | None = Field(default=None, description="Endpoint (backend `openai`).")
    api_key_env: str | None = Field(
        default=None, description="Name of the environment variable that holds the endpoint's key."
    )
    endpoint_options: dict[str, int | float] = Field(
        default={},
        description=(
            "How patient to be with an endpoint (backend `openai`): `timeout_s`, `tries`, `wait_scale`, "
            "`longest_wait_s`, `concurrency`; not part of its identity."
        ),
    )
    planted: Planted | None = Field(default=None, description="Its noise (backend `planted`).")
    languages: list[str] = Field(default=[], description="Languages it was trained on.")
    description: str = Field(default="", description="What it is.")


NOT_IDENTITY: dict[str, frozenset[str]] = {
    "dataset": frozenset({"id", "licence", "gated", "n_texts", "description", "translate_dataset"}),
    "generator": frozenset(
        {
            "id", "label", "licence", "gated", "parameters", "batch_size", "base_url", "api_key_env",
            "concurrency", "price_in", "price_out", "spending_cap", "description", "limits",
            "retry", "context", "guided", "gpus_per_job", "thinking_marks", "answer_marks",
        }
    ),
    "transformation": frozenset({"id", "label", "axis", "order", "task", "flag_thresholds", "question"}),
    "embedder": frozenset(
        {
            "id", "label", "family", "licence", "gated", "parameters", "batch_size", "base_url",
            "api_key_env", "endpoint_options", "languages", "description", "gpus_per_job", "attention",
        }
    ),
}  # fmt: skip
"""Fields of an entry that never decide a value.

A generator's limits and retries decide which requests are made, so they are part of the
requests' own identity and of the generate rule's params, not of the engine's. `thinking_marks` and
`answer_marks` decide what is read from an answer: they stand in those params. The same holds for
`guided`: it decides ratings only, so it stands in the identity of requests with choices. Of
`engine_options` those count that decide answers (`engine_options.deciding`). What
`translate_dataset` names is part of a translated dataset's identity (`Plan.dataset_identity`). A
transformation's `flag_thresholds` decide flags, not texts: they stand in the transform rule's params.
"""

IDENTITY_IF_SET: dict[str, frozenset[str]] = {
    "embedder": frozenset({"planted", "prompts"}),
    "dataset": frozenset({"corpus_sample", "evaluation"}),
}
"""Fields that are part of an identity only where they are set: those without them keep theirs."""
