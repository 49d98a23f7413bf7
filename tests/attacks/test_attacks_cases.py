"""The cases themselves: what is written of them is so, and they are harmless."""

from __future__ import annotations

import ast
from pathlib import Path
from string import Template

import pytest

from worldcoder.attacks import Case, Ending, Kind, every_case, find_case
from worldcoder.attacks.canaries import TOKEN
from worldcoder.attacks.case import Ran
from worldcoder.sandbox import Layer

NAMES = ("tcp", "udp", "parent", "public", "run", "pattern", "key_name")


def filled_in(source: str) -> str:
    """A program's text with something in the places of what is known of the canaries."""
    return source if "$" not in source else Template(source).safe_substitute(dict.fromkeys(NAMES, "1"))


def test_there_are_enough() -> None:
    cases = every_case()
    assert len(cases) >= 300
    assert {case.kind for case in cases} == set(Kind)
    assert find_case("udp").kind is Kind.NETWORK


def test_names_are_unique() -> None:
    sources = sorted(Path(__file__).parents[2].glob("src/worldcoder/attacks/cases_*.py"))
    assert len(sources) >= 10
    assert len({case.name for case in every_case()}) == len(every_case())
    assert len({case.tries for case in every_case()}) == len(every_case())


@pytest.mark.parametrize("case", every_case(), ids=lambda case: case.name)
def test_a_case(case: Case) -> None:
    for text in (case.source, case.then, case.fresh):
        compile(filled_in(text), case.name, "exec")
        assert not TOKEN.search(text)
    assert case.name == case.name.lower() and " " not in case.name
    assert case.tries[0].islower() or case.tries[0].isdigit()
    assert case.tries[-1] not in ".:" and "\n" not in case.tries and len(case.tries) < 100
    assert case.expected and Ending.BROKEN not in case.expected
    assert not case.without & set(case.held_by)
    assert case.system in ("", "linux") and case.machine in ("", "x86_64")


@pytest.mark.parametrize("case", every_case(), ids=lambda case: case.name)
def test_no_loop_is_without_end(case: Case) -> None:
    for node in ast.walk(ast.parse(filled_in(case.source))):
        if isinstance(node, ast.While):
            test = ast.unparse(node.test)
            assert any(word in test for word in ("clock() <", "monotonic() <", "size", "frame", "left")), test


def test_every_layer_is_tried() -> None:
    held = {layer for case in every_case() for layer in case.held_by}
    assert held == set(Layer)


def test_held_needs_the_right_ending_and_nothing_reached() -> None:
    case = find_case("loop")
    assert Ran(case, frozenset(), Ending.LATE).held
    assert not Ran(case, frozenset(), Ending.HARMLESS).held
    assert not Ran(case, frozenset(), Ending.LATE, ("a datagram by UDP",)).held
    assert not Ran(case, frozenset(), None, missing="only on linux").held
    assert Ran(case, frozenset(), Ending.LATE, ("a",), "why").happened == "reached: a (late: why)"
