"""The embedded engine: a model of transformers in this process, on the CPU or a CUDA device."""

from __future__ import annotations

import gc
import logging
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from stressbed import fit
from stressbed.config.engine_options import TRANSFORMERS
from stressbed.config.entries import GeneratorEntry
from stressbed.errors import EngineError
from stressbed.generate.engines.chat import LocalModel, split_by_context, too_long
from stressbed.generate.engines.decoding import Row, decode
from stressbed.generate.engines.guided import Question, choose
from stressbed.generate.engines.halving import in_halves
from stressbed.generate.request import ChatRequest, Completion
from stressbed.models import quiet_transformers

log = logging.getLogger("stressbed")

CACHE_GIB = 1.0
"""Memory that the keys and values of one pass may take; longer batches are run in several passes."""

CACHE_SHARE = 0.5
"""On a GPU, share of its free memory that they may take if that is more; activations need the rest."""


GUIDED_ROWS = 32
"""Prompts of one pass whose answer is a choice: more would pad the short ones and copy more cache
than the shared beginning, computed once a pass, saves."""


class TransformersEngine:
    """Greedy or sampled decoding with `transformers`; in float32 an answer does not depend on its batch.

    Args:
        entry: The catalogue entry. `engine_options` may hold `device` (`cpu`, `cuda`, `cuda:1`),
            `cache_gib` and `template_...` options of the chat template.
        cache: Root of the store.
        folder: Folder that relative model paths start from.

    Raises:
        EngineError: An option that this engine does not know, or quantisation.
    """

    def __init__(self, entry: GeneratorEntry, *, cache: Path, folder: Path) -> None:
        self.entry = entry
        self.files = LocalModel(entry, cache=cache, folder=folder)
        self._cut: dict[tuple[tuple[str, str], ...], list[int]] = {}
        where = f"generator {entry.id!r}"
        if unknown := sorted(set(self.files.engine_options) - set(TRANSFORMERS)):
            raise EngineError(
                f"engine `transformers` has no option {unknown[0]!r}",
                where=f"{where}, engine_options",
                allowed=", ".join([*sorted(TRANSFORMERS), "template_..."]),
            )
        if entry.quantization:
            raise EngineError(
                "engine `transformers` loads unquantised weights only",
                where=f"{where}, quantization",
                do="take engine `vllm`, or name the quantised model itself and leave `quantization` out",
            )

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Return the number of tokens of each text, without special tokens; no weights are loaded."""
        return self.files.count_tokens(texts)

    def complete(self, requests: Sequence[ChatRequest], keys: Sequence[str]) -> list[Completion]:
        """Return one completion per request, in order.

        Raises:
            EngineError: The model cannot be loaded, or does not fit into memory.
        """
        prompts = [self.files.prompt_ids(r) for r in requests]
        fitting, others = split_by_context(requests, prompts, self.files.context)
        done = {i: too_long(keys[i], len(prompts[i])) for i in others}
        guided = {
            i: self._row(requests[i], prompts[i])
            for i in fitting
            if requests[i].choices and requests[i].guided != "none"
        }
        done |= self._chosen(guided, requests, keys)
        rows = {i: self._row(requests[i], prompts[i]) for i in fitting if i not in guided}
        finished = None if self.entry.chat_template else self.files.paragraph_ends

        def run(part: list[int]) -> None:
            """Write the answers of some requests, in one pass."""
            rows.update({i: self._row(requests[i], prompts[i]) for i in part})  # a broken pass leaves nothing
            decode(self._model, [rows[i] for i in part], ends=self.files.ends, finished=finished)

        in_halves(run, self._passes(rows), where=f"generator {self.entry.id!r}")
        for i, row in rows.items():
            text = self.files.decode(row.answer)
            ended = bool(finished and row.answer and finished(row.answer))  # no end token was written
            n_out = len(row.answer) + (row.stopped and not ended)
            if not row.stopped and row.temperature == 0:
                self._cut[requests[i].messages] = row.answer
            done[i] = Completion(keys[i], text, "stop" if row.stopped else "length", len(row.prompt), n_out)
        return [done[i] for i in range(len(requests))]

    def close(self) -> None:
        """Give the model's memory back."""
        import torch

        self.__dict__.pop("_model", None)
        gc.collect()
        if torch.cuda.is_available():
            torch.cuda.empty_cache()

    def _chosen(
        self, rows: dict[int, Row], requests: Sequence[ChatRequest], keys: Sequence[str]
    ) -> dict[int, Completion]:
        """Return the completions of the requests whose answer is one of their choices, by number."""
        done: dict[int, Completion] = {}
        tokens = {c: self.files.choice_ids(c) for c in {requests[i].choices for i in rows}}
        for row in rows.values():
            row.limit = 1
        questions = {
            i: Question(row.prompt, tokens[requests[i].choices], self.files.ends, row)
            for i, row in rows.items()
        }
        copies = max((len(q.beginnings) for q in questions.values()), default=1)

        def run(part: list[int]) -> None:
            """Choose the answers of some requests, in one pass."""
            asked = [questions[i] for i in part]
            for i, q, answer in zip(part, asked, choose(self._model, asked), strict=True):
                text = requests[i].choices[answer.number]
                n_out = len(q.choices[answer.number])
                done[i] = Completion(keys[i], text, "stop", len(q.prompt), n_out, answer.probabilities)

        passes = self._passes(rows, copies=copies, most=GUIDED_ROWS)
        in_halves(run, passes, where=f"generator {self.entry.id!r}")
        return done

    def _row(self, request: ChatRequest, prompt: list[int]) -> Row:
        import torch

        generator = None
        if request.temperature > 0:
            generator = torch.Generator().manual_seed(request.seed or 0)
        row = Row(prompt, request.max_tokens, request.temperature, request.top_p, generator)
        if request.attempt and request.temperature == 0:
            # A greedy answer under a larger limit begins with the one that was cut.
            row.answer += self._cut.get(request.messages, [])[: request.max_tokens - 1]
        return row

    def _passes(self, rows: dict[int, Row], *, copies: int = 1, most: int | None = None) -> list[list[int]]:
        """Return the numbers of the rows, sorted by length and cut so that a pass fits the cache.

        Args:
            rows: The rows by number.
            copies: How many rows of the cache each of them takes.
            most: Rows of a pass at most.
        """
        most = most or len(rows)
        room = max(1, int(self._budget() / self._bytes_per_token))
        passes: list[list[int]] = []
        longest = limit = 0
        for i in sorted(rows, key=lambda i: (len(rows[i].prompt), rows[i].limit)):
            longest, limit = max(longest, len(rows[i].prompt)), max(limit, rows[i].limit)
            size = len(passes[-1]) + 1 if passes else most + 1
            if size <= most and size * copies * (longest + limit) <= room:
                passes[-1].append(i)
            else:
                passes.append([i])
                longest, limit = len(rows[i].prompt), rows[i].limit
        return passes

    def _budget(self) -> float:
        """Return the bytes that keys and values of a pass may take: as told, or a share of what is free."""
        told = self.files.engine_options.get("cache_gib")
        if told is not None:
            return float(told) * fit.GIB
        if self._device().startswith("cuda"):
            memory = fit.device_memory(self._model.device)  # free beside the weights
            if memory is not None:
                return max(CACHE_GIB * fit.GIB, CACHE_SHARE * memory.free)
        return CACHE_GIB * fit.GIB

    def _device(self) -> str:
        import torch

        default = "cuda" if torch.cuda.is_available() else "cpu"
        return str(self.files.engine_options.get("device", default))

    @property
    def _bytes_per_token(self) -> int:
        """Memory of one token's keys and values in all layers."""
        c = self.files.config
        heads = getattr(c, "num_key_value_heads", None) or c.num_attention_heads
        size = getattr(c, "head_dim", None) or c.hidden_size // c.num_attention_heads
        return int(2 * c.num_hidden_layers * heads * size) * (
            4 if self.entry.dtype in {"float32", "auto"} else 2
        )

    @cached_property
    def _model(self) -> Any:
        import torch
        from transformers import AutoModelForCausalLM

        from stressbed.generate.engines.attention import use_grouped_attention

        quiet_transformers()
        loader: Any = AutoModelForCausalLM
        device, where = torch.device(self._device()), f"generator {self.entry.id!r}, {self.files.path}"
        if device.type == "cuda":
            fit.check(
                fit.need_of(self.entry, self.files.path),
                fit.device_memory(str(device)),
                where=where,
                do="take engine `vllm` with a quantised variant of the model, or set `dtype: bfloat16`",
                error=EngineError,
            )
        log.info("loading %s in %s on %s", self.entry.model, self.entry.dtype, device)
        try:
            model = loader.from_pretrained(
                self.files.path,
                dtype="auto" if self.entry.dtype == "auto" else getattr(torch, self.entry.dtype),
                trust_remote_code=self.entry.trust_remote_code,
            ).to(device)
        except (OSError, ValueError, ImportError, RuntimeError) as e:
            raise EngineError(
                f"the model could not be loaded: {e}",
                where=where,
                allowed="a causal language model that transformers knows",
                do="look at the folder's files, the `device` option and the free memory",
            ) from e
        use_grouped_attention(model)
        return model.eval()
