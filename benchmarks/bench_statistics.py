"""What the statistics of `stressbed.stats` reach on data whose truth is known.

    python benchmarks/bench_statistics.py [--draws 5000] [--part size|mean|rank|spearman|shared]

Size of the signed-rank test and coverage of the Hodges-Lehmann interval at 5 and 95 %, with and without
ties and zeros; coverage of the percentile bootstrap of means, ranks and Spearman's rho by the number of
observations. Figures in docs/statistics.md and in `stressbed.stats.coverage` come from here. The last
lines say whether the exact methods keep what they promise within three standard errors.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections.abc import Callable
from itertools import combinations

import numpy as np

from stressbed.stats.bootstrap import rank_intervals, resample_means, spearman_interval
from stressbed.stats.interval import DegenerateWarning
from stressbed.stats.location import hodges_lehmann
from stressbed.stats.signed_rank import signed_rank
from stressbed.stats.units import Units, shared_units

Draw = Callable[[np.random.Generator, int], np.ndarray]

LOG_NORMAL_PSEUDOMEDIAN = 1.221
"""Median of the mean of two independent log-normal values (sigma 1), from eight million pairs."""

SYMMETRIC: dict[str, Draw] = {
    "normal": lambda g, n: g.normal(size=n),
    "heavy tails (t, 2 d.f.)": lambda g, n: g.standard_t(2, size=n),
    "unequal spread": lambda g, n: g.normal(size=n) * np.geomspace(0.1, 10, n),
    "rounded (ties, 1 in 4 zero)": lambda g, n: np.round(g.normal(size=n) * 1.5),
    "coarse (ties, 1 in 2 zero)": lambda g, n: np.round(g.normal(size=n) * 0.75),
    "two sizes, no zero": lambda g, n: g.choice([-2.0, -1.0, 1.0, 2.0], size=n),
}
SKEWED: dict[str, Draw] = {
    "log-normal about its pseudomedian": lambda g, n: g.lognormal(size=n) - LOG_NORMAL_PSEUDOMEDIAN,
}
SIZES = (6, 10, 13, 19, 32)
COVERAGE_SIZES = (2, 3, 4, 5, 6, 7, 8, 9, 10, 13, 16, 19, 25, 32, 50, 75, 100, 150, 200)


def bench_size(draws: int) -> bool:
    print("signed-rank test at 5 % and Hodges-Lehmann interval at 95 %: per cent of draws")
    print(f"{'shape':36s}{'n':>4s}{'size':>8s}{'wilcox':>8s}{'covered':>9s}{'promised':>9s}{'apart':>7s}")
    kept = True
    slack = 100 * 3 * np.sqrt(0.05 * 0.95 / draws)
    for number, (shape, draw) in enumerate({**SYMMETRIC, **SKEWED}.items()):
        for n in SIZES:
            generator = np.random.default_rng([1, number, n])
            found = np.array([_one(draw(generator, n)) for _ in range(draws)])
            size, dropped, covered, apart = 100 * found.mean(axis=0)
            promised = 100 * hodges_lehmann(np.arange(float(n))).level_attained
            if shape in SYMMETRIC:
                kept &= bool(max(size, dropped) <= 5 + slack and covered >= 95 - slack)
            line = f"{shape:36s}{n:4d}{size:8.2f}{dropped:8.2f}{covered:9.2f}{promised:9.2f}{apart:7.2f}"
            print(line, flush=True)
    return kept


def _one(differences: np.ndarray) -> tuple[bool, bool, bool, bool]:
    """Return: rejected, rejected with zeros dropped first, zero covered, test and interval disagree."""
    p = signed_rank(differences).p
    interval = hodges_lehmann(differences)
    covered = interval.low <= 0 <= interval.high
    return p <= 0.05, signed_rank(differences, zeros="wilcox").p <= 0.05, covered, (p > 0.05) != covered


def bench_mean(draws: int) -> bool:
    print("\npercentile bootstrap of a mean, 2,000 resamples, aimed at 95 %: per cent of draws covered")
    print(f"{'n':>4s}{'normal':>9s}{'log-normal (sigma 1)':>22s}")
    for n in COVERAGE_SIZES:
        shares = []
        for shape, truth in ((np.random.Generator.normal, 0.0), (np.random.Generator.lognormal, np.exp(0.5))):
            generator = np.random.default_rng([2, n])
            hits = 0
            # Columns are independent data sets; few share the same resamples.
            for _ in range(draws // 100):
                data = shape(generator, size=(n, 100))
                # Not `mean_intervals`, which gives none for the smallest n: these figures are the reason.
                means = resample_means(data, resamples=2000, rng=generator)
                low, high = np.quantile(means, [0.025, 0.975], axis=0)
                hits += int(((low <= truth) & (truth <= high)).sum())
            shares.append(hits / (draws // 100 * 100))
        print(f"{n:4d}{100 * shares[0]:9.1f}{100 * shares[1]:22.1f}", flush=True)
    return True


def bench_rank(draws: int) -> bool:
    print("\nbootstrap of ranks over datasets: 11 embedders whose true means are one point apart; datasets")
    print("differ by SD 10, embedders within a dataset by SD 3; per cent of true ranks covered, mean width")
    print(f"{'n':>4s}{'covered':>9s}{'worst embedder':>16s}{'width':>7s}")
    true_means = -np.arange(11.0)
    for n in (6, 10, 13, 19, 32):
        generator = np.random.default_rng([3, n])
        hits, widths = np.zeros(11), 0.0
        for _ in range(draws // 10):
            data = true_means + 10 * generator.normal(size=(n, 1)) + 3 * generator.normal(size=(n, 11))
            found = rank_intervals(data, resamples=1000, rng=generator)
            hits += [i.low <= rank <= i.high for rank, i in enumerate(found, start=1)]
            widths += float(np.mean([i.high - i.low for i in found]))
        shares = hits / (draws // 10)
        print(
            f"{n:4d}{100 * shares.mean():9.1f}{100 * shares.min():16.1f}{widths / (draws // 10):7.1f}",
            flush=True,
        )
    return True


def bench_spearman(draws: int) -> bool:
    print("\npercentile bootstrap of Spearman's rho, 1,000 resamples, bivariate normal: per cent covered")
    strengths = (0.0, 0.5, 0.9)
    print(f"{'n':>4s}" + "".join(f"   r = {r:.1f}" for r in strengths))
    for n in (6, 9, 11, 15, 30, 100):
        shares = []
        for r in strengths:
            generator = np.random.default_rng([4, n])
            truth = 6 / np.pi * np.arcsin(r / 2)
            hits = 0
            for _ in range(draws // 5):
                x, noise = generator.normal(size=(2, n))
                found = spearman_interval(
                    x, r * x + np.sqrt(1 - r * r) * noise, resamples=1000, rng=generator
                )
                hits += found.low <= truth <= found.high
            shares.append(hits / (draws // 5))
        print(f"{n:4d}" + "".join(f"{100 * s:10.1f}" for s in shares), flush=True)
    return True


SHARING: dict[str, list[tuple[int, int]]] = {
    "28 pairs of 8 texts": list(combinations(range(8), 2)),
    "66 pairs of 12 texts": list(combinations(range(12), 2)),
    "190 pairs of 20 texts": list(combinations(range(20), 2)),
    "10 texts by 10 others": [(i, 10 + j) for i in range(10) for j in range(10)],
    "8 texts with 10 others each": [(i, 8 + 10 * i + j) for i in range(8) for j in range(10)],
    "30 texts with 5 others each": [(i, 30 + 5 * i + j) for i in range(30) for j in range(5)],
    "20 triangles": [(3 * i + a, 3 * i + b) for i in range(20) for a, b in ((0, 1), (0, 2), (1, 2))],
    "200 pairs of 150 texts": np.random.default_rng(6).integers(150, size=(200, 2)).tolist(),
    "200 pairs of 400 texts": np.random.default_rng(7).integers(400, size=(200, 2)).tolist(),
    "50 pairs of 100 texts": [(2 * i, 2 * i + 1) for i in range(50)],
}
"""Pairs of texts, numbered."""


def bench_shared(draws: int) -> bool:
    print("\npercentile bootstrap of a mean over pairs that share texts, 1,000 resamples: per cent covered,")
    print("by the share of the variance that is the texts'; pairs drawn, then units (clusters or texts)")
    print(f"{'pairs':30s}{'units':>6s}" + "".join(f"   {s:4.1f}: pairs, units" for s in (0.0, 0.3, 0.8)))
    for number, (name, places) in enumerate(SHARING.items()):
        units = Units.of(shared_units(places))
        line = f"{name:30s}{units.n:6d}"
        for share in (0.0, 0.3, 0.8):
            generator = np.random.default_rng([5, number, int(10 * share)])
            before, after = (_cover(np.array(places), share, u, draws, generator) for u in (None, units))
            line += f"{100 * before:14.1f}{100 * after:7.1f}"
        print(line, flush=True)
    return True


def _cover(
    places: np.ndarray, share: float, units: Units | None, draws: int, generator: np.random.Generator
) -> float:
    hits = 0
    for _ in range(draws // 50):
        texts = generator.normal(size=(places.max() + 1, 50))
        own = generator.normal(size=(len(places), 50))
        values = np.sqrt(share / 2) * texts[places].sum(axis=1) + np.sqrt(1 - share) * own
        means = resample_means(values, resamples=1000, rng=generator, units=units)
        low, high = np.nanquantile(means, [0.025, 0.975], axis=0)
        hits += int(((low <= 0) & (high >= 0)).sum())
    return hits / (draws // 50 * 50)


PARTS = {
    "size": bench_size, "mean": bench_mean, "rank": bench_rank, "spearman": bench_spearman,
    "shared": bench_shared,
}  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=5_000)
    parser.add_argument("--part", choices=list(PARTS), action="append")
    args = parser.parse_args()
    warnings.simplefilter("ignore", DegenerateWarning)
    begun = time.perf_counter()
    results = {name: PARTS[name](args.draws) for name in args.part or PARTS}
    print(f"\n{args.draws} draws, {time.perf_counter() - begun:.0f} s")
    if not all(results.values()):
        sys.exit("an exact method does not keep its level: see the first table")
    if "size" in results:
        print("every size is at most 5 % and every coverage at least 95 %, within three standard errors")


if __name__ == "__main__":
    main()
