"""Which recorded transitions a model does not reproduce, and how, in words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from worldcoder.cli.words import count
from worldcoder.comparison.words import end_in_words, reward_in_words, state_in_words, without_places
from worldcoder.programs import Mismatch, Runner, WorldModel
from worldcoder.programs.prediction import FAILING
from worldcoder.runs.assessment import not_reproduced
from worldcoder.world.values import Action, State, Transition

SHOWN = 5
LONGEST = 240


def unexplained(model: WorldModel, transitions: Sequence[Transition], runner: Runner) -> dict[str, Any]:
    """The transitions of a run that a model does not reproduce: how many, and the first of each sort.

    each: the sorts, in the order in which they were met; `count` says how many are alike wherever they
    happened; `contradicts`: a transition in which the first of them, the same action in the same state, led elsewhere.
    errors: how many come of a program that failed; first_error: how it did first. contradictions: how many steps led to
    one state here and to another there, which no program can reproduce.
    """
    wrong = not_reproduced(model, transitions, runner)
    led_to = _led_to(transitions)
    sorts: dict[tuple[str, str], dict[str, Any]] = {}
    for mismatch in wrong:
        step = transitions[mismatch.index]
        text = _in_words(mismatch, step)
        found = sorts.setdefault(
            (str(step.action), without_places(text)),
            {
                "number": mismatch.index + 1,
                "action": str(step.action),
                "what": mismatch.what,
                "difference": text,
                "contradicts": _elsewhere(led_to, step),
                "count": 0,
            },
        )
        found["count"] += 1
    errors = [mismatch.error for mismatch in wrong if mismatch.what in FAILING]
    return {
        "transitions": len(transitions),
        "count": len(wrong),
        "errors": len(errors),
        "first_error": errors[0] if errors else None,
        "contradictions": sum(len(ends) > 1 for ends in led_to.values()),
        "each": list(sorts.values()),
    }


def _led_to(transitions: Sequence[Transition]) -> dict[tuple[State, Action], dict[State, int]]:
    """For each step the states that it led to, each with the number of the first transition that did."""
    found: dict[tuple[State, Action], dict[State, int]] = {}
    for number, t in enumerate(transitions, 1):
        found.setdefault((t.state, t.action), {}).setdefault(t.next_state, number)
    return found


def _elsewhere(led_to: dict[tuple[State, Action], dict[State, int]], step: Transition) -> int | None:
    """The number of a transition in which the same step led to another state."""
    ends = led_to[step.state, step.action]
    return next((number for state, number in ends.items() if state != step.next_state), None)


def _in_words(mismatch: Mismatch, step: Transition) -> str:
    match mismatch:
        case Mismatch(what="state", predicted=State() as predicted):
            return state_in_words(step.state, predicted, step.next_state)
        case Mismatch(what="reward", predicted=float() | int() as predicted):
            return reward_in_words(predicted, step.reward)
        case Mismatch(what="done", predicted=bool() as predicted):
            return end_in_words(predicted, step.done)
    text = mismatch.error or "the program failed"
    return text if mismatch.what == "error" else f"{mismatch.what}: {text}"


def unexplained_text(found: dict[str, Any]) -> Iterator[str]:
    """The same in lines; none where everything is reproduced."""
    if not found["count"]:
        return
    sorts: Sequence[dict[str, Any]] = found["each"]
    title = f"── not explained · {found['count']:,} of {count(found['transitions'], 'transition')} "
    yield title + "─" * max(4, 67 - len(title))
    if found["contradictions"]:
        steps = count(found["contradictions"], "step")
        yield f"  {steps} led to one state here and to another there: no program can reproduce both"
    if found["errors"]:
        yield f"  in {found['errors']:,} of them a program fails, first: {found['first_error']}"
    for sort in sorts[:SHOWN]:
        alike = f" ({sort['count'] - 1:,} more like it)" if sort["count"] > 1 else ""
        other = sort["contradicts"]
        elsewhere = "" if other is None else f"; in {other} it led elsewhere"
        yield f"  {sort['number']:>6}      {sort['action']}: {_clipped(sort['difference'])}{elsewhere}{alike}"
    if len(sorts) > SHOWN:
        yield f"  and {len(sorts) - SHOWN:,} other sorts; --json has them all"


def _clipped(text: str) -> str:
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"
