"""Saved models: which there are, how two of them compare, and how several become one.

Models are compared on the data that they were learned from: what one met, the other is asked about. Models of one
world are merged where their data agree: the merged model has the data of all, and the programs that explain them,
those of one of them where they do and else new ones.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from worldcoder.errors import ModelFormatError
from worldcoder.programs import Check, Episode, Knowledge, Program, Runner, WorldModel, load_knowledge
from worldcoder.synthesis.learner import Learner
from worldcoder.synthesis.rules.synthesizer import RulesSynthesizer, code_of
from worldcoder.world.difference import describe_change
from worldcoder.world.values import Action, Goal, State, Transition

DEPTH = 4
"""Folders below the one that is looked through."""


def find(folder: str | Path) -> list[Path]:
    """The saved models in a folder and those below it: of a run the run's directory, else the model's folder.

    Raises ModelFormatError for what is no folder.
    """
    folder = Path(folder)
    if not folder.is_dir():
        raise ModelFormatError(f"{folder} is no folder; give one that holds runs or models")
    found = []
    for depth in range(DEPTH + 1):
        for file in folder.glob("*/" * depth + "transition.py"):
            model = file.parent
            if not model.name.startswith("."):
                found.append(model.parent if model.name == "model" and model != folder else model)
    return sorted(found)


@dataclass(frozen=True)
class Agreement:
    """How two models compare.

    same_transition: whether the transition programs are the same code. goals: by goal, `same`, `different`, or which
    of the two alone has it: `first` or `second`.
    both, only_first, only_second, neither: of the recorded transitions of both, how many each reproduces.
    difference: the first transition that only one reproduces, in words.
    """

    same_transition: bool
    goals: Mapping[Goal, str]
    both: int
    only_first: int
    only_second: int
    neither: int
    difference: str | None

    @property
    def agree(self) -> bool:
        """Whether nothing recorded tells them apart."""
        return not (self.only_first or self.only_second)

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return {**vars(self), "goals": dict(self.goals), "agree": self.agree}


def compare_models(first: Knowledge, second: Knowledge, runner: Runner) -> Agreement:
    """Hold two models against the data of both. A reward program is held against data of its own goal only.

    Raises ModelFormatError for models of different worlds.
    """
    assert first.model is not None and second.model is not None
    if second.episodes:
        different = first.foreign(second.episodes[0].start, second.actions)
        if different is not None:
            raise ModelFormatError(f"the models are of different worlds: of the second {different}")
    episodes = dict.fromkeys((*first.episodes, *second.episodes))
    check = Check(t for episode in episodes for t in episode.transitions)
    wrong = [
        {m.index: m.what for m in runner.check(check, k.model.transition, k.model.rewards)}
        for k in (first, second)
        if k.model is not None
    ]
    one, other = set(wrong[0]), set(wrong[1])
    apart = sorted(one ^ other)
    said = None
    if apart:
        step, who = check.transitions[apart[0]], 0 if apart[0] in one else 1
        what = wrong[who][apart[0]]
        which = "first" if who == 0 else "second"
        said = f"the {which} is wrong about {_step(step)} (its {what})"
    return Agreement(
        same_transition=_same(first.model.transition, second.model.transition),
        goals=dict(_goals(first.model, second.model)),
        both=len(check) - len(one | other),
        only_first=len(other - one),
        only_second=len(one - other),
        neither=len(one & other),
        difference=said,
    )


def _goals(first: WorldModel, second: WorldModel) -> Iterator[tuple[Goal, str]]:
    for goal in dict.fromkeys((*first.rewards, *second.rewards)):
        one, other = first.rewards.get(goal), second.rewards.get(goal)
        if one is None or other is None:
            yield goal, "second" if one is None else "first"
        else:
            yield goal, "same" if _same(one, other) else "different"


def _same(one: Program, other: Program) -> bool:
    return code_of(one) == code_of(other)


@dataclass(frozen=True)
class Merged:
    """Several models made one. known: the model and all data. unexplained: transitions that it does not reproduce.
    transition_of: the place of the model whose transition program it has; None: it has a new one."""

    known: Knowledge
    unexplained: int
    transition_of: int | None


def merge(models: Mapping[str, Knowledge], runner: Runner) -> Merged:
    """One model of what several know. models: by name, each with its data.

    Raises ModelFormatError where one has no data, where two are of different worlds, and where their data contradict
    each other.
    """
    _check_fit(models)
    every = list(models.values())
    episodes = tuple(dict.fromkeys(episode for known in every for episode in known.episodes))
    _check_data(models)
    check = Check(t for episode in episodes for t in episode.transitions)
    missed = [
        len(runner.check(check, known.model.transition)) if known.model is not None else len(check) + 1
        for known in every
    ]
    best = every[missed.index(min(missed))]
    assert best.model is not None
    rewards: dict[Goal, Program] = dict(best.model.rewards)
    for known in every:
        for goal, program in () if known.model is None else known.model.rewards.items():
            rewards.setdefault(goal, program)
    model = _learned(best, WorldModel(best.model.transition, rewards), episodes, runner)
    wrong = len(runner.check(check, model.transition, model.rewards))
    sources = [known.model.transition.source for known in every if known.model is not None]
    place = sources.index(model.transition.source) if model.transition.source in sources else None
    return Merged(Knowledge(model, episodes), wrong, place)


def _learned(best: Knowledge, model: WorldModel, episodes: Sequence[Episode], runner: Runner) -> WorldModel:
    """The model that explains all episodes: the one given, where it does, or what the rules make of them."""
    proposer = RulesSynthesizer()
    learner = Learner(proposer, runner)
    learner.inherit(Knowledge(model, best.episodes))
    everything = Knowledge(model, tuple(episodes))
    known = set(best.episodes)
    for episode in episodes:
        proposer.begin(episode.start, episode.goal, everything.actions)
        for transition in episode.transitions:
            proposer.observe(transition)
            if episode not in known:
                learner.check.add(transition)
    proposer.fit()
    for goal, start in {episode.goal: episode.start for episode in episodes}.items():
        learner.fit(goal, start)
    assert learner.model is not None
    return learner.model


def _check_fit(models: Mapping[str, Knowledge]) -> None:
    first_name, first = next(iter(models.items()))
    for name, known in models.items():
        if not known.transitions:
            raise ModelFormatError(
                f"{name} has no data, so that nobody knows whether it agrees with others; merge models with their"
                " data.json"
            )
        different = first.foreign(known.episodes[0].start, known.actions)
        if different is not None:
            raise ModelFormatError(
                f"{first_name} and {name} are of different worlds: of the second {different}"
            )


def _check_data(models: Mapping[str, Knowledge]) -> None:
    """See that in one situation nothing else happened to one than to another."""
    led: dict[tuple[State, Action], tuple[str, State]] = {}
    paid: dict[tuple[State, Action, Goal], tuple[str, float, bool]] = {}
    for name, known in models.items():
        for t in known.transitions:
            whose, then = led.setdefault((t.state, t.action), (name, t.next_state))
            if then != t.next_state:
                one, other = (_change(t.state, state) for state in (then, t.next_state))
                raise ModelFormatError(
                    f"{whose} and {name} contradict each other: {t.action} led to {one}, and to {other} in the same"
                    " state; they cannot be of one world"
                )
            whose, reward, done = paid.setdefault((t.state, t.action, t.goal), (name, t.reward, t.done))
            if (reward, done) != (t.reward, t.done):
                raise ModelFormatError(
                    f"{whose} and {name} contradict each other: {t.action} was worth {reward:g}, and {t.reward:g} in"
                    f" the same state under the goal {t.goal!r}; they cannot be of one world"
                )


def _change(before: State, after: State) -> str:
    lines = list(describe_change(before, after))
    return ("; ".join(lines[:2]) + (" …" if len(lines) > 2 else "")) if lines else "no change"


def _step(step: Transition) -> str:
    return f"{step.action} ({_change(step.state, step.next_state)})"


def summary_of(path: Path) -> dict[str, Any]:
    """What can be said of a saved model without running it. Raises ModelFormatError."""
    known = load_knowledge(path)
    assert known.model is not None
    solved = known.solved_goals
    transitions = known.transitions
    programs = (known.model.transition, *known.model.rewards.values())
    return {
        "path": str(path),
        "worlds": list(known.worlds),
        "lines": sum(program.lines for program in programs),
        "origins": sorted({program.origin for program in programs}),
        "transitions": len(transitions),
        "episodes": len(known.episodes),
        "goals": {
            goal: {
                "transitions": sum(t.goal == goal for t in transitions),
                "solved": goal in solved,
            }
            for goal in known.model.rewards
        },
        "kinds": {kind: sorted(set[str]().union(*some)) for kind, some in sorted(known.shapes().items())},
        "actions": sorted({action.name for action in known.actions}),
    }
