"""Choosing the generator: screening by error rates, a shortlist that judges each other, a winner."""

VERSION = "2"

SCREENING_TABLES = ("screening", "screening_intervals", "screening_by_transformation")
"""Tables of the screening; the first is the paper's table 9."""

TABLES = (
    "crossover",
    "judge_by_transformation",
    "generator_comparisons",
    "self_preference",
    "judge_agreement",
    "judge_counts",
)
"""Tables of what the judges say; the first two are the paper's tables 10 and 11."""

FIGURES = ("crossover",)
