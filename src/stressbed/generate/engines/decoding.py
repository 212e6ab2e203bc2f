"""Batched decoding whose answers do not depend on the batch.

The loop prefills a batch once (what several prompts begin with only once for them), then
writes one token per row and step. Rows that are done leave the cache at once, so that a
straggler does not hold the others' work. In float32 the rounding noise between batches is
below `NOISE`; a greedy choice that is closer than that is settled by a run of the row alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch
    from torch import Tensor

NOISE = 1e-3
"""Largest distance between the two best logits (float32) that rounding might turn around."""


@dataclass
class Row:
    """One request in the loop.

    Attributes:
        prompt: Token numbers of the prompt.
        limit: Most tokens of the answer.
        temperature: 0 is greedy.
        top_p: Nucleus.
        generator: Source of randomness where temperature > 0.
        answer: Tokens so far, without the end token; what stands there at the start is continued.
        stopped: Whether the model ended the answer itself.
    """

    prompt: Sequence[int]
    limit: int
    temperature: float = 0.0
    top_p: float = 1.0
    generator: torch.Generator | None = None
    answer: list[int] = field(default_factory=list)
    stopped: bool = False

    @property
    def done(self) -> bool:
        """Whether nothing more is to be written."""
        return self.stopped or len(self.answer) >= self.limit


def decode(
    model: Any,
    rows: Sequence[Row],
    *,
    ends: frozenset[int],
    finished: Callable[[Sequence[int]], bool] | None = None,
    share_prefix: bool = True,
) -> None:
    """Fill in the answers of all rows.

    Args:
        model: A causal language model of transformers, in evaluation mode.
        rows: At least one request; their prompts are not empty.
        ends: Token numbers that end an answer.
        finished: Says of an answer's tokens whether their text ends here, though no end token came.
        share_prefix: Compute what several prompts begin with once.
    """
    import torch

    with torch.inference_mode():
        state = _prefill(model, rows, share_prefix=share_prefix)
        while state.rows:
            tokens = _choose(model, state)
            for row, token in zip(state.rows, tokens, strict=True):
                if token in ends:
                    row.stopped = True
                else:
                    row.answer.append(token)
                    row.stopped = finished is not None and finished(row.answer)
            _drop_done(state)
            if state.rows:
                _step(model, state)


def next_logits(model: Any, rows: Sequence[Row], *, share_prefix: bool = True) -> Tensor:
    """Return what the model thinks of each token (rows, vocabulary) after each row, in float32."""
    return _prefill(model, rows, share_prefix=share_prefix).logits.float()


@dataclass
class _State:
    """The rows still being written, their cache, mask, next positions and logits."""

    rows: list[Row]
    cache: Any
    mask: Tensor
    positions: Tensor
    logits: Tensor


@dataclass(frozen=True)
class Shared:
    """Rows that begin alike: the first `length` tokens of each are computed once."""

    length: int
    rows: list[int]


def common_prefix(prompts: Sequence[Sequence[int]]) -> int:
    """Return how many tokens all prompts begin with, leaving at least one of each."""
    length = min(len(p) for p in prompts) - 1
    for i in range(length):
        if any(p[i] != prompts[0][i] for p in prompts):
            return i
    return length


def shared_prefixes(prompts: Sequence[Sequence[int]]) -> list[Shared]:
    """Return the prompts in groups that begin alike, so that instructions are computed once each.

    In sorted order a prompt joins the group before it unless that would halve what the group shares.
    """
    groups: list[Shared] = []
    for i in sorted(range(len(prompts)), key=lambda i: list(prompts[i])):
        if groups:
            last = groups[-1]
            length = common_prefix([prompts[last.rows[0]][: last.length + 1], prompts[i]])
            if length > 0 and 2 * length >= last.length:
                groups[-1] = Shared(length, [*last.rows, i])
                continue
        groups.append(Shared(len(prompts[i]) - 1, [i]))
    # A prompt that is alone shares nothing: computing its beginning apart would save no work.
    return [g if len(g.rows) > 1 else Shared(0, g.rows) for g in groups]


def _prefill(model: Any, rows: Sequence[Row], *, share_prefix: bool) -> _State:
    import torch

    device = model.device
    texts = [[*r.prompt, *r.answer] for r in rows]
    groups = shared_prefixes(texts) if share_prefix else []
    shared, longest, first = _widths(texts, groups)
    cache, groups = _prefix_cache(model, texts, groups, shared + longest + max(r.limit for r in rows))
    shared, longest, first = _widths(texts, groups)
    ids = torch.zeros((len(rows), longest), dtype=torch.long)
    mask = torch.ones((len(rows), shared + longest), dtype=torch.long)
    for i, (text, n) in enumerate(zip(texts, first, strict=True)):
        rest = text[n:]
        ids[i, longest - len(rest) :] = torch.tensor(rest)
        mask[i, : shared - n] = 0
        mask[i, shared : shared + longest - len(rest)] = 0
    ids, mask = ids.to(device), mask.to(device)
    positions = (mask.cumsum(-1) - 1).clamp(min=0)
    logits = model(
        input_ids=ids,
        attention_mask=mask,
        position_ids=positions[:, shared:],
        past_key_values=cache,
        use_cache=True,
        logits_to_keep=1,
    ).logits[:, -1]
    return _State(list(rows), cache, mask, positions[:, -1:] + 1, logits)


def _widths(texts: Sequence[Sequence[int]], groups: list[Shared]) -> tuple[int, int, list[int]]:
    """Return the longest shared beginning, the longest rest, and how much of each text is shared."""
    first = [0] * len(texts)
    for group in groups:
        for i in group.rows:
            first[i] = group.length
    return max(first), max(len(t) - n for t, n in zip(texts, first, strict=True)), first


def _prefix_cache(
    model: Any, texts: Sequence[Sequence[int]], groups: list[Shared], slots: int
) -> tuple[Any, list[Shared]]:
    """Return a cache that holds the groups' beginnings, padded on the left, and the groups it serves."""
    import torch

    from stressbed.generate.engines.attention import growing_cache, grows_everywhere

    whole = growing_cache(model.config, slots)
    longest = max((g.length for g in groups), default=0)
    if longest == 0 or not grows_everywhere(whole):
        return whole, []
    rows: list[int] = [0] * len(texts)
    parts = []
    for number, group in enumerate(groups):
        cache = growing_cache(model.config, slots)
        if group.length:
            ids = torch.tensor([list(texts[group.rows[0]][: group.length])], device=model.device)
            model(input_ids=ids, past_key_values=cache, use_cache=True, logits_to_keep=1)
        parts.append(cache)
        for i in group.rows:
            rows[i] = number
    index = torch.tensor(rows, device=model.device)
    known = next(c for c in parts if c.get_seq_length())
    for n, layer in enumerate(whole.layers):
        sample = known.layers[n].keys
        shape = (len(groups), sample.shape[1], longest, sample.shape[3])
        keys, values = (torch.zeros(shape, dtype=sample.dtype, device=sample.device) for _ in range(2))
        for number, part in enumerate(parts):
            if length := part.get_seq_length():
                keys[number, :, longest - length :] = part.layers[n].keys[0]
                values[number, :, longest - length :] = part.layers[n].values[0]
        layer.update(keys[index], values[index])
    return whole, groups


