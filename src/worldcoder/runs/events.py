"""What a run tells while it goes on, and what it says at the end."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from worldcoder.programs import Program
from worldcoder.world.values import Action, Goal, State, Transition


@dataclass(frozen=True)
class Progress:
    """Where a run stands.

    phi1: share of the transitions that the model reproduces. phi2: what the last search found.
    plan_length: steps left of the plan in hand. guess: the invented reward that is being tried, in words.
    lines: of the model's programs. data: transitions in all, those that the run began with included.
    """

    actions: int
    episodes: int
    successes: int
    wrong_guesses: int
    phi1: float
    phi2: str | None
    plan_length: int
    guess: str | None
    lines: int
    seconds: float
    data: int


@dataclass(frozen=True)
class Began:
    """The run begins. resumed: actions in the log that it goes on from."""

    directory: Path
    environment: str
    seed: int
    state: State
    goal: Goal
    glyphs: Mapping[str, str] | None
    resumed: int = 0


@dataclass(frozen=True)
class EpisodeBegan:
    """The world was reset."""

    episode: int
    seed: int
    state: State


@dataclass(frozen=True)
class Unclear:
    """What a goal does not say, or says of what is not here, in words; told once for each goal."""

    goal: Goal
    text: str


@dataclass(frozen=True)
class Thinking:
    """What takes time now: `acting`, `synthesis`, `waiting` (for a language model), `planning`, `exploring`, or
    `checking` at the end."""

    what: str


@dataclass(frozen=True)
class Asking:
    """The language model is waited for.

    in_flight: programs that are asked for now. calls: those that were asked for and came in the present problem,
    of which there may be `most`. tokens, usd: spent in the whole run; usd None where it is not known.
    """

    model: str
    in_flight: int
    calls: int
    most: int
    tokens: int
    usd: float | None


@dataclass(frozen=True)
class Chose:
    """The agent chose an action and has not taken it yet."""

    action: Action | None
    why: str
    note: str


@dataclass(frozen=True)
class Acted:
    """An action was taken and learned from."""

    transition: Transition
    why: str
    note: str
    progress: Progress


@dataclass(frozen=True)
class Adopted:
    """A program became part of the model."""

    program: Program
    progress: Progress


@dataclass(frozen=True)
class Refuted:
    """The world did not reward what was guessed."""

    guess: str
    progress: Progress


@dataclass(frozen=True)
class Failed:
    """A program that was proposed failed as no program may; what: how, in words. It is told once for each way."""

    program: Program
    what: str
    progress: Progress


@dataclass(frozen=True)
class Solved:
    """An episode ended with a reward for the first time."""

    progress: Progress


@dataclass(frozen=True)
class Caution:
    """Something went wrong that does not end the run."""

    text: str


@dataclass(frozen=True)
class Summary:
    """The results of a run, as summary.json has them.

    solved: an episode ended with a positive reward. real_actions: steps taken in the world.
    actions_to_solve: steps taken when that happened first, or None.
    actions_to_model: steps taken when the final model was adopted.
    phi1: share of the recorded transitions that the final model reproduces.
    phi2: whether it admits a plan to a reward from every start that was met under its goal, in this run and before:
    `found`, `unreachable` or `budget` (the search ran out); None without a model. starts, starts_with_plan: how many
    there were, and from how many it has one.
    unexplained: how many recorded transitions the final model does not reproduce. program_error: how one of its
    programs failed first in that check, if one did.
    sandbox: what kept the programs from doing harm: "locked", "locked, without Landlock", or what begins with
    "none", as in runs of before there was one.
    wrong_guesses: invented rewards that were tried and not rewarded.
    language_model: the one that was asked, None for none. model_calls: programs that were asked for. tokens: all
    that were used, estimated from above where the server did not tell; tokens_in, tokens_out: those of replies, as
    the server reports them, None where it does not. usd: None where the price is not known.
    seconds: total, acting, synthesis, planning; waiting, for the language model, is a part of these.
    program_lines: lines of code of the model's programs; transition_lines: of its transition program.
    model: its folder, or None. stopped: why the run ended, None while it goes on.
    goals: by goal, how many episodes there were, how many ended with a positive reward, the actions under it, those
    until the first such end (None without one), wrong guesses, and what is unclear of it, in words or None.
    surprised: at which actions the model in hand did not say what would happen.
    started_from: the model that the run began with, None for none. earlier: recorded transitions that came with it;
    φ1 and `unexplained` are of these as well. regressions: how many of them that model reproduced and the final one
    does not.
    """

    environment: str
    options: Mapping[str, Any]
    synthesizer: str
    seed: int
    goal: Goal
    solved: bool
    stopped: str | None
    episodes: int
    real_actions: int
    actions_to_solve: int | None
    actions_to_model: int
    phi1: float
    phi2: str | None
    wrong_guesses: int
    successes: int
    programs: int
    program_lines: int
    transition_lines: int
    model: str | None
    seconds: Mapping[str, float]
    version: str
    model_calls: int = 0
    tokens: int = 0
    usd: float | None = 0.0
    error: str | None = None
    unexplained: int = 0
    program_error: str | None = None
    sandbox: str = "none"
    language_model: str | None = None
    tokens_in: int | None = 0
    tokens_out: int | None = 0
    goals: Mapping[Goal, Mapping[str, Any]] = field(default_factory=dict)
    surprised: Sequence[int] = ()
    started_from: str | None = None
    earlier: int = 0
    starts: int = 0
    starts_with_plan: int = 0
    regressions: int = 0
    directory: Path = field(default=Path(), compare=False)

    def to_json(self) -> dict[str, Any]:
        """Plain values, for summary.json."""
        values = asdict(self)
        del values["directory"]
        plain = {
            "options": dict(self.options),
            "seconds": dict(self.seconds),
            "surprised": list(self.surprised),
        }
        return {**values, **plain}


@dataclass(frozen=True)
class StageBegan:
    """A run of a curriculum begins. number: which run, from 1. stage: which of the `stages` environments, from 1."""

    number: int
    stage: int
    stages: int


@dataclass(frozen=True)
class StageOver:
    """It has ended, with this summary."""

    number: int
    stage: int
    stages: int
    summary: Summary


Event = (
    Began
    | EpisodeBegan
    | Thinking
    | Asking
    | Chose
    | Acted
    | Adopted
    | Refuted
    | Failed
    | Solved
    | Caution
    | Unclear
    | StageBegan
    | StageOver
)
Listener = Callable[[Event], None]
