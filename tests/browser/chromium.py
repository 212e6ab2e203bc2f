"""Chromium without a window, for pages that are opened from a file."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

pytest.importorskip("selenium", reason="needs browser: selenium is not installed")
from selenium import webdriver

PROGRAM, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
needs_chromium = pytest.mark.skipif(
    PROGRAM is None or DRIVER is None, reason="needs browser: chromium and chromedriver"
)


def start(profile: Path, *, width: int, saved: Path | None = None) -> webdriver.Chrome:
    """Return a browser that keeps its console and its network traffic in its logs.

    Args:
        profile: Its own folder.
        width: Of its window, in pixels; 1000 high.
        saved: Where downloads go.
    """
    options = webdriver.ChromeOptions()
    options.binary_location = str(PROGRAM)
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", f"--window-size={width},1000"):
        options.add_argument(argument)
    options.add_argument(f"--user-data-dir={profile}")
    if saved is not None:
        options.add_experimental_option("prefs", {"download.default_directory": str(saved)})
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    return webdriver.Chrome(options=options, service=webdriver.ChromeService(str(DRIVER)))
