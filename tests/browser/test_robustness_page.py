"""The interactive page in a real browser, opened from a file: what it shows, and that it only shows."""

from __future__ import annotations

import base64
import json
import os
import sys
import time
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from chromium import needs_chromium, start
from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select, WebDriverWait

sys.path += [str(Path(__file__).parents[1] / "unit" / part) for part in ("report", "collect")]
from page_tables import make_names, write, write_tables

from stressbed.report.page.build import write_page

pytestmark = needs_chromium

SCRIPT = "</script><script>window.hit = 1</script><img src=x onerror='window.hit = 2'>"
ARABIC = "القطة تنام على السجادة (مع كلمة English)."
NAMES = make_names(5, 6)


def texts(i: int) -> tuple[str, str, str] | None:
    return {0: (SCRIPT, SCRIPT + " indeed", "eng-Latn"), 1: ("The cat sleeps.", ARABIC, "ara-Arab")}.get(
        i % 6
    )


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[webdriver.Chrome]:
    driver = start(tmp_path_factory.mktemp("profile"), width=1280)
    yield driver
    driver.quit()


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> dict[str, pd.DataFrame]:
    folder = tmp_path_factory.mktemp("run")
    found = write_tables(folder / "tables", NAMES, text=texts)
    # Planted: without Language the order of the first two embedders turns round.
    per = found["by_dataset"].copy()
    first, second = per["embedder"] == "model-0", per["embedder"] == "model-1"
    for a, value in {"lexical_stylistic": 2.0, "length": 1.0, "language": -6.0}.items():
        per.loc[second, a] = per.loc[first, a].to_numpy() + value
    per["hteb"] = per[["lexical_stylistic", "length", "language"]].mean(axis=1)
    per["drop"] = per["original"] - per["hteb"]
    write(folder / "tables", "by_dataset", per, NAMES)
    (folder / "tables" / "hteb_ranks.csv").unlink()
    write_page(tables=folder / "tables", names=NAMES, out=folder / "page.html", run="made", notice="Made up.")
    return {**found, "by_dataset": per, "page": folder / "page.html"}


@pytest.fixture
def page(browser: webdriver.Chrome, tables: dict[str, Any]) -> webdriver.Chrome:
    return opened(browser, tables["page"])


def opened(browser: webdriver.Chrome, path: Path, width: int = 1280) -> webdriver.Chrome:
    browser.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride",
        {"width": width, "height": 1000, "deviceScaleFactor": 1, "mobile": False},
    )
    browser.get_log("browser")
    browser.get_log("performance")
    browser.get(path.as_uri())
    drawn = "return document.documentElement.dataset.ready === 'true'"
    WebDriverWait(browser, 20).until(lambda b: b.execute_script(drawn))
    return browser


def rows(browser: webdriver.Chrome, section: str = "leaderboard") -> list[list[str]]:
    """Return the texts of a section's first table."""
    script = """return [...document.querySelector(arguments[0]).tBodies[0].rows].map(
        r => [...r.cells].map(c => c.textContent.replaceAll('\\u2212', '-')))"""
    found: list[list[str]] = browser.execute_script(script, f"#{section} .body table")
    return found


def expected(per: pd.DataFrame, axes: list[str]) -> pd.DataFrame:
    """Return totals, drops and ranks as they follow from the table, best first."""
    total = per.assign(total=per[axes].mean(axis=1)).groupby("embedder")[["original", "total"]].mean()
    total["drop"] = total["original"] - total["total"]
    total["rank"] = total["total"].rank(ascending=False)
    return total.sort_values("rank")


def shown(browser: webdriver.Chrome) -> list[tuple[str, str, str, str]]:
    """Return (embedder, rank, HTEB, drop) of each row, without intervals."""
    return [
        (r[1].split(" (")[0], *(r[i].split(" (")[0] for i in (0, 6, 7)))
        for r in rows(browser)
    ]  # fmt: skip


