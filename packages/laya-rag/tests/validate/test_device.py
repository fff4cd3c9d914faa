from __future__ import annotations

from collections.abc import Callable

import onnxruntime
import pytest
from laya_rag.validate.device import check_device, missing_devices, runtimes
from laya_rag.validate.trial import Trial
from laya_signals import Component, ComponentConfig
from laya_signals.encode.mini import MiniEncoder


def test_it_says_what_ran_where(trial_of: Callable[..., Trial]) -> None:
    finding = check_device(trial_of(signals_embedding={"provider": "encoder.mini"}))
    assert finding.problems == ()
    assert finding.facts["components"]["embedding"] == {
        "provider": "encoder.mini",
        "ran_on": ["onnxruntime CPUExecutionProvider"],
    }
    assert finding.facts["components"]["bm25"]["ran_on"] == []
    assert finding.facts["packages"]["onnxruntime"] == onnxruntime.__version__
    assert finding.facts["processors"] >= 1


def test_a_device_that_is_not_there_fails(trial_of: Callable[..., Trial], broken: str) -> None:
    encoder = {"provider": f"{broken}:Words", "config": {"device": "cuda:7"}}
    (only,) = check_device(trial_of(signals_embedding=encoder)).problems
    assert only.startswith("embedding: asks for device 'cuda:7', but ")


class AsksConfig(ComponentConfig):
    device: str = "cpu"
    providers: tuple[str, ...] = ()
    inner: dict[str, str] = {}  # noqa: RUF012 - pydantic copies it


class Asks(Component[AsksConfig]):
    Config = AsksConfig


@pytest.mark.parametrize(
    ("settings", "count"),
    [
        ({}, 0),
        ({"providers": ["CPUExecutionProvider"]}, 0),
        ({"providers": ["NoSuchProvider"]}, 1),
        ({"inner": {"device": "nonsense"}}, 1),
        ({"device": "nonsense", "inner": {"device": "cpu"}}, 1),
    ],
)
def test_settings_name_devices_at_any_depth(settings: dict[str, object], count: int) -> None:
    assert len(list(missing_devices(Asks(settings)))) == count
    assert len(list(missing_devices([{"held": Asks(settings)}]))) == count


def test_a_model_that_was_not_loaded_ran_nowhere() -> None:
    encoder = MiniEncoder()
    assert list(runtimes(encoder)) == []
    encoder.encode_documents(["a text"])
    assert list(runtimes({"wrapped": (encoder,)})) == ["onnxruntime CPUExecutionProvider"]
