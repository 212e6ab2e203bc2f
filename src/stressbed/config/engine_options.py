"""Options of the engines, by name and type: what a generator's `engine_options` may hold.

An option decides either what a model answers (its longest prompt, the numbers of its cache), and is then
part of the generator's identity, or only where, how fast and in how much memory it answers. Options of
the second kind may differ between two machines that share their results.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from stressbed.errors import ConfigError, suggest

if TYPE_CHECKING:
    from stressbed.config.entries import GeneratorEntry

TEMPLATE = "template_"
"""Options with this prefix go to the chat template, whatever the engine."""


@dataclass(frozen=True)
class Option:
    """What one option may be.

    Attributes:
        type: Type of its values; a whole number also counts as a float.
        least: Smallest number.
        above: Numbers must be larger than this.
        most: Largest number.
        words: The only words that are allowed; empty for any.
        default: What holds where an entry does not say, for options that are not handed on to a library.
        decides: Whether it decides answers, and so is part of the generator's identity.
    """

    type: type
    least: float | None = None
    above: float | None = None
    most: float | None = None
    words: tuple[str, ...] = ()
    default: str | int | float | None = None
    decides: bool = False

    def allows(self, value: object) -> bool:
        """Return whether a value is of the option's type and within its bounds."""
        if self.type is float:
            if isinstance(value, bool) or not isinstance(value, int | float):
                return False
        elif type(value) is not self.type:
            return False
        if isinstance(value, str):
            return value in self.words if self.words else bool(value)
        assert isinstance(value, int | float)
        number = float(value)
        return (
            (self.least is None or number >= self.least)
            and (self.above is None or number > self.above)
            and (self.most is None or number <= self.most)
        )

    def allowed(self) -> str:
        """Return in words what is allowed."""
        if self.words:
            return ", ".join(self.words)
        name = {int: "a whole number", float: "a number", bool: "true or false", str: "a word"}[self.type]
        bounds = [
            f"{word} {value:g}"
            for word, value in (("above", self.above), ("from", self.least), ("up to", self.most))
            if value is not None
        ]
        return " ".join([name, *bounds])


COUNT = Option(int, least=1)
SWITCH = Option(bool)
SHARE = Option(float, least=0, most=1, decides=True)

VLLM: Mapping[str, Option] = {
    "tensor_parallel_size": COUNT,
    "pipeline_parallel_size": COUNT,
    "gpu_memory_utilization": Option(float, above=0, most=1),
    "max_model_len": Option(int, least=1, decides=True),
    "kv_cache_dtype": Option(
        str, words=("auto", "bfloat16", "fp8", "fp8_e4m3", "fp8_e5m2"), decides=True
    ),
    "enable_prefix_caching": SWITCH,
    "enable_chunked_prefill": SWITCH,
    "enforce_eager": SWITCH,
    "max_num_seqs": COUNT,
    "max_num_batched_tokens": COUNT,
    "block_size": COUNT,
    "cpu_offload_gb": Option(float, least=0),
    "disable_custom_all_reduce": SWITCH,
    "enable_expert_parallel": SWITCH,
    "language_model_only": SWITCH,
    "load_format": Option(str, decides=True),  # `dummy` draws the weights at random
    "tokenizer_mode": Option(str, decides=True),
    "attention_backend": Option(str),
    "guided_backend": Option(str, words=("auto", "xgrammar", "guidance", "outlines", "lm-format-enforcer")),
}  # fmt: skip
"""Options of vLLM. `attention_backend` and `guided_backend` stand within dictionaries of `vllm.LLM`."""

TRANSFORMERS: Mapping[str, Option] = {"device": Option(str), "cache_gib": Option(float, above=0)}
WAITING: Mapping[str, Option] = {
    "timeout_s": Option(float, above=0, default=120.0),
    "tries": Option(int, least=1, default=8),
    "wait_scale": Option(float, least=0, default=1.0),
    "longest_wait_s": Option(float, least=0, default=120.0),
}
"""How patient a connection is, for chat and embeddings: fields of `endpoint.connection.Patience`."""

OPENAI: Mapping[str, Option] = {
    **WAITING,
    "limit_field": Option(str, default="max_tokens", decides=True),
}
EMBEDDINGS: Mapping[str, Option] = {**WAITING, "concurrency": Option(int, least=1, default=4)}
"""`endpoint_options` of an embedder (backend `openai`). None decides a vector, so no identity holds them."""

FAKE: Mapping[str, Option] = {
    "empty_rate": SHARE, "cut_rate": SHARE, "nonsense_rate": SHARE, "log": Option(str),
}  # fmt: skip

OPTIONS: Mapping[str, Mapping[str, Option]] = {
    "vllm": VLLM, "transformers": TRANSFORMERS, "openai": OPENAI, "fake": FAKE,
}  # fmt: skip
"""Options by engine. `planted` has names of its own kind (`stressbed.config.planted`)."""

NOT_FOR_OPTIONS: Mapping[str, str] = {
    "model": "it is a key of the entry",
    "messages": "they are made from the texts",
    "stream": "answers are read as a whole",
    "n": "one answer is read",
}
"""Fields of a request's body that an entry of engine `openai` may not set by an option, and why."""

LEFT_OUT = ("temperature", "top_p", "seed")
"""Fields of a request's body that null as an option leaves out."""

