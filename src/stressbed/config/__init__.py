"""Run configs and catalogues: what can be named, and a run's choice of it."""

from stressbed.config.catalogue import Catalogue
from stressbed.config.load import Plan
from stressbed.config.model import RunConfig

__all__ = ["Catalogue", "Plan", "RunConfig"]