def as_shown(frame: pd.DataFrame) -> list[tuple[str, str, str, str]]:
    return [
        (NAMES.embedders[str(e)], f"{r['rank']:.0f}", f"{r['total']:.1f}", f"{r['drop']:.1f}")
        for e, r in frame.iterrows()
    ]


def test_an_axis_that_is_left_out_changes_totals_drops_and_ranks(
    page: webdriver.Chrome, tables: dict[str, Any]
) -> None:
    per = tables["by_dataset"]
    everything = expected(per, ["lexical_stylistic", "length", "language"])
    without = expected(per, ["lexical_stylistic", "length"])
    assert list(everything.index)[:2] == ["model-0", "model-1"]
    assert list(without.index)[:2] == ["model-1", "model-0"]
    assert shown(page) == as_shown(everything)

    page.find_element(By.ID, "axis-language").send_keys(Keys.SPACE)
    assert shown(page) == as_shown(without)
    assert "Axes that count: Lexical/Stylistic, Length." in page.find_element(By.ID, "axes-said").text
    page.find_element(By.ID, "axis-length").click()
    assert shown(page) == as_shown(expected(per, ["lexical_stylistic"]))
    page.find_element(By.ID, "axis-lexical_stylistic").click()
    assert "at least one" in page.find_element(By.ID, "leaderboard-note").text
    assert {r[6] for r in rows(page)} == {"–"}
    page.find_element(By.ID, "preset-english").click()
    assert shown(page) == as_shown(without)
    assert not page.find_element(By.ID, "axis-language").is_selected()
    page.find_element(By.ID, "preset-all").click()
    assert shown(page) == as_shown(everything)


def test_recomputed_intervals_are_those_of_a_bootstrap_over_datasets(
    page: webdriver.Chrome, tables: dict[str, Any]
) -> None:
    page.find_element(By.ID, "preset-english").click()
    per = tables["by_dataset"]
    wide = per.assign(total=per[["lexical_stylistic", "length"]].mean(axis=1)).pivot(
        index="dataset", columns="embedder", values="total"
    )
    picked = np.random.default_rng(5).integers(0, len(wide), (20_000, len(wide)))
    means = wide.to_numpy()[picked].mean(axis=1)
    low, high = np.quantile(means, [0.025, 0.975], axis=0)
    drawn = pd.DataFrame(means).rank(axis=1, ascending=False).quantile([0.025, 0.975]).to_numpy().T
    order = list(wide.columns)
    for row in rows(page):
        at = [NAMES.embedders[e] for e in order].index(row[1].split(" (")[0])
        ends = [float(x) for x in row[6].split("(")[1].rstrip(")").split(" to ")]
        np.testing.assert_allclose(ends, [low[at], high[at]], atol=0.6)
        ranks = row[0].split("(")[1].rstrip(")").split(" to ")
        assert [float(ranks[0]), float(ranks[-1])] == list(drawn[at])


def test_headers_sort_by_keyboard_and_say_so(page: webdriver.Chrome, tables: dict[str, Any]) -> None:
    heads = page.find_elements(By.CSS_SELECTOR, "#leaderboard thead th")
    original = next(h for h in heads if h.text.startswith("Original"))
    original.find_element(By.TAG_NAME, "button").send_keys(Keys.ENTER)
    assert original.get_attribute("aria-sort") == "descending"
    assert [h.get_attribute("aria-sort") for h in heads if h != original] == [None] * (len(heads) - 1)
    means = tables["by_dataset"].groupby("embedder")["original"].mean().sort_values(ascending=False)
    labels = [NAMES.embedders[e] for e in means.index]
    assert [r[1].split(" (")[0] for r in rows(page)] == labels
    assert page.switch_to.active_element == original.find_element(By.TAG_NAME, "button")
    page.switch_to.active_element.send_keys(Keys.SPACE)
    assert original.get_attribute("aria-sort") == "ascending"
    assert [r[1].split(" (")[0] for r in rows(page)] == labels[::-1]


