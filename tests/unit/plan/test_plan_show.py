"""Hours, bytes, money and done shares; how numbers and tables read; the command."""

from __future__ import annotations

import csv
import io
import json

import pytest
import yaml
from plan_runs import ROOT, Stages, small

from stressbed.cli import main
from stressbed.plan import numbers, show
from stressbed.plan.assumptions import assumptions
from stressbed.plan.build import forecast
from stressbed.plan.models import Model, encoding, writing
from stressbed.plan.records import Records, read_records

NOTHING = Records(writing={}, encoding={}, jobs=0)
LARGE = Model("m", "generator", 27e9, True, True, False, "gpu")


def written(model=LARGE, device="a100", tokens=1e6, records=NOTHING, read=0.0):
    a = assumptions()
    return writing(
        model, text_tokens=read, all_tokens=read, tokens_out=tokens, jobs=1, concurrency=4,
        device=a.device(device), records=records, assumed=a,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("value", "exact", "said"),
    [(1234567, True, "1,234,567"), (1234567, False, "~1,230,000"), (88, False, "~88"), (0, True, "0"),
     (12.4, False, "~12")],
)  # fmt: skip
def test_counts_are_grouped_and_assumed_ones_rounded_and_marked(value, exact, said):
    assert numbers.count(value, exact=exact) == said


@pytest.mark.parametrize(
    ("share", "said"), [(0, "0 %"), (0.004, "<1 %"), (0.5, "50 %"), (0.9999, "99 %"), (1, "100 %")]
)
def test_only_what_is_finished_is_100_per_cent(share, said):
    assert numbers.percent(share) == said


@pytest.mark.parametrize(
    ("seconds", "said"),
    [(0, "0 s"), (45, "~45 s"), (600, "~10 min"), (3 * 3600, "~3.0 h"), (310.4 * 3600, "~310 h")],
)
def test_times_are_in_the_unit_that_a_person_would_use(seconds, said):
    assert numbers.duration(seconds, measured=False) == said


def test_a_generator_of_27_billion_writes_some_hundred_tokens_a_second_on_an_a100():
    assert 500 < 1e6 / (written().seconds - written(tokens=1e-9).seconds) < 1000


def test_time_follows_from_size_device_and_tokens():
    load = written(tokens=1e-9).seconds
    assert written(tokens=2e6).seconds - load == pytest.approx(2 * (written().seconds - load), rel=1e-6)
    assert written(device="h100").seconds < written().seconds
    assert written(read=1e6).seconds > written().seconds
    small_model = Model("m", "generator", 8e9, True, False, False, "gpu")
    assert written(small_model).seconds < written().seconds


def test_recorded_speeds_win(tmp_path):
    records = Records(writing={"m": 0.5}, encoding={"e": 0.25}, jobs=3)
    time = written(records=records)
    assert (time.seconds, time.measured) == (5e5, True)
    embedder = Model("e", "embedder", 8e9, True, False, False, "gpu")
    a = assumptions()
    many = encoding(
        embedder, strings=400, tokens=1e4, jobs=0, device=a.device("a100"), records=records, assumed=a
    )
    assert (many.seconds, many.measured) == (100, True)


def test_speeds_come_from_jobs_that_did_the_work_for_one_model(tmp_path):
    jobs = tmp_path / "jobs" / "generate"
    jobs.mkdir(parents=True)

    def put(name, sent, *generators):
        record = {
            "stage": "generate", "decides": [f"generator {g}: model = 1" for g in generators],
            "counters": {"sent": sent, "seconds": 20.0, "tokens_out": 100},
        }  # fmt: skip
        (jobs / name).write_text(json.dumps(record))

    put("a.json", 10, "one")
    put("b.json", 0, "found-in-the-store")
    put("c.json", 10, "two", "three")
    (jobs / "d.json").write_text("damaged")
    found = read_records(tmp_path)
    assert found.writing == {"one": 0.2}
    assert found.jobs == 1


def paid(tmp_path, cap=1000.0):
    entry = {
        "id": "paid", "engine": "openai", "model": "m", "base_url": "http://127.0.0.1:1/v1", "price_in": 2.0,
        "price_out": 10.0, "spending_cap": cap,
    }  # fmt: skip
    file = tmp_path / "paid.yaml"
    file.write_text(yaml.safe_dump({"generators": [entry]}))
    return small(
        tmp_path / "results", generator="paid", catalogue=["config/own-data/catalogue.yaml", str(file)]
    )


