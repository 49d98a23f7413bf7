"""`worldcoder doctor`."""

from __future__ import annotations

import json
import re

import pytest

from worldcoder.attacks import find_case
from worldcoder.cli import doctoring, main
from worldcoder.sandbox import Layer, LayerReport

FEW = tuple(find_case(name) for name in ("udp", "read-public-without-filter", "pickle", "patch-service"))


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only some attacks, so that it is quick."""
    monkeypatch.setattr("worldcoder.attacks.run.every_case", lambda: FEW)


def test_the_layers(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor"]) == 0
    out = capsys.readouterr().out
    for layer in Layer:
        assert re.search(rf"^  {layer} +(there|missing) +stops: {re.escape(layer.stops)}", out, re.M)
    assert re.search(r"\na new worker is ready in \d+\.\d ms", out)
    assert out.endswith("\nprograms run locked\n")


def test_the_layers_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor", "--json"]) == 0
    values = json.loads(capsys.readouterr().out)
    assert values["safe"] is True and values["trouble"] == "" and values["new_worker_ms"] > 0
    assert [row["layer"] for row in values["layers"]] == list(Layer)
    assert "attack" not in values and values["python"] and values["system"]


def test_a_machine_without_a_lock(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], few: None
) -> None:
    nothing = tuple(
        LayerReport(layer, False, layer is Layer.SECCOMP, "no table of numbers") for layer in Layer
    )
    monkeypatch.setattr(doctoring, "probe", lambda: nothing)
    assert main(["doctor", "--attack"]) == 1
    out = capsys.readouterr().out
    assert out.endswith("programs cannot be run safely here: seccomp: no table of numbers\n")
    assert "a new worker" not in out and "attacks in" not in out


def test_attacks(capsys: pytest.CaptureFixture[str], few: None) -> None:
    assert main(["doctor", "--attack"]) == 0
    out = capsys.readouterr().out
    assert re.search(r"\n4 attacks in [\d.]+ s, as (root|an ordinary user)\n", out)
    assert re.search(r"\n  hostile replies +1 of +1 held\n", out)
    assert "the sandbox held against all 4 attacks\n" in out and out.endswith("\nprograms run locked\n")
    assert "NOT" not in out


def test_attacks_without_a_layer(capsys: pytest.CaptureFixture[str], few: None) -> None:
    assert main(["doctor", "--attack", "--without", "frames", "--without", "no-new-privileges"]) == 1
    out = capsys.readouterr().out
    assert "\nleft off on purpose: frames, no new privileges\n" in out
    assert "\n  NOT HELD  pickle (a pickle, which would run in the parent): " in out
    assert "the sandbox did NOT hold" in out and "programs run locked" not in out


def test_attacks_as_json(capsys: pytest.CaptureFixture[str], few: None) -> None:
    assert main(["doctor", "--attack", "--json", "--without", "frames"]) == 1
    attack = json.loads(capsys.readouterr().out)["attack"]
    assert attack["held"] is False and attack["off"] == ["frames"] and not attack["unhealthy"]
    cases = {case["name"]: case for case in attack["cases"]}
    assert set(cases) == {case.name for case in FEW}
    assert cases["pickle"]["held"] is False and cases["udp"]["held"] is True
    assert cases["pickle"]["held_by"] == ["frames"] and cases["udp"]["tries"] == "a datagram by UDP"


def test_arguments_that_do_not_fit(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor", "--without", "frames"]) == 2
    assert "--without is for --attack" in capsys.readouterr().err
    assert main(["doctor", "--attack", "--without", "walls"]) == 2
    assert "no layer 'walls'; there are: exec, descriptors, " in capsys.readouterr().err
