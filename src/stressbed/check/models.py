"""Checks of generators and embedders: files, endpoints, prices, and what a backend can do."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

from stressbed.check.datasets import invalid_tags
from stressbed.check.limits import check_embedder_limits, check_generator_limits
from stressbed.config.engine_options import check_endpoint_options, check_gpus, check_options
from stressbed.config.entries import DatasetEntry, EmbedderEntry, GeneratorEntry, ModelSource
from stressbed.config.planted import check_marks, check_planted
from stressbed.endpoint.address import is_loopback, shown
from stressbed.endpoint.key import key_in, wrong_key
from stressbed.errors import ConfigError, StressbedError, suggest
from stressbed.sources import PACKAGE, gguf_parts, resolve

Problem = Iterator[StressbedError]
log = logging.getLogger("stressbed")

HUB_BACKENDS = frozenset({"sentence-transformers", "mteb", "transformers", "vllm"})
"""Backends and engines whose `model` may be a hub id."""

EFFECT: dict[str, frozenset[str]] = {
    "instructions": frozenset({"sentence-transformers", "openai"}),
    "pooling": frozenset({"sentence-transformers"}),
    "prompts": frozenset({"sentence-transformers"}),
    "max_length": frozenset({"sentence-transformers", "mteb"}),
    "trust_remote_code": frozenset({"sentence-transformers", "mteb"}),
    "api_key_env": frozenset({"openai"}),
    "endpoint_options": frozenset({"openai"}),
    "gguf_file": frozenset(),
    "gpus_per_job": frozenset({"sentence-transformers", "mteb"}),
    "attention": frozenset({"sentence-transformers", "mteb"}),
    "planted": frozenset({"planted"}),
}
"""Keys of an embedder that only some backends use."""

POOLING = ("cls", "lasttoken", "max", "mean", "mean_sqrt_len_tokens", "weightedmean")
"""What sentence-transformers calls its ways of pooling."""

LEXICAL = frozenset({"Retrieval", "Reranking"})
"""Task types that BM25 can do: it ranks documents for a query."""


def check_generator(entry: GeneratorEntry, origin: Path) -> Problem:
    """Yield what is wrong with a generator's entry."""
    where = f"{origin}, generator {entry.id!r}"
    yield from _source(entry, entry.engine, origin.parent, where)
    yield from _endpoint(entry.base_url, entry.api_key_env, entry.engine, where)
    if entry.limits.minimum > entry.limits.maximum:
        yield ConfigError(
            f"limits: minimum {entry.limits.minimum} is above maximum {entry.limits.maximum}", where=where
        )
    if entry.limits.maximum >= entry.context:
        yield ConfigError(
            f"limits: an answer of {entry.limits.maximum} tokens leaves no room for a prompt in a context of "
            f"{entry.context}",
            where=where,
            do="lower `limits.maximum` or raise `context`",
        )
    if entry.spending_cap is not None and (entry.price_in is None or entry.price_out is None):
        yield ConfigError(
            "`spending_cap` needs prices, or nothing can be capped",
            where=where,
            do="set `price_in` and `price_out`, per million tokens",
        )
    if (entry.price_in is None) != (entry.price_out is None):
        yield ConfigError("one of `price_in` and `price_out` is missing", where=where, do="set both or none")
    if entry.engine != "openai" and entry.price_in is not None:
        yield ConfigError(f"prices have no effect on engine {entry.engine!r}", where=where, do="remove them")
    if entry.engine != "vllm" and entry.quantization:
        yield ConfigError(
            f"'quantization' has no effect on engine {entry.engine!r}",
            where=where,
            allowed="vllm",
            do="name the quantised model itself",
        )
    yield from check_generator_limits(entry, origin.parent, where)
    yield from check_options(entry, where)
    yield from check_gpus(entry, where)
    yield from check_marks(entry, where)
    if entry.engine == "fake":
        log.warning("generator %r is for tests only: no model is behind it", entry.id)


def check_embedder(entry: EmbedderEntry, origin: Path) -> Problem:
    """Yield what is wrong with an embedder's entry."""
    where = f"{origin}, embedder {entry.id!r}"
    for key, backends in EFFECT.items():
        if getattr(entry, key) and entry.backend not in backends:
            yield ConfigError(
                f"{key!r} has no effect on backend {entry.backend!r}",
                where=where,
                allowed=", ".join(sorted(backends)) or "a generator",
                do="remove it",
            )
    if entry.pooling and entry.backend == "sentence-transformers" and entry.pooling not in POOLING:
        yield ConfigError(
            f"unknown pooling {entry.pooling!r}",
            where=f"{where}, key 'pooling'",
            allowed=", ".join(POOLING),
            do=suggest(entry.pooling, POOLING),
        )
    if entry.prompts and entry.instructions:
        yield ConfigError(
            "with `prompts: shipped` there are no `instructions`",
            where=f"{where}, key 'instructions'",
            do="remove one of the two keys",
        )
    if entry.backend == "bm25" and entry.similarity == "cosine":
        yield ConfigError(
            "the score of BM25 is a dot product", where=f"{where}, key 'similarity'", allowed="dot"
        )
    if entry.backend == "bm25" and entry.normalise:
        yield ConfigError(
            "BM25 weights scaled to length 1 are no BM25 scores",
            where=f"{where}, key 'normalise'",
            allowed="false",
        )
    if entry.attention == "flash_attention_2" and entry.dtype == "float32":
        yield ConfigError(
            "flash_attention_2 computes in 16 bits only",
            where=f"{where}, key 'attention'",
            allowed="eager, sdpa, or a `dtype` of 16 bits",
            do="set `dtype: bfloat16` (other vectors, so another identity), or take `sdpa`",
        )
    yield from check_embedder_limits(entry, origin.parent, where)
    yield from check_planted(entry, where)
    yield from _source(entry, entry.backend, origin.parent, where)
    yield from _endpoint(entry.base_url, entry.api_key_env, entry.backend, where)
    if entry.backend == "openai":
        yield from check_endpoint_options(entry.endpoint_options, where)
    yield from invalid_tags(entry.languages, f"{where}, key 'languages'")
    for key in entry.instructions:
        if ":" in key and key.rsplit(":", 1)[1] not in {"query", "document"}:
            yield ConfigError(
                f"the instruction {key!r} names an unknown role",
                where=f"{where}, key 'instructions'",
                allowed="query, document",
            )


