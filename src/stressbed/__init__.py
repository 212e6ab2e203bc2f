"""stressbed: how robust text-embedding models are when their input texts change."""

from stressbed.caches import away_from_home

__version__ = "0.1.0"

away_from_home()