def test_texts_are_shown_and_never_run(page: webdriver.Chrome) -> None:
    Select(page.find_element(By.ID, "pick-embedder")).select_by_visible_text("Model A")
    while more := page.find_elements(By.CSS_SELECTOR, "#items .more"):
        more[0].send_keys(Keys.ENTER)
    script = "return [...document.querySelectorAll('#items .text')].map(e => e.textContent)"
    there = page.execute_script(script)
    assert {SCRIPT, SCRIPT + " indeed", ARABIC} <= set(there)
    assert page.execute_script("return window.hit") is None
    assert page.find_elements(By.CSS_SELECTOR, "#items .text img, #items .text script") == []
    arabic = next(
        e for e in page.find_elements(By.CSS_SELECTOR, "#items .text") if e.text.startswith("القطة")
    )
    assert arabic.value_of_css_property("direction") == "rtl"
    assert arabic.get_attribute("lang") == "ar"
    assert [e for e in page.get_log("browser") if e["level"] == "SEVERE"] == []


def test_differences_are_marked_on_both_sides(page: webdriver.Chrome) -> None:
    script = """const mark = (tag) => (n) => n.nodeName === tag ? `[${n.textContent}]` : n.textContent;
        const show = (nodes, tag) => nodes.map(mark(tag)).join('');
        const {left, right, why} = Items.compared(arguments[0], arguments[1]);
        return [show(left, 'DEL'), show(right, 'INS'), why]"""
    compared = lambda a, b: page.execute_script(script, a, b)  # noqa: E731
    assert compared("the old dog sleeps", "the dog sleeps well") == [
        "the [old ]dog sleeps",
        "the dog sleeps [well]",
        "",
    ]
    assert compared("same words", "same words") == [
        "same words",
        "same words",
        "The rewritten text is the original.",
    ]
    assert compared("猫在垫子上睡觉", "狗在垫子上睡觉") == ["[猫]在垫子上睡觉", "[狗]在垫子上睡觉", ""]
    assert "share few words" in compared("The cat sleeps.", "Die Katze schläft")[2]
    assert "Long texts" in compared("a " * 900, "b " * 900)[2]


def test_items_are_those_of_the_chosen_cell(page: webdriver.Chrome, tables: dict[str, Any]) -> None:
    for kind, text in {"embedder": "Model B", "dataset": "Data set 3", "transformation": "Expansion"}.items():
        Select(page.find_element(By.ID, f"pick-{kind}")).select_by_visible_text(text)
    heads = [e.text for e in page.find_elements(By.CSS_SELECTOR, "#items article h3")]
    assert len(heads) == 1
    assert heads[0].startswith("Data set 3 · Expansion · seed ")
    cells = tables["drops_by_cell"].set_index(["embedder", "dataset", "transformation"])
    cell = cells.loc[("model-1", "data-3", "expansion")]
    said = page.find_element(By.CSS_SELECTOR, "#items .cell").text
    assert f"Original {cell['original']:.1f}, drop {cell['drop']:.1f} (mean over seeds)." in said
    assert said.count("95 % interval") == 3
    assert page.switch_to.active_element.get_attribute("id") == "pick-transformation"


def test_an_item_shows_all_of_its_texts_and_what_was_left_as_it_is(
    browser: webdriver.Chrome, tables: dict[str, Any], tmp_path: Path
) -> None:
    item = tables["worst_items"].head(1)
    both = pd.concat([item, item.assign(field="sentence2", original_text="Left alone.", rewritten_text="")])
    write(tmp_path / "tables", "worst_items", both, NAMES)
    write_page(tables=tmp_path / "tables", names=NAMES, out=tmp_path / "page.html", run="pair")
    pair = opened(browser, tmp_path / "page.html")
    assert pair.find_element(By.ID, "items-said").text == "1 of 1 item, the largest loss first."
    (article,) = pair.find_elements(By.CSS_SELECTOR, "#items article")
    sides = [e.text for e in article.find_elements(By.CLASS_NAME, "side")]
    assert sides == ["Original (sentence1)", "Rewritten (sentence1)", "Original, not rewritten (sentence2)"]
    assert article.find_elements(By.CLASS_NAME, "text")[2].text == "Left alone."


