"""Cheaper decoding on a CPU: a cache that grows in place, and attention over shared heads.

Of transformers' own decoding with short prompts and many rows, half of the time goes into
copies: each step concatenates the whole cache anew, and models with grouped heads repeat keys
and values once per query head. Both are avoided here; what is computed stays the same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch.nn.functional import scaled_dot_product_attention
from transformers import AttentionInterface, AttentionMaskInterface, DynamicCache
from transformers.cache_utils import DynamicLayer, DynamicSlidingWindowLayer
from transformers.integrations.sdpa_attention import sdpa_attention_forward
from transformers.masking_utils import sdpa_mask

if TYPE_CHECKING:
    from torch import Tensor

GROUPED = "stressbed_grouped"
"""Name of the attention in transformers' registry."""

ROOM = 64
"""Tokens that a full cache grows by."""


class GrowingLayer(DynamicLayer):  # type: ignore[no-untyped-call]
    """A cache layer (rows, heads, tokens, size) with room at its end, so that a step copies only itself."""

    keys: Any
    values: Any
    _buffers: list[Tensor]

    def update(self, key_states: Tensor, value_states: Tensor, *_: Any, **__: Any) -> tuple[Tensor, Tensor]:
        """Append the new states and return all of them."""
        if not self.is_initialized:
            self.lazy_initialization(key_states, value_states)
            self.keys, self.values = key_states, value_states
            self._buffers = [key_states, value_states]
            return self.keys, self.values
        length, new = self.keys.shape[-2], key_states.shape[-2]
        if length + new > self._buffers[0].shape[-2]:
            self._buffers = [_with_room(t, new + ROOM) for t in (self.keys, self.values)]
        for buffer, states in zip(self._buffers, (key_states, value_states), strict=True):
            buffer[:, :, length : length + new] = states
        self.keys, self.values = (b[:, :, : length + new] for b in self._buffers)
        return self.keys, self.values

    def batch_repeat_interleave(self, repeats: int) -> None:
        """Repeat every row."""
        super().batch_repeat_interleave(repeats)
        self._buffers = [self.keys, self.values]

    def batch_select_indices(self, indices: Tensor) -> None:
        """Keep some rows, in this order; in place where rows from the end fill the gaps."""
        order: list[int] = indices.tolist()
        moves = [(new, old) for new, old in enumerate(order) if new != old]
        if any(old < len(order) for _, old in moves):
            super().batch_select_indices(indices)
            self._buffers = [self.keys, self.values]
            return
        length = self.keys.shape[-2]
        for buffer in self._buffers:
            for new, old in moves:
                buffer[new, :, :length] = buffer[old, :, :length]
        self._buffers = [b[: len(order)] for b in self._buffers]
        self.keys, self.values = (b[:, :, :length] for b in self._buffers)


def growing_cache(config: Any, slots: int) -> Any:
    """Return an empty cache for a model; layers of other kinds stay as they are.

    A layer with a sliding window counts as an ordinary one as long as nothing slides out of it.

    Args:
        config: The model's configuration.
        slots: Tokens that a row of the cache will hold in the end, padding included.
    """
    cache = DynamicCache(config=config)
    new: Any = GrowingLayer
    cache.layers = [new() if _keeps_all(layer, slots) else layer for layer in cache.layers]
    return cache


def _keeps_all(layer: Any, slots: int) -> bool:
    if type(layer) is DynamicSlidingWindowLayer:
        return bool(slots < layer.sliding_window)
    return type(layer) is DynamicLayer


def grows_everywhere(cache: Any) -> bool:
    """Return whether all layers keep every token, so that rows that begin differently fit together."""
    return all(isinstance(layer, GrowingLayer) for layer in cache.layers)


def use_grouped_attention(model: Any) -> None:
    """Let a model that uses transformers' SDPA attention attend without repeating keys and values."""
    if getattr(model.config, "_attn_implementation", None) != "sdpa":
        return
    AttentionInterface.register(GROUPED, grouped_attention)
    AttentionMaskInterface.register(GROUPED, sdpa_mask)
    model.set_attn_implementation(GROUPED)


def grouped_attention(
    module: Any, query: Tensor, key: Tensor, value: Tensor, attention_mask: Tensor | None, **options: Any
) -> tuple[Tensor, None]:
    """Return the attention's output (rows, tokens, heads, size), as transformers' SDPA function does.

    A step with one new token treats the query heads that share a key head as that head's queries.

    Args:
        module: The model's attention layer.
        query: Shape (rows, heads, tokens, size).
        key: Shape (rows, key heads, tokens so far, size).
        value: As `key`.
        attention_mask: Shape that broadcasts to (rows, heads, tokens, tokens so far).
        options: Of transformers' function.
    """
    rows, heads, tokens, size = query.shape
    shared = key.shape[1]
    plain = options.get("position_bias") is None and options.get("cache") is None
    if tokens != 1 or heads == shared or not plain:
        out: tuple[Tensor, None] = sdpa_attention_forward(
            module, query, key, value, attention_mask, **options
        )
        return out
    grouped = scaled_dot_product_attention(
        query.reshape(rows, shared, heads // shared, size),
        key,
        value,
        attn_mask=attention_mask,
        dropout_p=options.get("dropout", 0.0),
        scale=options.get("scaling"),
    )
    return grouped.reshape(rows, 1, heads, size), None


def _with_room(states: Tensor, room: int) -> Tensor:
    rows, heads, length, size = states.shape
    buffer: Tensor = torch.empty((rows, heads, length + room, size), dtype=states.dtype, device=states.device)
    buffer[:, :, :length] = states
    return buffer
