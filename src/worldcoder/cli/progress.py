"""What a run shows while it goes on: a live screen in a terminal, a line per notable event elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from worldcoder.cli.models import asking
from worldcoder.cli.words import PHI2, STOPPED, count, duration, share
from worldcoder.runs.events import (
    Acted,
    Adopted,
    Asking,
    Began,
    Caution,
    Chose,
    EpisodeBegan,
    Event,
    Failed,
    Listener,
    Progress,
    Refuted,
    Solved,
    StageBegan,
    StageOver,
    Summary,
    Thinking,
    Unclear,
)
from worldcoder.world.drawing import cells_of, draw
from worldcoder.world.values import State

SECONDS_BETWEEN_CALLS = 10.0
"""So seldom is a line written while a language model is waited for."""

DOING = {
    "synthesis": "writing the program",
    "waiting": "asking the language model",
    "planning": "searching for a plan",
    "exploring": "looking for something to learn",
    "checking": "checking the model",
    "drawing": "drawing the curves",
}


def header(began: Began) -> str:
    """`sokoban · 7×7 · seed 0 · goal "win the game"`."""
    cells = cells_of(began.state)
    size = ""
    if cells:
        columns, rows = [x for x, _ in cells], [y for _, y in cells]
        size = f" · {max(columns) - min(columns) + 1}×{max(rows) - min(rows) + 1}"
    return f'{began.environment}{size} · seed {began.seed} · goal "{began.goal}"'


class Lines:
    """One line for each notable event."""

    def __init__(self, write: Callable[[str], None]) -> None:
        self._write = write
        self._guess: str | None = None
        self._solved = False
        self._asked = float("-inf")

    def __call__(self, event: Event) -> None:
        match event:
            case StageBegan(number=number, stage=stage, stages=stages):
                self._guess, self._solved = None, False
                self._write(f"run {number}, stage {stage} of {stages}")
            case StageOver(summary=summary):
                self._write(f"  {came_of(summary)}")
            case Began():
                self._write(header(event))
                if event.resumed:
                    self._write(f"  resumed     after {count(event.resumed, 'action')}: {event.directory}")
            case EpisodeBegan(episode=n) if n > 1 and not self._solved:
                self._write(f"  episode {n}")
            case Asking() if event.in_flight and time.monotonic() - self._asked > SECONDS_BETWEEN_CALLS:
                self._asked = time.monotonic()
                self._write(f"          {asking(event)}")
            case Adopted(program=program, progress=p) if program.kind == "transition":
                self._write(
                    f"{_at(p)}  new program: {count(program.lines, 'line')}, explains"
                    f" {share(p.phi1)} of {count(p.data, 'transition')} (φ1)"
                )
            case Acted(progress=p) if p.guess is not None and p.guess != self._guess:
                self._guess = p.guess
                self._write(f"{_at(p)}  guessing: {p.guess}")
            case Refuted(guess=guess, progress=p):
                self._write(f"{_at(p)}  refuted by the world: {guess}")
            case Failed(program=program, what=what, progress=p):
                self._write(f"{_at(p)}  a {program.kind} program fails: {what}")
            case Solved(progress=p):
                self._solved = True
                self._write(f"{_at(p)}  solved, in episode {p.episodes}")
            case Unclear(text=text):
                self._write(f"  goal        {text}")
            case Caution(text=text):
                self._write(f"  caution     {text}")


def _at(p: Progress) -> str:
    return f"  {p.actions:>6} "


class Screen:
    """The level and the state of things, drawn anew as they change. over: nothing goes on any more."""

    def __init__(self) -> None:
        self.over = False
        self._began: Began | None = None
        self._state: State | None = None
        self._progress: Progress | None = None
        self._doing = ""
        self._why = ""
        self._solved: int | None = None
        self._cautions: list[str] = []
        self._over: list[str] = []  # a line for each run of a curriculum

    def __call__(self, event: Event) -> None:
        match event:
            case StageBegan(number=number, stage=stage, stages=stages):
                self._began = self._state = self._progress = self._solved = None
                self._over.append(f"run {number}, stage {stage} of {stages}")
            case StageOver(summary=summary):
                self._over[-1] = f"{self._over[-1]}: {summary.environment} {came_of(summary)}"
            case Began():
                self._began, self._state = event, event.state
                if event.resumed:
                    self._doing = f"going over {count(event.resumed, 'recorded action')}"
            case EpisodeBegan():
                self._state = event.state
            case Thinking(what=what):
                self._doing = DOING.get(what, "")
            case Asking():
                self._doing = asking(event) if event.in_flight else "trying what the language model wrote"
            case Chose():
                self._why = f"{event.action or 'begin again'}: {event.note or event.why}"
                self._doing = ""
            case Acted():
                self._state, self._progress = event.transition.next_state, event.progress
            case Solved(progress=p):
                self._solved = p.actions
            case Unclear(text=text):
                self._cautions.append(text)
            case Caution(text=text):
                self._cautions.append(text)

    def lines(self) -> Iterator[str]:
        """What is shown now."""
        yield from self._over
        if self._began is None:
            return
        yield header(self._began)
        if self._state is not None:
            for line in draw(self._state, self._began.glyphs).splitlines():
                yield f"    {line}"
        p = self._progress
        if p is not None:
            yield f"  acting      {count(p.actions, 'action')}, {count(p.episodes, 'episode')}"
            explains = f"{round(p.phi1 * p.data):,} of {count(p.data, 'transition')} (φ1)"
            plan = PHI2.get(p.phi2 or "", "")
            if p.phi2 == "found" and p.plan_length:
                kind = "a guessed reward" if p.guess else "a reward"
                plan = f"plan: {count(p.plan_length, 'step')} to {kind}"
            yield f"  explains    {explains:<34}  {plan + ' (φ2)' if plan else ''}".rstrip()
            if self._solved is not None:
                yield f"  solved      after {count(self._solved, 'action')}; exploring on"
            elif p.guess is not None:
                refuted = f" ({p.wrong_guesses} refuted by the world)" if p.wrong_guesses else ""
                yield f"  guessing    {p.guess}{refuted}"
        if not self.over:
            yield f"  now         {self._doing or self._why}"
        for text in self._cautions:
            yield f"  caution     {text}"


def came_of(summary: Summary) -> str:
    """`solved after 27 actions, 87 in all`."""
    if summary.actions_to_solve is not None:
        solved = f"solved after {count(summary.actions_to_solve, 'action')}, "
        return solved + f"{summary.real_actions:,} in all"
    why = STOPPED.get(summary.stopped or "", str(summary.stopped))
    return f"not solved after {count(summary.real_actions, 'action')}: {why}"


@contextmanager
def showing(*, quiet: bool, write: Callable[[str], None]) -> Iterator[Listener]:
    """A listener that shows a run where the output goes: on a terminal, elsewhere, or not at all."""
    if quiet:
        yield lambda event: None
        return
    if not sys.stdout.isatty():
        yield Lines(write)
        return
    from rich.console import Console
    from rich.live import Live
    from rich.text import Text

    screen = Screen()

    def render() -> Text:
        return Text("\n".join(screen.lines()), no_wrap=True, overflow="ellipsis")

    console = Console(highlight=False)
    with Live(get_renderable=render, console=console, refresh_per_second=8, transient=False) as live:
        try:
            yield screen
        finally:
            screen.over = True
            live.refresh()


def conclude(seconds: float, model_calls: int) -> str:
    """`9 s, no language model`."""
    calls = "no language model" if model_calls == 0 else count(model_calls, "model call")
    return f"{duration(seconds)}, {calls}"