def check_ability(entry: EmbedderEntry, dataset: DatasetEntry) -> Problem:
    """Yield why an embedder cannot be evaluated on a dataset."""
    if entry.backend == "bm25" and dataset.task_type not in LEXICAL:
        yield ConfigError(
            f"BM25 cannot do {dataset.task_type}",
            where=f"embedder {entry.id!r} on dataset {dataset.id!r}",
            allowed=", ".join(sorted(LEXICAL)),
            do="take the embedder or the dataset out of this run; `tf` and `tfidf-svd` do every type",
        )


def _source(entry: ModelSource, backend: str, folder: Path, where: str) -> Problem:
    if entry.model.startswith((PACKAGE, "/", "./", "../", "~")):
        yield from _files(entry, backend, folder, where)
    elif backend in HUB_BACKENDS and not entry.revision:
        if entry.trust_remote_code:
            yield ConfigError(
                f"{entry.model!r} may run its own code, but no revision is pinned",
                where=f"{where}, key 'revision'",
                do="read the code, then pin that commit",
            )
        else:
            log.warning("%s: no revision is pinned for %r, so its weights may change", where, entry.model)


def _files(entry: ModelSource, backend: str, folder: Path, where: str) -> Problem:
    try:
        path = resolve(entry.model, folder)
    except ConfigError as e:
        yield ConfigError(e.what, where=f"{where}, key 'model'", do=e.do)
        return
    if not path.exists():
        yield ConfigError("no such model folder", where=f"{where}, key 'model': {path}", do="check the path")
    elif entry.gguf_file and not gguf_parts(path / entry.gguf_file):
        found = sorted(p.name for p in path.glob("*.gguf"))
        yield ConfigError(
            f"the model has no file {entry.gguf_file!r}",
            where=f"{where}, key 'gguf_file': {path}",
            allowed=", ".join(found) or "there is no GGUF file",
        )
    elif backend in HUB_BACKENDS and not entry.gguf_file and path.suffix != ".gguf":
        yield from _loadable(path, f"{where}, key 'model': {path}")


def _loadable(path: Path, where: str) -> Problem:
    """Yield why no model can be read from a folder: it lacks what every loader looks for first."""
    heads = [path / name for name in ("modules.json", "config.json") if (path / name).is_file()]
    if not heads:
        yield ConfigError(
            "this folder holds no model",
            where=where,
            allowed="a folder with config.json and weights, or a GGUF file",
            do="correct `model` (and `gguf_file`)",
        )
    for head in heads:
        try:
            json.loads(head.read_text(encoding="utf-8"))
        except (OSError, ValueError, RecursionError) as e:
            yield ConfigError(f"{head.name} cannot be read: {e}", where=where, do="copy the model anew")


def _endpoint(url: str | None, key_name: str | None, engine: str, where: str) -> Problem:
    if engine != "openai":
        if url:
            yield ConfigError(
                f"'base_url' has no effect on {engine!r}", where=where, do="remove it, or use `openai`"
            )
        return
    if not url:
        yield ConfigError(
            "an endpoint needs an address", where=f"{where}, key 'base_url'", do="set `base_url`"
        )
        return
    if not _is_address(url):
        yield ConfigError(
            f"{shown(url)!r} is no address of an endpoint",
            where=f"{where}, key 'base_url'",
            allowed="http://HOST:PORT/v1 or https://HOST/v1",
        )
        return
    key = key_in(key_name) if key_name else ""
    if problem := wrong_key(key):
        yield ConfigError(
            f"the environment variable {key_name} holds no key that can be sent: {problem}",
            where=f"{where}, key 'api_key_env'",
            do=f"export {key_name} anew, with the key alone",
        )
    if is_loopback(url):
        if key_name and not key:
            log.warning("%s: set the environment variable %s: jobs will ask for it", where, key_name)
    else:
        if url.startswith("http:") and key_name:
            log.warning("%s: the key would be sent unencrypted (http)", where)
        if not key:
            log.warning(
                "%s: no key for %s: %s", where, urlsplit(url).hostname,
                f"set the environment variable {key_name}" if key_name else "`api_key_env` is not set",
            )  # fmt: skip


def _is_address(url: str) -> bool:
    try:
        parts = urlsplit(url)
        _ = parts.port  # read only to see whether it is a number
    except ValueError:
        return False
    return parts.scheme in {"http", "https"} and bool(parts.hostname)
