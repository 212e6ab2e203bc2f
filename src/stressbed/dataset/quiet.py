"""Settings that must stand before mteb, datasets or transformers are imported."""

from __future__ import annotations

import gc
import os

from stressbed.caches import MTEB, elsewhere

SETTINGS: dict[str, str] = {
    "HF_DATASETS_DISABLE_PROGRESS_BARS": "1",
    "HF_HUB_DISABLE_PROGRESS_BARS": "1",
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "TOKENIZERS_PARALLELISM": "false",
    "TQDM_DISABLE": "1",
    "TRANSFORMERS_VERBOSITY": "error",
}
"""Defaults only: what a user has set is kept. Our own bars say `disable=False` themselves."""

COLLECTED_AFTER = (100_000, 20, 20)
"""Objects made, and collections of a generation, before the next is collected: see `gc.set_threshold`."""


def quiet() -> None:
    """Put the settings into the environment; call it before the first import of mteb.

    mteb makes its cache folder when it is imported. Nothing of stressbed reads it, so it goes
    where a read-only home folder does no harm. Its import makes hundreds of thousands of objects that stay:
    looking for garbage among them over and over took a sixth of it.
    """
    gc.set_threshold(*COLLECTED_AFTER)
    for key, value in SETTINGS.items():
        os.environ.setdefault(key, value)
    os.environ.setdefault(MTEB, elsewhere())
