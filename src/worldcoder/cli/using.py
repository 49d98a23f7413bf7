"""`worldcoder play` and `worldcoder compare`: a model put to use, and to the test."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path

import typer

from worldcoder import comparison, playing
from worldcoder.cli.running import running, sandbox_of, unlocked
from worldcoder.cli.words import count, duration, number, share
from worldcoder.envs import Environment, make
from worldcoder.envs.guarded import GuardedWorld
from worldcoder.planning import Budget
from worldcoder.programs import Knowledge, load_knowledge
from worldcoder.runs.handing_on import check_world
from worldcoder.synthesis.new_goals import NewGoals
from worldcoder.world.drawing import draw

Write = Callable[[str], None]

FRAME_SECONDS = 0.08


def play(
    path: Path,
    environment: str,
    seeds: Sequence[int],
    options: Mapping[str, str],
    *,
    max_steps: int,
    nodes: int,
    seconds: float,
    watch: bool | None,
    unsafe: bool,
    quiet: bool,
    write: Write,
    warn: Write,
) -> tuple[playing.Played, str]:
    """Play and say what came out; return it, and what kept the programs from doing harm.

    watch: None watches where there is a terminal.
    """
    budget = Budget(nodes=nodes, seconds=seconds)
    on_terminal = sys.stdout.isatty()
    watch = on_terminal if watch is None else watch
    with running(unsafe=unsafe, warn=warn) as runner:  # it gets ready while the world is made
        world = GuardedWorld(make(environment, **options), environment)
        known = _fitting(path, environment, world, seeds[0])
        assert known.model is not None
        with _watching(world, on_terminal=on_terminal) if watch and not quiet else nullcontext() as on_step:
            result = playing.play(
                known.model,
                world,
                seeds,
                budget=budget,
                max_steps=max_steps,
                on_step=on_step,
                runner=runner,
                new_goals=NewGoals(known),
            )
        sandbox = sandbox_of(runner)
    if quiet:
        return result, sandbox
    for e in result.episodes:
        outcome = f"solved in {count(e.length, 'action')}" if e.solved else f"not solved: {e.reason}"
        if e.fault is not None:
            outcome += f" ({e.fault.failing}: {e.fault.error})"
        surprises = f", {count(e.surprises, 'surprise')}" if e.surprises else ""
        write(f"  seed {e.seed:<6} {outcome}, return {e.returned:g}{surprises}")
        if e.read_as is not None:
            write(f'       "{e.goal}" is new: {e.read_as}')
    share_solved = f"solved {number(result.solved)} of {number(len(result.episodes))}"
    means = f"mean return {result.mean_return:.2f}, mean length {result.mean_length:.1f}"
    write(f"{share_solved} in {duration(result.seconds)}; {means}")
    for line in unlocked(sandbox):
        write(line)
    return result, sandbox


def _fitting(path: Path, environment: str, world: Environment, seed: int) -> Knowledge:
    """A saved model with its data. Raises ModelFormatError where its data show that it is of another world."""
    known = load_knowledge(path)
    if known.episodes:
        state = world.reset(seed).state
        advice = "use a model that was learned in one of its kind"
        check_world(known, str(path), environment, state, world.actions(state), advice)
    return known


@contextmanager
def _watching(world: Environment, *, on_terminal: bool) -> Iterator[Callable[[playing.Moment], None]]:
    """Something to tell of each step: drawn in place on a terminal, one below the other elsewhere."""
    glyphs = getattr(world, "glyphs", None)

    def drawn(moment: playing.Moment) -> str:
        action = "" if moment.action is None else f" · {moment.action}"
        surprise = " · not as predicted" if moment.surprise else ""
        head = f'seed {moment.seed} · "{moment.goal}" · step {moment.step}{action}{surprise}'
        return f"{head}\n{draw(moment.state, glyphs)}\n"

    if not on_terminal:
        yield lambda moment: typer.echo(drawn(moment))
        return
    from rich.console import Console
    from rich.live import Live
    from rich.text import Text

    with Live(console=Console(highlight=False), auto_refresh=False, transient=True) as live:

        def show(moment: playing.Moment) -> None:
            live.update(Text(drawn(moment), no_wrap=True, overflow="ellipsis"), refresh=True)
            time.sleep(FRAME_SECONDS * (4 if moment.done else 1))

        yield show


def compare(
    path: Path,
    environment: str,
    seeds: Sequence[int],
    options: Mapping[str, str],
    *,
    tests: int,
    seconds: float | None,
    unsafe: bool,
    quiet: bool,
    write: Write,
    warn: Write,
) -> tuple[comparison.Comparison, str]:
    """Compare and say what came out; return it, and what kept the programs from doing harm."""

    def build() -> Environment:
        return GuardedWorld(make(environment, **options), environment)

    with running(unsafe=unsafe, warn=warn) as runner:
        # what is wrong with the environment is said before anything else
        model = _fitting(path, environment, build(), seeds[0]).model
        assert model is not None
        try:
            result = comparison.compare(model, build, seeds, tests=tests, seconds=seconds, runner=runner)
        except KeyboardInterrupt:
            raise typer.Abort from None  # which is told, where Ctrl-C itself would end in silence
        sandbox = sandbox_of(runner)
    if not quiet:
        exact = number(result.tested - result.wrong)
        write(f"exact on {exact} of {count(result.tested, 'test')} ({share(result.exact)})")
        write(f"  contexts    exact in {number(result.contexts_exact)} of {number(result.contexts)}")
        for mistake in result.repeated:
            example = f"{mistake.example.context}: {mistake.example.difference}"
            if mistake.count == 1:
                write(f"  wrong       {example}")
            else:
                write(f"  wrong       {number(mistake.count)} × {mistake.action}: {mistake.difference}")
                write(f"    such as   {example}")
        for line in unlocked(sandbox):
            write(line)
    return result, sandbox