def test_nothing_is_requested_but_the_file(page: webdriver.Chrome) -> None:
    time.sleep(0.5)
    messages = [json.loads(e["message"])["message"] for e in page.get_log("performance")]
    urls = [m["params"]["request"]["url"] for m in messages if m["method"] == "Network.requestWillBeSent"]
    assert urls
    assert {u.split(":")[0] for u in urls} <= {"file", "data"}
    assert [u for u in urls if u.startswith("file") and not u.endswith("page.html")] == []
    assert [e for e in page.get_log("browser") if e["level"] in {"SEVERE", "WARNING"}] == []


def test_the_keyboard_comes_past_the_head_and_to_every_table(page: webdriver.Chrome) -> None:
    page.find_element(By.TAG_NAME, "body").send_keys(Keys.TAB)
    skip = page.switch_to.active_element
    assert skip.text == "Skip to the results"
    assert skip.rect["x"] >= 0
    skip.send_keys(Keys.ENTER)
    assert page.switch_to.active_element.get_attribute("id") == "main"
    page.switch_to.active_element.send_keys(Keys.TAB)
    assert page.switch_to.active_element.get_attribute("id") == "axis-lexical_stylistic"
    assert page.switch_to.active_element.value_of_css_property("outline-style") == "solid"
    unreached = (
        "return [...document.querySelectorAll('.wide')].filter(e => e.tabIndex !== 0 || !e.ariaLabel).length"
    )
    assert page.execute_script(unreached) == 0


def test_everything_has_a_name(page: webdriver.Chrome) -> None:
    nodes = page.execute_cdp_cmd("Accessibility.getFullAXTree", {})["nodes"]
    named = {"button", "checkbox", "combobox", "link", "img", "region", "table", "heading", "navigation"}
    ignored = [n for n in nodes if n.get("ignored") is False and n["role"]["value"] in named]
    without = [n for n in ignored if not n.get("name", {}).get("value")]
    assert len(ignored) > 60
    assert [n for n in without if n["role"]["value"] != "table"] == []
    levels = page.execute_script(
        "return [...document.querySelectorAll('h1,h2,h3,h4')].map(h => +h.tagName[1])"
    )
    assert levels[0] == 1
    assert all(b - a <= 1 for a, b in pairwise(levels))


def test_a_phone_scrolls_tables_and_not_the_page(
    browser: webdriver.Chrome, tables: dict[str, Any], tmp_path: Path
) -> None:
    phone = opened(browser, tables["page"], width=360)
    time.sleep(0.5)
    assert phone.execute_script("return document.documentElement.scrollWidth") <= 360
    wider = "return [...document.querySelectorAll('.wide')].filter(e => e.scrollWidth > e.clientWidth).length"
    assert phone.execute_script(wider) > 0
    photograph(phone, "phone", tmp_path)


def test_paper_has_no_controls_and_all_cards_open(page: webdriver.Chrome, tmp_path: Path) -> None:
    photograph(page, "desktop", tmp_path)
    page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    hidden = "return [...document.querySelectorAll('.controls, nav, .more')].every(e => !e.offsetParent)"
    assert page.execute_script(hidden)
    page.execute_script("window.dispatchEvent(new Event('beforeprint'))")
    assert page.find_elements(By.CSS_SELECTOR, "details:not([open])") == []
    page.execute_script("window.dispatchEvent(new Event('afterprint'))")
    assert page.find_elements(By.CSS_SELECTOR, "details[open]") == []
    page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})
    pdf = base64.b64decode(page.execute_cdp_cmd("Page.printToPDF", {"printBackground": True})["data"])
    (folder(tmp_path) / "page.pdf").write_bytes(pdf)
    assert pdf.startswith(b"%PDF")


