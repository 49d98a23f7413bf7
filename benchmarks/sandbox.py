"""What it costs to run programs in locked workers, as ratios and times of one run.

    python benchmarks/sandbox.py [--json] [--quick]

planning        the same search of the same nodes, inside a locked worker and unlocked in this process, in turn;
                in processor time where the system tells it (Linux), many short searches
locks           the same search in a worker with all locks and in one without any
worker          until a new worker is forked, locked and has answered
deadline        from a request's deadline until its worker, in a loop that nothing interrupts, is killed and the
                next one has answered
prediction      there and back, one step
φ1              programs not seen before on recorded transitions, each in a new worker and in this process
at once         the same programs with two workers at once and one after another

All with the Sokoban level and the programs of `benchmarks/speed.py`; other times by the clock on the wall; medians.
A figure that has a target and misses it is printed as MISSED; on a machine that does other things as well it may.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

from speed import ACTIONS, ASKING, GOAL, REWARD, SCANNING, Inside, record, start, unseen

from worldcoder.planning import PLANNERS, Budget, Plan
from worldcoder.programs import Check, Program, Runner
from worldcoder.programs.inside.answers import Answers  # what a worker does, here without its lock
from worldcoder.programs.inside.functions import RewardFunction, TransitionFunction
from worldcoder.programs.inside.known import Known
from worldcoder.programs.inside.simulator import Simulator
from worldcoder.programs.workers import SERVICE
from worldcoder.sandbox import Failure, Layer, Sandbox, Worker, WorkerFailed

REWARDS = {GOAL: Program(REWARD, "reward", GOAL)}
PROGRAMS = {"scanning": SCANNING, "asking": ASKING}
DEADLINE = 0.1
"""Seconds after which a request is given up."""

STUCK = "sum(range(10**14))\n"
"""A program that does not come to its end: one call into C, which no signal handler gets into."""


@dataclass(frozen=True)
class Figure:
    """One figure. target: what it may be at most, or has to be at least where `more`."""

    name: str
    value: float
    unit: str
    note: str = ""
    target: float | None = None
    more: bool = False

    @property
    def met(self) -> bool | None:
        """Whether the target is met; None without one."""
        if self.target is None:
            return None
        return self.value >= self.target if self.more else self.value <= self.target

    def line(self) -> str:
        value = f"{self.value:,.2f}×" if self.unit == "×" else f"{self.value:,.2f} {self.unit}"
        said = ""
        if self.target is not None:
            bound = f"{'at least' if self.more else 'at most'} {self.target:g} {self.unit}"
            said = f"target: {bound}, {'met' if self.met else 'MISSED'}"
        return f"{self.name:36}{value:>12}   {self.note:36}{said}".rstrip()


def seconds(run: Callable[[], Any]) -> float:
    """How long it takes, with no garbage of others to collect."""
    gc.collect()
    began = time.perf_counter()
    run()
    return time.perf_counter() - began


def processor_seconds(of: Callable[[], float | None]) -> Callable[[Callable[[], Any]], float]:
    """A way to measure by a clock of processor time, or by the wall where there is none."""

    def measure(run: Callable[[], Any]) -> float:
        gc.collect()
        before, began = of(), time.perf_counter()
        run()
        wall, after = time.perf_counter() - began, of()
        return wall if before is None or after is None else after - before

    return measure


def of_workers() -> float | None:
    """The processor time of all workers: the processes two below this one. None where there is no /proc."""
    below: dict[int, list[int]] = {}
    for entry in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):  # it has just ended
            parent = int(entry.read_text().rpartition(")")[2].split()[1])
            below.setdefault(parent, []).append(int(entry.parent.name))
    pids = [pid for child in below.get(os.getpid(), ()) for pid in below.get(child, ())]
    try:
        return sum(int(Path(f"/proc/{pid}/schedstat").read_text().split()[0]) for pid in pids) / 1e9
    except (OSError, ValueError):
        return None


Measure = Callable[[Callable[[], Any]], float]


def alternately(
    one: Callable[[], Any],
    other: Callable[[], Any],
    rounds: int,
    measure_one: Measure = seconds,
    measure_other: Measure = seconds,
) -> tuple[float, float, float]:
    """The median seconds of both, and the median of the ratios of neighbours.

    A machine that gets slower or faster meanwhile changes a ratio of neighbours least.
    """
    pairs = []
    for i in range(rounds):
        if i % 2:
            b, a = measure_other(other), measure_one(one)
        else:
            a, b = measure_one(one), measure_other(other)
        pairs.append((a, b))
    return (
        statistics.median(a for a, _ in pairs),
        statistics.median(b for _, b in pairs),
        statistics.median(a / b for a, b in pairs),
    )


# ── what is measured ─────────────────────────────────────────────────────────────────────────────────────


def planning(runner: Runner, rounds: int, nodes: int) -> Iterator[Figure]:
    """Searches that do not end before their nodes are used up, so that nothing but the search is done."""
    for name, source in PROGRAMS.items():
        for search in ("breadth_first", "width_search"):
            plans: dict[str, Plan] = {}
            program = Program(source, "transition")
            reward = Program(_never_over(REWARD), "reward", GOAL)

            def locked(
                program: Program = program, reward: Program = reward, search: str = search, plans: Any = plans
            ) -> None:
                simulation = runner.simulation(program, reward, start(), ACTIONS)
                plans["locked"] = simulation.plan(search, budget=Budget(nodes))

            def unlocked(
                source: str = source, reward: Program = reward, search: str = search, plans: Any = plans
            ) -> None:
                functions = TransitionFunction(source), RewardFunction(reward.source)
                plans["unlocked"] = PLANNERS[search](
                    Simulator(*functions, start(), ACTIONS), budget=Budget(nodes)
                )

            locked()
            unlocked()
            assert plans["locked"].nodes == plans["unlocked"].nodes
            within = processor_seconds(of_workers)
            without = processor_seconds(lambda: time.process_time() if of_workers() else None)
            inside, outside, ratio = alternately(locked, unlocked, rounds, within, without)
            done = plans["locked"].nodes
            note = f"{done / inside:,.0f} and {done / outside:,.0f} nodes/s"
            yield Figure(f"planning, {name}, {search}", ratio, "×", note, target=1.05)


def the_lock(runner: Runner, rounds: int, nodes: int) -> Iterator[Figure]:
    """The same search in a worker with all locks and in one with none: what the locks cost, and nothing else."""
    open_ = Runner(off=[layer for layer in Layer if layer is not Layer.EXEC])
    with open_:
        for name, source in PROGRAMS.items():
            program = Program(source, "transition")
            reward = Program(_never_over(REWARD), "reward", GOAL)

            def search(by: Runner, program: Program = program, reward: Program = reward) -> None:
                simulation = by.simulation(program, reward, start(), ACTIONS)
                simulation.plan("breadth_first", budget=Budget(nodes))

            search(runner)
            search(open_)
            _, _, ratio = alternately(partial(search, runner), partial(search, open_), rounds)
            yield Figure(f"the locks alone, {name}", ratio, "×", "wall, breadth_first", target=1.05)


def _never_over(reward: str) -> str:
    return reward.replace("return 10.9, True", "return 10.9, False")


def workers(rounds: int) -> Iterator[Figure]:
    """Workers made, and workers ended."""
    with Sandbox(SERVICE) as sandbox:
        new_worker(sandbox).close()  # the template is there from here on

        def ready() -> None:
            made.append(new_worker(sandbox))

        made: list[Worker] = []
        times = []
        for _ in range(rounds):
            times.append(seconds(ready))
            made.pop().close()
        note = f"longest {1000 * max(times):.1f} ms"
        yield Figure("a new worker", 1000 * statistics.median(times), "ms", note, target=10)

        times = []
        for _ in range(max(rounds // 4, 5)):
            worker = new_worker(sandbox)
            began = time.perf_counter()
            try:
                worker.request(loading(STUCK), seconds=DEADLINE)
                raise AssertionError("it came to an end")
            except WorkerFailed as failed:
                assert failed.failure is Failure.TIMEOUT, failed
                following = new_worker(sandbox)
            times.append(time.perf_counter() - began - DEADLINE)
            following.close()
        note = f"longest {1000 * max(times):.1f} ms"
        yield Figure("deadline → killed → the next", 1000 * statistics.median(times), "ms", note, target=30)


def new_worker(sandbox: Sandbox) -> Worker:
    """A new worker that has answered."""
    worker = sandbox.worker()
    answer = worker.request(loading(ASKING))
    assert answer["unloadable"] is None and answer["failed"] is None
    return worker


def loading(source: str) -> dict[str, Any]:
    """A request to load a program."""
    nothing: dict[str, list[Any]] = {"objects": [], "actions": [], "inputs": [], "forget": []}
    return {"do": "load", "learn": nothing, "programs": {"p": ["transition", source]}, "program": "p"}


def prediction(runner: Runner, rounds: int) -> Iterator[Figure]:
    """One step, there and back."""
    simulation = runner.simulation(Program(ASKING, "transition"), REWARDS[GOAL], start(), ACTIONS)
    times = []
    for i in range(20 * rounds):
        action = ACTIONS[i % len(ACTIONS)]
        times.append(seconds_of(lambda action=action: simulation.predict(start_state, action)))  # type: ignore[misc]
    yield Figure("one prediction, there and back", 1e6 * statistics.median(times[10:]), "µs")


start_state = start()


def seconds_of(run: Callable[[], Any]) -> float:
    """How long it takes."""
    began = time.perf_counter()
    run()
    return time.perf_counter() - began


def phi1(runner: Runner, rounds: int) -> Iterator[Figure]:
    """Programs not seen before, on so many transitions of random play."""
    everything = record(3_000)
    for size in (500, 3_000):
        check, inside = Check(everything[:size]), Inside(everything[:size])
        for name, source in PROGRAMS.items():

            def locked(check: Check = check, source: str = source) -> None:
                assert not runner.check(check, unseen(source), REWARDS)

            def unlocked(inside: Inside = inside, source: str = source) -> None:
                functions = TransitionFunction(unseen(source).source), RewardFunction(REWARD)
                inside.check(*functions, Answers(Known()))

            locked()
            unlocked()
            within, without, ratio = alternately(locked, unlocked, rounds)
            note = f"{1000 * within:.1f} and {1000 * without:.1f} ms"
            yield Figure(f"φ1 of {size:,}, {name}", ratio, "×", note)


def at_once(rounds: int, programs: int = 6) -> Iterator[Figure]:
    """Several programs on two cores, against one after another."""
    check = Check(record(3_000))
    with Runner(workers=2) as two, Runner(workers=1) as one:

        def evaluate(runner: Runner) -> None:
            for wrong in runner.check_all(check, [(unseen(SCANNING), REWARDS) for _ in range(programs)]):
                assert not wrong

        evaluate(two)
        evaluate(one)
        together, alone, ratio = alternately(lambda: evaluate(two), lambda: evaluate(one), rounds)
        note = f"{1000 * together:.0f} and {1000 * alone:.0f} ms"
        yield Figure(f"{programs} programs, two at once", 1 / ratio, "×", f"as fast: {note}")


def figures(*, quick: bool) -> Iterator[Figure]:
    """All of them."""
    rounds = 5 if quick else 15
    with Runner() as runner:
        yield from planning(runner, rounds if quick else 2 * rounds, 15_000 if quick else 40_000)
        yield from the_lock(runner, rounds, 20_000 if quick else 60_000)
        yield from workers(4 * rounds)
        yield from prediction(runner, rounds)
        yield from phi1(runner, rounds)
    yield from at_once(rounds)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    parser.add_argument("--quick", action="store_true", help="fewer rounds, smaller searches")
    arguments = parser.parse_args()
    found = []
    for figure in figures(quick=arguments.quick):
        found.append({**asdict(figure), "met": figure.met})
        if not arguments.json:
            print(figure.line(), flush=True)
    if arguments.json:
        print(json.dumps(found, indent=2, ensure_ascii=False))


if __name__ == "__main__":
    main()
