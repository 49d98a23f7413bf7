"""No attack gets through, whoever runs the sandbox; and every layer that is taken off is missed."""

from __future__ import annotations

import pytest
from attacked import shown_by

from worldcoder.attacks import Kind, Report, every_case
from worldcoder.sandbox import Layer


def told(report: Report) -> str:
    """What got through, a line each."""
    lines = [f"{ran.case.name} ({ran.case.tries}): {ran.happened}" for ran in report.failed]
    return "\n".join([*lines, *report.unhealthy])


def test_nothing_gets_through(report: Report) -> None:
    assert [ran.case for ran in report.rans] == list(every_case())
    assert report.held, told(report)


def test_nothing_gets_through_for_an_ordinary_user(user_report: Report) -> None:
    assert Layer.USER not in user_report.layers
    assert [ran.case for ran in user_report.rans] == list(every_case())
    assert user_report.held, told(user_report)


@pytest.mark.parametrize("kind", Kind)
def test_every_kind_of_attack_says_something(kind: Kind, report: Report, user_report: Report) -> None:
    for each in (report, user_report):
        assert sum(ran.applicable for ran in each.of(kind)) >= 3


def test_what_says_nothing_says_why(user_report: Report) -> None:
    for ran in user_report.not_applicable:
        assert ran.missing and ran.happened == f"not applicable: {ran.missing}"
        assert not ran.held and ran not in user_report.failed


# ── the control ──────────────────────────────────────────────────────────────────────────────────────────


def test_every_attack_gets_through_where_nothing_holds_it(control_report: Report) -> None:
    held = [ran for ran in control_report.rans if ran.held and not ran.case.optional]
    assert not held, "\n".join(f"{ran.case.name}: {ran.happened}" for ran in held)
    optional = [ran for ran in control_report.rans if ran.held]
    assert len(optional) < 15, [ran.case.name for ran in optional]
    assert sum(bool(ran.reached) for ran in control_report.rans) >= 60


def missed(layer: Layer, report: Report) -> list[str]:
    """The cases that fail because this one layer is off, and nothing else that would hold them is here."""
    if layer not in report.layers:
        pytest.skip(f"{layer} is not on this machine, or not for this user")
    cases = [ran for ran in report.rans if shown_by(ran.case, report.layers) is layer]
    still_held = [ran.case.name for ran in cases if ran.held and not ran.case.optional]
    assert not still_held, f"these are held without {layer} as well: {still_held}"
    return [ran.case.name for ran in cases if not ran.held]


@pytest.mark.parametrize("layer", Layer)
def test_a_layer_that_is_off_is_missed(layer: Layer, control_report: Report) -> None:
    assert missed(layer, control_report), f"no attack shows what {layer} is good for"


@pytest.mark.parametrize("layer", Layer)
def test_a_layer_that_is_off_is_missed_by_an_ordinary_user(layer: Layer, user_control_report: Report) -> None:
    assert missed(layer, user_control_report), f"no attack shows what {layer} is good for"


def test_what_each_layer_alone_holds(control_report: Report) -> None:
    """The best known attacks, by the layer without which they succeed."""
    expected = {
        Layer.EXEC: {"environment", "environment-in-c", "walk-for-keys"},
        Layer.DESCRIPTORS: {"inherited-descriptors"},
        Layer.PARENT_DEATH: {"live-on"},
        Layer.TIMER: {"loop", "loop-in-del", "faked-clock"},
        Layer.MEMORY: {"memory-bomb", "raise-memory"},
        Layer.CPU: {"computing-for-ever"},
        Layer.PROCESSES: {"fork-without-filter", "threads-without-filter", "daemon"},
        Layer.FILES: {"socket-without-descriptors", "grow-without-locks"},
        Layer.NO_NEW_PRIVILEGES: {"may-gain-rights"},
        Layer.DUMP: {"is-dumpable"},
        Layer.DEADLINE: {"loop-in-c", "waiting", "tick-replaced", "signs-of-life", "dripping"},
        Layer.FRAMES: {"flood", "pickle", "wrong-id", "not-a-number", "two-answers"},
        Layer.SECCOMP: {"be-traced", "be-dumpable", "executable-memory", "timer-off", "kill-itself"},
        Layer.LANDLOCK: {"read-public-without-filter", "execute-without-filter", "unlink-without-filter"},
        Layer.USER: {"read-secret-as-another-user", "signal-parent-as-another-user"},
    }
    for layer, names in expected.items():
        if layer in control_report.layers:
            assert names <= set(missed(layer, control_report)), layer
