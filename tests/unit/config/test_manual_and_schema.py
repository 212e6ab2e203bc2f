"""The generated manual and schema: fresh, and true to what loading accepts."""

import json
import re

import jsonschema
import pytest
from config_cases import ROOT

from stressbed import manual
from stressbed.config.catalogue import KINDS
from stressbed.config.load import read_config
from stressbed.config.model import RunConfig


def test_generated_files_are_fresh():
    assert manual.stale(ROOT) == [], "run python -m stressbed.manual"


def test_a_change_makes_them_stale_and_writing_mends_it(tmp_path):
    (tmp_path / "config").mkdir()
    for name in ("catalogue", "own-data", "test.yaml"):
        (tmp_path / "config" / name).symlink_to(ROOT / "config" / name)
    said: list[str] = []
    root = ["--root", str(tmp_path)]
    assert manual.main([*root, "--check"], said.append) == 1
    assert manual.main(root, said.append) == 0
    assert manual.main([*root, "--check"], said.append) == 0
    path = tmp_path / "config" / "README.md"
    path.write_text(path.read_text().replace("Catalogue ids of datasets.", "Something else."))
    assert manual.main([*root, "--check"], said.append) == 1
    assert "README.md is stale" in said[-1]


def test_the_manual_has_every_key_with_its_meaning():
    text = (ROOT / "config" / "README.md").read_text(encoding="utf-8")
    for model in (RunConfig, *KINDS.values()):
        for key, field in model.model_fields.items():
            assert field.description, f"{model.__name__}.{key}"
            assert re.search(rf"^\| `{key}` \|.*{re.escape(field.description)} \|$", text, re.M), key


def test_the_manual_lists_every_entry():
    text = (ROOT / "config" / "README.md").read_text(encoding="utf-8")
    for path in (ROOT / "config" / "catalogue").rglob("*.yaml"):
        for entries in read_config(path).values():
            for entry in entries:
                assert f"| `{entry['id']}` |" in text


SHIPPED = [*(ROOT / "config").glob("*.yaml"), *(ROOT / "config").glob("*/**/*.yaml")]


@pytest.mark.parametrize("path", SHIPPED, ids=lambda p: p.name)
def test_shipped_files_fit_the_schema(path):
    schema = json.loads((ROOT / "config" / "schema.json").read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.Draft202012Validator(schema).validate(read_config(path))


def test_the_schema_refuses_what_loading_refuses():
    schema = json.loads((ROOT / "config" / "schema.json").read_text())
    run = read_config(ROOT / "config" / "test.yaml")
    valid = jsonschema.Draft202012Validator(schema).is_valid
    assert valid(run)
    assert not valid({**run, "seedz": [1]})
    assert not valid({**run, "seeds": ["one"]})
    assert not valid({**run, "colours": {"tf": "red"}})
    assert not valid({k: v for k, v in run.items() if k != "run"})
