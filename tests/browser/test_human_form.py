"""The form in a real browser, opened from a file: what was clicked is what is saved."""

from __future__ import annotations

import csv
import io
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from chromium import needs_chromium, start
from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from stressbed.human.form import form
from stressbed.human.sheets import Sheet

pytestmark = needs_chromium

TEXTS = {
    "t1": ("The dog sleeps on the mat.", "On the mat, the dog is asleep."),
    "t2": ("هذا نص عربي مع كلمة English (و أقواس).", "نص بالعربية، فيه كلمة واحدة."),
    "t3": ("</script><script>document.title='broken'</script>", "=1+1\nsecond line"),
}


@pytest.fixture
def browser(tmp_path: Path) -> Iterator[webdriver.Chrome]:
    driver = start(tmp_path / "profile", width=1100, saved=tmp_path / "saved")
    yield driver
    driver.quit()


@pytest.fixture
def page(tmp_path: Path) -> Path:
    items = tuple(
        {"item_id": i, "task": "Say the text in other words.", "original": a, "rewrite": b}
        for i, (a, b) in TEXTS.items()
    )
    path = tmp_path / "quality_paraphrasing_eng-Latn.html"
    path.write_text(form(Sheet(path.stem, "quality", ("eng-Latn",), items)), encoding="utf-8")
    return path


def choose(browser: webdriver.Chrome, item: str, question: str, rating: int) -> None:
    found = browser.find_element(By.CSS_SELECTOR, f'input[name="{question}-{item}"][value="{rating}"]')
    browser.execute_script("arguments[0].scrollIntoView({block: 'center'})", found)
    found.click()


def save(browser: webdriver.Chrome, folder: Path, name: str) -> bytes:
    path = folder / name
    path.unlink(missing_ok=True)
    browser.find_element(By.ID, "save").click()
    until = time.monotonic() + 20
    while not path.exists():
        assert time.monotonic() < until, list(folder.glob("*"))
        time.sleep(0.1)
    return path.read_bytes()


def status(browser: webdriver.Chrome) -> str:
    return browser.find_element(By.ID, "status").text


def test_what_is_clicked_is_saved_and_loads_again(
    browser: webdriver.Chrome, page: Path, tmp_path: Path
) -> None:
    browser.get(page.as_uri())
    assert browser.title == "Quality of rewrites: English, 3 items"  # no text ran as a script
    shown = browser.find_elements(By.CSS_SELECTOR, ".text")
    assert [e.get_property("textContent") for e in shown] == [t for pair in TEXTS.values() for t in pair]
    directions = [e.value_of_css_property("direction") for e in shown]
    assert directions == ["ltr", "ltr", "rtl", "rtl", "ltr", "ltr"]

    browser.find_element(By.ID, "save").click()
    assert "name or number" in status(browser)
    browser.find_element(By.ID, "rater").send_keys("Ada, 7")
    given = {"t1": (5, 4), "t2": (3, 2)}
    for item, pair in given.items():
        for question, rating in zip(("quality", "fluency"), pair, strict=True):
            choose(browser, item, question, rating)
    browser.find_element(By.NAME, "comment-t2").send_keys('=1+1; "جيد"', Keys.ENTER, "line 2")
    assert status(browser) == "2 of 3 rated"
    part = save(browser, tmp_path / "saved", "quality_paraphrasing_eng-Latn_Ada-7.csv")
    assert "1 of 3 items are not fully rated" in status(browser)

    browser.execute_script("localStorage.clear()")
    browser.refresh()
    assert status(browser) == "0 of 3 rated"
    (tmp_path / "part.csv").write_bytes(part)
    browser.find_element(By.ID, "load").send_keys(str(tmp_path / "part.csv"))
    until = time.monotonic() + 10
    while status(browser) != "2 of 3 rated":
        assert time.monotonic() < until, status(browser)
    browser.find_element(By.ID, "next").click()
    browser.switch_to.active_element.send_keys(Keys.SPACE, Keys.ARROW_RIGHT)  # by keyboard: 1, then 2
    choose(browser, "t3", "fluency", 1)
    whole = save(browser, tmp_path / "saved", "quality_paraphrasing_eng-Latn_Ada-7.csv")
    assert "all 3 items are rated" in status(browser)

    assert whole.startswith(b"\xef\xbb\xbfitem_id,rater,quality,fluency,comment\r\n")
    rows = list(csv.DictReader(io.StringIO(whole.decode("utf-8-sig"), newline="")))
    assert {r["item_id"]: (int(r["quality"]), int(r["fluency"])) for r in rows} == given | {"t3": (2, 1)}
    assert {r["rater"] for r in rows} == {"Ada, 7"}
    assert rows[1]["comment"] == '\'=1+1; "جيد"\nline 2'
    assert [e for e in browser.get_log("browser") if e["level"] == "SEVERE"] == []


def test_answers_outlive_a_reload_and_a_foreign_file_changes_nothing(
    browser: webdriver.Chrome, page: Path, tmp_path: Path
) -> None:
    browser.get(page.as_uri())
    choose(browser, "t1", "quality", 4)
    choose(browser, "t1", "fluency", 4)
    browser.refresh()
    assert status(browser) == "1 of 3 rated"
    (tmp_path / "other.csv").write_text("item_id,rater,quality,fluency,comment\r\nother,x,1,1,\r\n")
    browser.find_element(By.ID, "load").send_keys(str(tmp_path / "other.csv"))
    until = time.monotonic() + 10
    while "no ratings of this sheet" not in status(browser):
        assert time.monotonic() < until, status(browser)
    assert browser.find_element(By.CSS_SELECTOR, 'input[name="quality-t1"][value="4"]').is_selected()
