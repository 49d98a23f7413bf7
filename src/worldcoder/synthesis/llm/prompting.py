"""What a language model is asked: letters made of a template, programs and the steps that are worth showing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from worldcoder.llm.tokens import count_tokens
from worldcoder.llm.values import Message
from worldcoder.planning import Plan, Status
from worldcoder.programs import Mismatch, Program
from worldcoder.programs.prediction import FAILING
from worldcoder.synthesis.llm.experience import Experience, rarest_first, sort_of_change
from worldcoder.synthesis.llm.showing import Album, Example, changes, outcome
from worldcoder.synthesis.llm.templates import Templates
from worldcoder.synthesis.proposer import Counterexample
from worldcoder.world.values import Goal, State

Messages = tuple[Message, ...]

MOST_WRONG = 6
"""Steps that a program gets wrong which are shown at most; more would crowd out what has to stay right."""
MOST_STEPS = 40
SIGNATURES = {"transition": "transition(state, action)", "reward": "reward(state, action, next_state)"}
MODULES = (
    "bisect", "collections", "copy", "dataclasses", "enum", "fractions", "functools", "graphlib", "heapq",
    "itertools", "math", "operator", "re", "statistics", "string", "typing",
)  # fmt: skip
"""Modules that are of use to a program. Others can be imported as well, but tempt to look at clocks and such."""
_NAMED_ACTIONS = 60
_IN_VAIN = 10
"""Steps in a row that do not fit or are shown already, after which no more are tried."""


@dataclass(frozen=True)
class Wrong:
    """What is wrong with a program: steps of the data, and steps of a search in which it failed."""

    missed: Sequence[Mismatch] = ()
    faults: Sequence[Counterexample] = ()


class Prompter:
    """Writes prompts.

    tokens: how many a prompt may have, estimated from above (`worldcoder.llm.tokens`). Steps are shown as far as
    they fit; a template or a program that is longer than that alone is sent without any.
    hints: something more that is known of the dynamics, in words; empty for nothing. first: the steps that a
    request for a first transition program shows before others.

    times: how often the same was asked before. Other steps are shown each time: what did not help once will not help
    again, and a server may have kept its answer.
    """

    def __init__(self, templates: Templates, tokens: int) -> None:
        self._templates = templates
        self._tokens = tokens
        self.hints = ""
        self.first: Sequence[int] = ()

    def transition(self, seen: Experience, remark: str, times: int = 0) -> Messages:
        """A first transition program."""
        values = {"actions": _actions(seen), "hints": self.hints, "remark": remark}
        first = self._right(seen, self.first, times=times)[:MOST_WRONG]
        rest = self._right(seen, range(len(seen.check)), times=times)
        return self._letter("transition", values, seen, first + rest)

    def reward(
        self,
        seen: Experience,
        goal: Goal,
        others: Sequence[tuple[Goal, Program]],
        remark: str,
        times: int = 0,
    ) -> Messages:
        """A first reward program. others: those of other goals, the most similar first."""
        values = {"goal": goal, "actions": _actions(seen), "hints": "", "remark": remark}
        values["unrewarded"] = _unrewarded(seen, goal)
        mine = seen.of_goal(goal)
        shown = self._right(seen, mine, rewards=True, times=times)
        if not others:
            return self._letter("reward", values, seen, shown)
        values["others"] = "\n\n".join(f'"{g}":\n\n```python\n{p.source.strip()}\n```' for g, p in others)
        rest = sorted(set(range(len(seen.check))) - set(mine))
        return self._letter("goal", values, seen, shown + self._right(seen, rest, times=times)[:MOST_STEPS])

    def repair(
        self, seen: Experience, program: Program, wrong: Wrong, remark: str, times: int = 0
    ) -> Messages:
        """A program that is wrong somewhere, with the steps that show it."""
        goal = program.goal
        rewards = goal is not None
        steps = range(len(seen.check)) if goal is None else seen.of_goal(goal)
        values = {
            "kind": program.kind,
            "signature": SIGNATURES[program.kind],
            "goal": goal or "",
            "program": program.source,
            "wrong": f"{len(wrong.missed)}" if wrong.missed else "none",
            "total": f"{len(steps)}",
            "hints": _forbidden(wrong),
            "remark": remark,
            "unrewarded": "" if goal is None else _unrewarded(seen, goal),
        }
        not_by = {m.index for m in wrong.missed}
        shown = self._wrong(seen, wrong, rewards=rewards, times=times)
        shown += self._right(seen, [i for i in steps if i not in not_by], rewards=rewards, times=times)
        return self._letter("repair", values, seen, shown)

    def plan(
        self,
        seen: Experience,
        goal: Goal,
        programs: tuple[Program, Program],
        found: Plan,
        start: State,
        remark: str,
        times: int = 0,
    ) -> Messages:
        """A reward program that nothing leads to. programs: transition and reward."""
        fault = found.fault
        values = {
            "goal": goal,
            "transition": programs[0].source,
            "reward": programs[1].source,
            "proved": "yes" if found.status is Status.UNREACHABLE else "",
            "nodes": f"{found.nodes:,}",
            "hints": "" if fault is None else f"In that search a program failed: {fault.error}",
            "remark": remark,
        }
        shown = self._right(seen, seen.of_goal(goal), rewards=True, times=times)
        return self._letter("plan", values, seen, shown, start)

    def simplify(self, seen: Experience, program: Program) -> Messages:
        """A program that is right, to be written shorter."""
        values = {
            "kind": program.kind,
            "signature": SIGNATURES[program.kind],
            "goal": program.goal or "",
            "program": program.source,
            "total": f"{len(seen.check)}",
        }
        return self._messages("simplify", values)

    # ── inside ───────────────────────────────────────────────────────────────────────────────────────────

    def _messages(self, template: str, values: Mapping[str, str]) -> Messages:
        system = self._templates.fill("system", {"modules": ", ".join(MODULES)})
        return Message("system", system), Message("user", self._templates.fill(template, values))

    def _letter(
        self,
        template: str,
        values: Mapping[str, str],
        seen: Experience,
        examples: Sequence[Example],
        start: State | None = None,
    ) -> Messages:
        """A template with as many steps as fit."""
        more = {"steps": ""} if start is None else {"steps": "", "start": ""}
        bare = self._messages(template, {**values, **more})
        left = self._tokens - sum(count_tokens(m.content) for m in bare)
        album = Album(frozenset(seen.moving), left)
        if start is not None:
            more["start"] = album.start(start)
        in_vain = 0
        for example in examples:
            in_vain = 0 if album.add(example) else in_vain + 1
            if len(album.parts) >= MOST_STEPS or in_vain >= _IN_VAIN:
                break
        more["steps"] = album.text
        return self._messages(template, {**values, **more})

    def _right(
        self, seen: Experience, indices: Sequence[int], *, rewards: bool = False, times: int
    ) -> list[Example]:
        """Steps that cover what is different."""
        transitions = seen.check.transitions
        order = seen.cover(indices, rewards=rewards, times=times)
        return [Example.of(transitions[i], i, rewards=rewards) for i in order]

    def _wrong(self, seen: Experience, wrong: Wrong, *, rewards: bool, times: int) -> list[Example]:
        """Steps that a program gets wrong, different ones first, as many as are worth showing."""
        transitions = seen.check.transitions
        by_index = {m.index: m for m in wrong.missed}
        sorts = [
            f"{m.what} {seen.sort(m.index, rewards=rewards)} {_sort_of_said(seen, m)}" for m in wrong.missed
        ]
        chosen = rarest_first(list(by_index), sorts, times)
        found = [Example.of(transitions[i], i, said=said(seen, by_index[i]), rewards=rewards) for i in chosen]
        for fault in wrong.faults:
            if fault.state is not None and fault.action is not None:
                after = None if fault.transition is None else fault.transition.next_state
                found.insert(0, Example(fault.state, fault.action, after, said=fault.error or fault.what))
        return found[:MOST_WRONG]


def said(seen: Experience, mismatch: Mismatch) -> str:
    """What a program said of a step that it gets wrong, in words."""
    m, t = mismatch, seen.check.transitions[mismatch.index]
    if m.what == "impure":
        return m.error or "another thing each time"
    if m.what in FAILING:
        return f"it fails: {m.error or m.what}"
    if isinstance(m.predicted, State):
        return changes(t.state, m.predicted)
    if m.what == "done":
        return outcome(t.reward, bool(m.predicted))
    return f"reward {m.predicted:g}"


def _sort_of_said(seen: Experience, m: Mismatch) -> str:
    if isinstance(m.predicted, State):
        return sort_of_change(seen.check.transitions[m.index].state, m.predicted)
    return f"{m.predicted} {m.error or ''}"


def _actions(seen: Experience) -> str:
    known = dict.fromkeys([*seen.actions, *(t.action for t in seen.check.transitions)])
    shown = [str(action) for action in known][:_NAMED_ACTIONS]
    return ", ".join([*shown, "and more"] if len(known) > len(shown) else shown)


def _unrewarded(seen: Experience, goal: Goal) -> str:
    return "" if goal in seen.succeeded else "yes"


def _forbidden(wrong: Wrong) -> str:
    """What a program did that none may, in words."""
    bad = [fault for fault in wrong.faults if fault.bad]
    return f"It does what no program may: {bad[0].error or bad[0].what}." if bad else ""