def _step(model: Any, state: _State) -> None:
    """Feed each row its newest token and set the next logits."""
    import torch

    newest = torch.tensor([[row.answer[-1]] for row in state.rows], device=state.mask.device)
    state.mask = torch.cat([state.mask, state.mask.new_ones((len(state.rows), 1))], dim=1)
    state.logits = model(
        input_ids=newest,
        attention_mask=state.mask,
        position_ids=state.positions,
        past_key_values=state.cache,
        use_cache=True,
        logits_to_keep=1,
    ).logits[:, -1]
    state.positions = state.positions + 1


def _drop_done(state: _State) -> None:
    """Take the rows that are done out of the batch; rows from its end fill their places."""
    import torch

    left = sum(not row.done for row in state.rows)
    if left == len(state.rows):
        return
    gaps = [i for i, row in enumerate(state.rows[:left]) if row.done]
    movers = [i for i, row in enumerate(state.rows) if i >= left and not row.done]
    keep = list(range(left))
    for gap, mover in zip(gaps, movers, strict=True):
        keep[gap] = mover
    state.rows = [state.rows[i] for i in keep]
    if keep:
        index = torch.tensor(keep, device=state.mask.device)
        state.cache.batch_select_indices(index)
        state.mask, state.positions = state.mask[index], state.positions[index]


def _choose(model: Any, state: _State) -> list[int]:
    """Return the next token of each row."""
    logits = state.logits.float()
    best, tokens = logits.topk(2, dim=-1)
    chosen: list[int] = tokens[:, 0].tolist()
    close = ((best[:, 0] - best[:, 1]) < NOISE).tolist() if state.logits.dtype == logits.dtype else []
    for i, row in enumerate(state.rows):
        if row.temperature > 0:
            chosen[i] = sample(logits[i], row)
        elif close and close[i]:
            chosen[i] = _alone(model, row)
    return chosen


def _alone(model: Any, row: Row) -> int:
    """Return the greedy choice from one run over the whole row, the same in every batch."""
    import torch

    ids = torch.tensor([[*row.prompt, *row.answer]], device=model.device)
    return int(model(input_ids=ids, use_cache=False, logits_to_keep=1).logits[0, -1].argmax())


def sample(logits: Tensor, row: Row) -> int:
    """Return a token drawn from the nucleus by inversion, with one number of the row's own generator.

    Tokens keep their order by number, so that rounding noise moves the bounds between them by no
    more than itself and almost never the drawn token.
    """
    import torch

    probabilities = (logits.double() / row.temperature).softmax(-1)
    if row.top_p < 1:
        ordered, order = probabilities.sort(descending=True)
        outside = ordered.cumsum(-1) - ordered >= row.top_p
        probabilities[order[outside]] = 0
    bounds = probabilities.cumsum(-1)
    u = torch.rand((), generator=row.generator, dtype=torch.float64).to(bounds.device)
    token = int(torch.searchsorted(bounds, u * bounds[-1], right=True))
    return min(token, int(probabilities.nonzero()[-1]))
