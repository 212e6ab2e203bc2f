"""stressbed: how robust text-embedding models are when their input texts change."""

__version__ = "0.1.0"