QUANTIZATION = (
    "auto_awq", "auto_gptq", "awq", "awq_marlin", "compressed-tensors", "experts_int8", "fp8",
    "fp8_per_block", "fp8_per_channel", "fp8_per_tensor", "gptq", "gptq_marlin", "inc",
    "int8_per_channel_weight_only", "modelopt", "modelopt_fp4", "moe_wna16", "mxfp4", "mxfp8", "quark",
    "torchao",
)  # fmt: skip
"""vLLM's names of quantisations. A model whose files are quantised needs none: vLLM reads it from them."""


def deciding(engine: str, options: Mapping[str, object]) -> dict[str, object]:
    """Return the options that decide answers: those of a generator's identity.

    Args:
        engine: The entry's engine.
        options: The entry's `engine_options`.
    """
    known = OPTIONS.get(engine, {})
    return {name: value for name, value in options.items() if name not in known or known[name].decides}


def with_defaults(known: Mapping[str, Option], options: Mapping[str, object]) -> dict[str, Any]:
    """Return the value of each known option: the entry's, or the default."""
    return {name: options.get(name, option.default) for name, option in known.items()}


def gpus_of_copy(entry: GeneratorEntry) -> int:
    """Return how many GPUs one copy of the model is spread over: 1 unless vLLM is told otherwise."""
    if entry.engine != "vllm":
        return 1
    sizes = (entry.engine_options.get(f"{way}_parallel_size", 1) for way in ("tensor", "pipeline"))
    first, second = (n if isinstance(n, int) and n > 0 else 1 for n in sizes)
    return first * second


def check_options(entry: GeneratorEntry, where: str) -> Iterator[ConfigError]:
    """Yield an error for each option that the engine does not know or that has a wrong value."""
    known = OPTIONS.get(entry.engine)
    if known is None:
        return
    for name, value in entry.engine_options.items():
        place = f"{where}, engine_options, {name!r}"
        if name.startswith(TEMPLATE) and entry.engine in {"vllm", "transformers", "openai"}:
            if value is None:
                yield ConfigError("an option of the chat template is null", where=place, do="remove it")
        elif name in known:
            yield from _value(known[name], name, value, place)
        elif entry.engine == "openai":  # goes into the request's body: the endpoint knows it
            yield from _body_field(name, value, place)
        else:
            yield ConfigError(
                f"engine `{entry.engine}` has no option {name!r}",
                where=place,
                allowed=", ".join([*sorted(known), f"{TEMPLATE}..."]),
                do=suggest(name, known) or "remove it",
            )


def check_endpoint_options(options: Mapping[str, object], where: str) -> Iterator[ConfigError]:
    """Yield an error for each of an embedder's `endpoint_options` that is unknown or has a wrong value."""
    for name, value in options.items():
        place = f"{where}, endpoint_options, {name!r}"
        if name in EMBEDDINGS:
            yield from _value(EMBEDDINGS[name], name, value, place)
        else:
            yield ConfigError(
                f"an endpoint has no option {name!r}",
                where=place,
                allowed=", ".join(EMBEDDINGS),
                do=suggest(name, EMBEDDINGS) or "remove it",
            )


def _value(option: Option, name: str, value: object, place: str) -> Iterator[ConfigError]:
    if not option.allows(value):
        yield ConfigError(f"{value!r} is no value of {name!r}", where=place, allowed=option.allowed())


def _body_field(name: str, value: object, place: str) -> Iterator[ConfigError]:
    if name in NOT_FOR_OPTIONS:
        yield ConfigError(f"{name!r} is no option: {NOT_FOR_OPTIONS[name]}", where=place, do="remove it")
    elif value is None and name not in LEFT_OUT:
        yield ConfigError(
            f"null leaves nothing out here: no {name!r} is sent",
            where=place,
            allowed=f"null for {', '.join(LEFT_OUT)}",
            do="remove it",
        )


def check_gpus(entry: GeneratorEntry, where: str) -> Iterator[ConfigError]:
    """Yield what is wrong with the number of GPUs of a generator's job, and with its quantisation."""
    if entry.gpus_per_job is not None:
        copy = gpus_of_copy(entry)
        if entry.engine not in {"vllm", "transformers"}:
            yield ConfigError(
                f"'gpus_per_job' has no effect on engine {entry.engine!r}",
                where=where,
                allowed="transformers, vllm",
                do="remove it",
            )
        elif entry.gpus_per_job % copy:
            yield ConfigError(
                f"{entry.gpus_per_job} GPUs cannot be shared by copies of the model on {copy} GPUs each",
                where=f"{where}, key 'gpus_per_job'",
                allowed=f"a multiple of tensor_parallel_size x pipeline_parallel_size: {copy}, {2 * copy}",
            )
        elif "device" in entry.engine_options and entry.gpus_per_job > 1:
            yield ConfigError(
                "the option 'device' names one device, but 'gpus_per_job' asks for several",
                where=where,
                do="remove one of them",
            )
    if entry.engine == "vllm" and entry.quantization and entry.quantization not in QUANTIZATION:
        yield ConfigError(
            f"unknown quantisation {entry.quantization!r}",
            where=f"{where}, key 'quantization'",
            allowed=", ".join(QUANTIZATION),
            do=suggest(entry.quantization, QUANTIZATION)
            or "leave it out where the files are quantised already",
        )
