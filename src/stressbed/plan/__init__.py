"""Before a run is paid for: what it will take, and what of it is done."""

from __future__ import annotations

from stressbed.plan.build import forecast
from stressbed.plan.forecast import Forecast

__all__ = ["Forecast", "forecast"]
