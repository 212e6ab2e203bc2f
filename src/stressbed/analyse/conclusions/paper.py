"""What the HTEB paper reports, for runs of its own grid (Frank and Afli, arXiv:2605.28190).

Numbers only; by claim, then by the paper's setting. They stand beside a run's own numbers in
`findings.md` where the run is one of `hteb` or `hteb-*`, which use the paper's datasets.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

PAPER: Mapping[str, Mapping[str, str]] = MappingProxyType(
    {
        "drop": {"english": "8.41", "multilingual": "2.04"},
        "losers": {"english": "11 of 11", "multilingual": "7 of 9"},
        "most_disruptive": {
            "english": "Language 8, Length 3 of 11",
            "multilingual": "Length 6, Language 2, Lexical/Stylistic 1 of 9",
        },
        "significant": {"english": "8 of 8", "multilingual": "3 of 8"},
        "median_abs": {"english": "1.9 to 18.9", "multilingual": "1.2 to 3.6"},
        "tau": {"english": "0.555 (SD 0.232)", "multilingual": "0.761 (SD 0.135)"},
        "tau_axes": {
            "english": "Lexical/Stylistic 0.742, Length 0.619, Language 0.373",
            "multilingual": "Lexical/Stylistic 0.816, Language 0.658, Length 0.637",
        },
        "tau_transformations": {
            "english": "Backtranslation 0.802, Cross-Translation 0.369",
            "multilingual": "Backtranslation 0.858, Expansion 0.439",
        },
        "within": {"english": "all", "multilingual": "all"},
        "split_half": {"english": "0.82 to 0.96", "multilingual": "0.80 to 0.93"},
        "gap": {"all, with Language": "6.37", "all, without Language": "1.89",
                "shared, with Language": "3.52", "shared, without Language": "2.06"},
        "relative": {"english": "7.16 %", "multilingual": "2.30 %"},
        "zero_shot": {"english": "8.84", "multilingual": "2.10"},
        "translated": {"all": "14.9 and 10.2"},
        "size_gap": {"english": "around 5 in most cases"},
    }
)  # fmt: skip

SETTINGS: Mapping[str, str] = MappingProxyType(
    {"hteb-english": "english", "hteb-multilingual": "multilingual", "hteb-scale": "english"}
)
"""The paper's setting of runs that declare none; `hteb` declares both."""


def reported(claim: str, *, run: str, setting: str) -> str:
    """Return the paper's number for a claim; empty where the run is not on the paper's grid."""
    if run != "hteb" and not run.startswith("hteb-"):
        return ""
    return PAPER[claim].get(SETTINGS.get(run, setting), "")
