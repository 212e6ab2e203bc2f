"""Which devices a job has, and how copies of a model are laid on them."""

from __future__ import annotations

import pytest

from stressbed.devices import environment, groups, visible
from stressbed.errors import EngineError


@pytest.mark.parametrize(
    ("environ", "expected"),
    [
        ({"CUDA_VISIBLE_DEVICES": "0,1"}, ["0", "1"]),
        ({"CUDA_VISIBLE_DEVICES": " 3 , GPU-8f2a"}, ["3", "GPU-8f2a"]),
        ({"CUDA_VISIBLE_DEVICES": ""}, []),
        ({"CUDA_VISIBLE_DEVICES": "-1"}, []),
        ({"CUDA_VISIBLE_DEVICES": "2,-1,3"}, ["2"]),
        ({"STRESSBED_DEVICES": "cpu,cpu", "CUDA_VISIBLE_DEVICES": "0"}, ["cpu", "cpu"]),
        ({"STRESSBED_DEVICES": ""}, []),
    ],
)
def test_a_job_sees_what_its_environment_names(environ, expected):
    assert visible(environ) == expected


def test_without_a_variable_torch_is_asked(monkeypatch):
    torch = pytest.importorskip("torch")
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 3)
    assert visible({}) == ["0", "1", "2"]


@pytest.mark.parametrize(
    ("devices", "gpus", "size", "expected"),
    [
        ("0123", 4, 1, [("0",), ("1",), ("2",), ("3",)]),
        ("0123", 4, 2, [("0", "1"), ("2", "3")]),
        ("0123", 2, 2, [("0", "1")]),
        ("0123", 1, 1, [("0",)]),
        ("012", 4, 2, [("0", "1")]),
        ("", 4, 2, [()]),
    ],
)
def test_copies_are_laid_on_devices_in_order(devices, gpus, size, expected):
    assert groups(list(devices), gpus=gpus, size=size, where="g") == expected


def test_fewer_devices_than_asked_for_are_told(caplog):
    groups(["0"], gpus=2, size=1, where="generator 'g'")
    assert "2 GPUs are asked for, but the job sees 1" in caplog.text


def test_a_copy_without_enough_devices_is_an_error():
    with pytest.raises(EngineError, match="spread over 4 GPUs, but the job sees 2"):
        groups(["0", "1"], gpus=4, size=4, where="g")


def test_a_process_sees_its_group_only():
    assert environment(("1", "2")) == {"CUDA_VISIBLE_DEVICES": "1,2"}
    assert environment(("cpu",)) == {"CUDA_VISIBLE_DEVICES": ""}
    assert environment(()) == {}