def test_prices_are_those_of_the_tokens(tmp_path):
    seen = forecast(paid(tmp_path))
    stage = seen.stage("generate")
    assert seen.price == pytest.approx((2 * stage.tokens_in + 10 * stage.tokens_out) / 1e6)
    assert f"{numbers.money(seen.price)} to pay" in show.headline(seen)
    assert not seen.warnings


def test_a_spending_cap_that_will_not_do_is_a_warning(tmp_path):
    (said,) = forecast(paid(tmp_path, cap=0.0001)).warnings
    assert "paid" in said
    assert "spending_cap" in said


def test_weights_that_do_not_fit_the_device_are_a_warning(tmp_path):
    plan = small(tmp_path / "results", generator="qwen3-14b-awq", embedders=["qwen3-embedding-8b"])
    assert not any("fit" in w for w in forecast(plan, device="a100").warnings)
    large = small(tmp_path / "results", generator="qwen3-14b-awq", embedders=["harrier-oss-v1-27b"])
    assert any("harrier-oss-v1-27b" in w for w in forecast(large, device="rtx-4090").warnings)


def test_too_small_a_disk_is_a_warning(tmp_path, monkeypatch):
    monkeypatch.setattr("stressbed.plan.totals.free_bytes", lambda _: 1000.0)
    assert any("free" in w for w in forecast(small(tmp_path / "results")).warnings)


def test_the_text_is_aligned_and_says_what_is_assumed(tmp_path):
    text = show.as_text(forecast(small(tmp_path / "results")))
    lines = text.splitlines()
    assert lines[0].startswith("small: about ")
    assert lines[0].endswith("; 0 % done.")
    rule = next(i for i, line in enumerate(lines) if line.startswith("---"))
    table = lines[rule - 1 : lines.index("", rule)]
    ends = {line.rindex("%") for line in table[2:]}
    assert len(ends) == 1
    assert "~568" in text
    assert "165" in text
    assert "~165" not in text
    assert "Assumed, and left out:" in text


def test_formats_hold_the_same_numbers(tmp_path):
    seen = forecast(small(tmp_path / "results"))
    show.write(seen, tmp_path / "out")
    whole = json.loads((tmp_path / "out" / "plan.json").read_text())
    assert whole["stages"][1]["units"] == 165
    rows = list(csv.DictReader(io.StringIO((tmp_path / "out" / "plan.csv").read_text())))
    units = {r["name"]: r for r in rows if r["part"] == "stage" and r["what"] == "units"}
    assert (float(units["generate"]["value"]), units["generate"]["assumed"]) == (165, "no")
    assert units["embed"]["assumed"] == "yes"
    assert "| generate | 2 | 2 | 165 |" in (tmp_path / "out" / "plan.md").read_text()


def test_what_is_left_is_shown_once_something_is_done(tmp_path):
    plan = small(tmp_path / "results")
    assert "time left" not in show.as_text(forecast(plan))
    Stages(plan).freeze("helpdesk")
    assert "time left" in show.as_text(forecast(plan))


def write_config(folder):
    config = yaml.safe_load((ROOT / "config" / "test.yaml").read_text())
    (folder / "run.yaml").write_text(yaml.safe_dump(config | {"results": str(folder / "results")}))


def test_the_command_prints_and_writes(tmp_path, capsys):
    config = yaml.safe_load((ROOT / "config" / "test.yaml").read_text()) | {
        "results": str(tmp_path / "results")
    }
    (tmp_path / "run.yaml").write_text(yaml.safe_dump(config))
    assert main(["plan", str(tmp_path / "run.yaml"), "--out", str(tmp_path / "out")]) == 0
    assert "165 requests" in capsys.readouterr().out
    assert sorted(p.name for p in (tmp_path / "out").iterdir()) == sorted(show.FILES)


def test_an_unknown_device_is_an_error_that_names_the_known_ones(tmp_path, capsys):
    config = yaml.safe_load((ROOT / "config" / "test.yaml").read_text()) | {
        "results": str(tmp_path / "results")
    }
    (tmp_path / "run.yaml").write_text(yaml.safe_dump(config))
    assert main(["plan", str(tmp_path / "run.yaml"), "--device", "a10"]) == 1
    said = capsys.readouterr().err
    assert "a100" in said
    assert "--device" in said


def test_every_assumption_about_a_device_names_its_source():
    assert all(d.source for d in assumptions().devices)
    assert assumptions().device(assumptions().default_device)