def folder(default: Path) -> Path:
    """Return where pictures of the page go."""
    found = Path(os.environ.get("STRESSBED_SCREENSHOTS") or default)
    found.mkdir(parents=True, exist_ok=True)
    return found


def photograph(browser: webdriver.Chrome, name: str, default: Path) -> None:
    time.sleep(0.5)  # charts are drawn after the page
    size = browser.execute_script("return [document.documentElement.scrollWidth, document.body.scrollHeight]")
    clip = {"x": 0, "y": 0, "width": size[0], "height": min(size[1], 8000), "scale": 1}
    shot = browser.execute_cdp_cmd("Page.captureScreenshot", {"captureBeyondViewport": True, "clip": clip})
    (folder(default) / f"{name}.png").write_bytes(base64.b64decode(shot["data"]))


def test_a_choice_of_generator_and_setting_changes_every_part(
    browser: webdriver.Chrome, tmp_path: Path
) -> None:
    names = make_names(3, 4, generators=("small", "large"), settings=("english", "non_english"))
    found = write_tables(tmp_path / "tables", names)
    write_page(tables=tmp_path / "tables", names=names, out=tmp_path / "page.html", run="several")
    keys = ["generator", "setting"]
    at = {
        k: found[k].set_index(keys).sort_index() for k in ("hteb_ranks", "delta_by_transformation", "shifts")
    }
    several = opened(browser, tmp_path / "page.html")
    for generator in ("small", "large"):
        for setting in ("non_english", "english"):
            Select(several.find_element(By.ID, "choose-generator")).select_by_value(generator)
            Select(several.find_element(By.ID, "choose-setting")).select_by_value(setting)
            here = {k: f.loc[(generator, setting)] for k, f in at.items()}
            best = here["hteb_ranks"].sort_values("rank_hteb").iloc[0]
            row = rows(several)[0]
            assert row[1].startswith(names.embedders[best["embedder"]])
            assert row[6].startswith(f"{best['hteb']:.1f} (")
            delta = here["delta_by_transformation"].set_index("embedder").loc[best["embedder"]]
            assert f"{delta['expansion']:.1f}" in rows(several, "transformations")[0]
            assert f"{here['shifts'].iloc[0]['shift']:.1f}" in rows(several, "shifts")[0]
    assert several.get_log("browser") == [] or all(e["level"] == "INFO" for e in several.get_log("browser"))


def test_a_run_with_nothing_says_what_is_missing(browser: webdriver.Chrome, tmp_path: Path) -> None:
    write_page(tables=tmp_path / "tables", names=make_names(1, 1), out=tmp_path / "page.html", run="none")
    empty = opened(browser, tmp_path / "page.html")
    said = empty.find_element(By.ID, "main").text
    for name in (
        "hteb_ranks",
        "delta_by_transformation",
        "worst_items",
        "shifts",
        "rank_stability",
        "split_half",
    ):
        assert f"Not computed: this run has no table {name}." in said
    assert empty.find_elements(By.CSS_SELECTOR, "table, figure") == []
    assert [e for e in empty.get_log("browser") if e["level"] == "SEVERE"] == []


def test_one_embedder_on_one_dataset_gets_no_interval(browser: webdriver.Chrome, tmp_path: Path) -> None:
    names = make_names(1, 1)
    write_tables(tmp_path / "tables", names, leave=("hteb_ranks",))
    write_page(tables=tmp_path / "tables", names=names, out=tmp_path / "page.html", run="one")
    one = opened(browser, tmp_path / "page.html")
    (row,) = rows(one)
    assert row[0] == "1 (no interval)"
    assert "(" not in row[6] + row[7]
    assert "they need 6 datasets" in one.find_element(By.ID, "leaderboard-note").text
