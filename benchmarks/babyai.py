"""The level families of BabyAI: one agent learns them in turn, and is then given new missions of each.

    python benchmarks/babyai.py [--families GoToObj OpenTwoDoors ...] [--seeds 1] [--new 20]

For each seed one agent goes through the families in order and keeps what it has learned. In a family it is given
level after level until it has solved --streak of them in a row, each in one episode and with nothing that it had to
try, or until --patience actions are over. Then it is given --new levels that it has not seen, each for one episode
(as long as the package allows), and each beginning with what was known when the family was left: nothing that is
learned in one is known in another. "solved": the episode ended with a reward. "at once": by a plan to what the words
meant, before anything was tried in that episode. A family is learned where at least 90 % are solved.

Families whose missions ask for what the state does not hold ("on your left" is where it was when the episode began)
are left out unless they are named.
"""

from __future__ import annotations

import argparse
import random
import time
from collections import Counter
from collections.abc import Sequence
from functools import partial

from copies import in_copies
from goals import UNSEEN, alone, attempt

from worldcoder.agent import Agent, AgentConfig
from worldcoder.envs import Environment, make
from worldcoder.programs import Runner
from worldcoder.synthesis.rules.synthesizer import RulesSynthesizer

FAMILIES = (
    "GoToRedBallGrey",
    "GoToObj",
    "GoToLocal",
    "GoToRedBall",
    "GoToDoor",
    "GoToObjDoor",
    "GoToRedBlueBall",
    "OpenRedDoor",
    "OpenDoorColor",
    "OpenTwoDoors",
    "OpenRedBlueDoors",
    "OpenDoorsOrderN2",
    "PickupAbove",
    "PickupDist",
    "ActionObjDoor",
    "FindObjS5",
    "UnlockLocal",
    "UnlockLocalDist",
    "UnlockPickup",
    "UnlockPickupDist",
    "BlockedUnlockPickup",
    "KeyInBox",
    "UnlockToUnlock",
    "KeyCorridorS3R1",
    "OneRoomS8",
    "GoToObjMazeS4",
    "GoToSeqS5R2",
    "Pickup",
    "UnblockPickup",
    "GoTo",
    "Open",
    "GoToSeq",
    "SynthS5R2",
    "SynthSeq",
    "PutNextLocal",
    "PutNextS4N1",
    "MoveTwoAcrossS5N2",
)
LEARNED = 0.9


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--families", nargs="+", default=FAMILIES)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--new", type=int, default=20)
    parser.add_argument("--streak", type=int, default=4)
    parser.add_argument(
        "--patience", type=int, default=300, help="actions in a family, after which it is left"
    )
    parser.add_argument("--tell", action="store_true", help="every new mission that was not solved at once")
    given = parser.parse_args()
    with Runner() as runner:
        for seed in range(given.first_seed, given.first_seed + given.seeds):
            course(seed, given, runner)


def course(seed: int, given: argparse.Namespace, runner: Runner) -> None:
    """All families with one agent."""
    print(f"seed {seed}\n{'family':<22} actions  episodes   new missions: solved   at once", flush=True)
    worlds = [make(f"minigrid:BabyAI-{family}-v0") for family in given.families]
    now = [worlds[0]]
    agent = Agent(
        RulesSynthesizer(),
        rng=random.Random(seed),
        actions=lambda state: now[0].actions(state),
        config=AgentConfig(),
        runner=runner,
    )
    learned = 0
    for family, world in zip(given.families, worlds, strict=True):
        now[0] = world
        began, actions = time.perf_counter(), agent.counts.actions
        episodes = practise(agent, world, seed, given)
        halfway = time.perf_counter()
        found = examine(agent, family, world, seed, given, runner)
        solved = found["at once"] + found["first"] + found["guessed wrongly"]
        learned += solved >= LEARNED * given.new
        wrong = ", ".join(f"{n} {word}" for word, n in found.items() if word not in ("at once", "first"))
        print(
            f"{family:<22} {agent.counts.actions - actions:>7}  {episodes:>8}   {solved:>10} of {given.new:>3}"
            f"      {found['at once']:>3}   {wrong or '-'}   "
            f"[{halfway - began:.0f} + {time.perf_counter() - halfway:.0f} s]",
            flush=True,
        )
    print(f"seed {seed}: {learned} of {len(given.families)} families learned, {agent.counts.actions} actions")


def practise(agent: Agent, world: Environment, seed: int, given: argparse.Namespace) -> int:
    """Level after level until enough in a row were solved by what was known; how many episodes that took."""
    left, streak, episodes, level = given.patience, 0, 0, 1_000 * seed
    while streak < given.streak and left > 0:
        ended = attempt(agent, world, level, left)
        left -= max(ended.actions, 1)
        level += 1
        episodes += 1
        streak = streak + 1 if ended.word == "at once" else 0
    return episodes


def examine(
    agent: Agent, family: str, world: Environment, seed: int, given: argparse.Namespace, runner: Runner
) -> Counter[str]:
    """New levels, one episode each."""
    found: Counter[str] = Counter()
    levels = range(UNSEEN * (1 + seed), UNSEEN * (1 + seed) + given.new)
    works = [partial(alone, agent, world, level, 10_000) for level in levels]
    for level, ended in zip(levels, in_copies(works, runner), strict=True):
        goal = world.reset(level).goal
        found[ended.word] += 1
        if given.tell and ended.word != "at once":
            last: Sequence[str] = ended.notes[-6:]
            print(
                f"    {family} {level} {goal!r}: {ended.word} after {ended.actions} actions {last}",
                flush=True,
            )
    return found


if __name__ == "__main__":
    main()
