"""Playing with a model: solved levels, surprises, and every way in which an episode ends."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence

import pytest
from programs_for_sokoban import GOAL, NO_PENALTY, REWARD, THROUGH_BOXES, TRANSITION, sokoban_model

from worldcoder.envs import Start, Step, make
from worldcoder.errors import ProgramError
from worldcoder.planning import Budget, Plan, Status
from worldcoder.playing import ASTRAY, Moment, PlayedEpisode, Reason, play
from worldcoder.programs import Program, Runner, Simulation, WorldModel
from worldcoder.sandbox import Limits
from worldcoder.world import Action, Obj, State


def test_an_exact_model_solves_every_level_without_a_surprise() -> None:
    played = play(sokoban_model(), make("sokoban"), range(8))
    assert played.solved == 8
    assert all(e.surprises == 0 and e.plans == 1 and e.plan is Status.FOUND for e in played.episodes)
    assert all(e.reason is Reason.SOLVED and e.nodes > 0 for e in played.episodes)
    assert played.mean_length == sum(e.length for e in played.episodes) / 8
    # Two boxes: 10 for the end, 1 for each box, 0.1 for each step.
    for episode in played.episodes:
        assert episode.returned == pytest.approx(12 - 0.1 * episode.length)


def test_what_is_seen_is_the_episode() -> None:
    seen: list[Moment] = []
    played = play(sokoban_model(), make("sokoban"), [3], on_step=seen.append)
    env = make("sokoban")
    assert seen[0].state == env.reset(3).state and seen[0].action is None
    for i, moment in enumerate(seen[1:], start=1):
        assert moment.action is not None
        assert env.step(moment.action)[:3] == (moment.state, moment.reward, moment.done)
        assert moment.step == i and moment.planned == played.episodes[0].length - i
    assert seen[-1].done


def test_a_wrong_reward_is_a_surprise_and_changes_no_plan() -> None:
    doubled = REWARD.replace("-0.1", "-0.2")
    for reward in (doubled, NO_PENALTY):
        played = play(sokoban_model(reward=reward), make("sokoban"), range(8))
        assert played.solved == 8
        assert {e.plans for e in played.episodes} == {1}
        assert any(e.surprises for e in played.episodes)
        if reward is doubled:
            assert all(e.surprises == e.length for e in played.episodes)


def test_an_action_that_surprised_is_not_tried_there_again() -> None:
    tried: list[tuple[State, Action]] = []
    before: list[State] = []

    def watch(moment: Moment) -> None:
        if moment.action is not None and moment.surprise:
            tried.append((before[-1], moment.action))
        before.append(moment.state)

    played = play(sokoban_model(THROUGH_BOXES), make("sokoban"), range(12), on_step=watch)
    assert tried and len(set(tried)) == len(tried)
    assert all(e.surprises <= ASTRAY + 1 for e in played.episodes)
    assert played.solved >= 4


# ── how an episode ends ──────────────────────────────────────────────────────────────────────────────────


def only(model: WorldModel, spec: str = "sokoban", seed: int = 0, **options: object) -> PlayedEpisode:
    return play(model, make(spec), [seed], **options).episodes[0]  # type: ignore[arg-type]


def test_a_model_that_sees_no_way_stops() -> None:
    frozen = TRANSITION.replace("    player.x, player.y = x, y\n", "")
    episode = only(sokoban_model(frozen.replace("        box.x, box.y = x + dx, y + dy\n", "")))
    assert (episode.reason, episode.plan, episode.length) == (Reason.UNREACHABLE, Status.UNREACHABLE, 0)
    assert not episode.solved


def test_a_small_budget_stops() -> None:
    episode = only(sokoban_model(), budget=Budget(nodes=20))
    assert (episode.reason, episode.plan) == (Reason.BUDGET, Status.BUDGET)
    assert 0 < episode.nodes <= 20


def test_max_steps_stop() -> None:
    assert (only(sokoban_model(), max_steps=3).reason, only(sokoban_model(), max_steps=3).length) == (
        Reason.STEPS,
        3,
    )


def test_the_time_of_the_world_stops() -> None:
    played = play(sokoban_model(), make("sokoban", max_steps=2), [0])
    assert played.episodes[0].reason is Reason.TRUNCATED


def test_a_world_that_never_does_what_was_predicted_stops() -> None:
    anything = "def reward(state, action, next_state):\n    return 1.0, True\n"
    played = play(sokoban_model(reward=anything), make("sokoban"), [0])
    episode = played.episodes[0]
    assert episode.reason in (Reason.ASTRAY, Reason.UNREACHABLE)
    assert 0 < episode.surprises <= ASTRAY + 1


def test_a_goal_without_a_reward_program_is_said() -> None:
    other = WorldModel(Program(TRANSITION, "transition"), {"sit": Program(REWARD, "reward", "sit")})
    assert only(other).reason is Reason.NO_REWARD
    assert only(sokoban_model(reward=None)).reason is Reason.NO_REWARD


def test_a_reward_program_for_any_goal_serves() -> None:
    anyone = WorldModel(Program(TRANSITION, "transition"), {"*": Program(REWARD, "reward", "*")})
    assert only(anyone).solved


def test_a_program_that_does_not_load_is_refused() -> None:
    with pytest.raises(ProgramError, match="defines no function"):
        only(sokoban_model("x = 1"))


def test_a_program_that_fails_leads_nowhere() -> None:
    episode = only(sokoban_model(TRANSITION.replace("    player =", "    1 / 0\n    player =")))
    assert episode.reason is Reason.UNREACHABLE


def test_ctrl_c_returns_what_was_played() -> None:
    def stop(moment: Moment) -> None:
        if (moment.seed, moment.step) == (2, 3):
            raise KeyboardInterrupt

    played = play(sokoban_model(), make("sokoban"), range(10), on_step=stop)
    assert played.interrupted
    assert [e.seed for e in played.episodes] == [0, 1]


def test_the_planner_is_a_parameter() -> None:
    used: list[int] = []

    def counting(simulation: Simulation, *, budget: Budget) -> Plan:
        used.append(budget.nodes)
        return simulation.plan("astar", budget=budget)

    played = play(sokoban_model(), make("sokoban"), [0], planner=counting, budget=Budget(nodes=77_777))
    assert played.solved == 1 and used == [77_777]


def test_it_is_json() -> None:
    result = json.loads(json.dumps(play(sokoban_model(), make("sokoban"), range(2)).to_json()))
    assert (result["episodes"], result["solved"]) == (2, 2)
    assert {"mean_return", "mean_length", "seconds"} <= set(result)
    assert result["each"][0]["reason"] == "solved" and "return" in result["each"][0]
    assert play(sokoban_model(), make("sokoban"), []).to_json()["mean_return"] == 0


# ── programs that fail badly ─────────────────────────────────────────────────────────────────────────────


@pytest.fixture(scope="module")
def impatient() -> Iterator[Runner]:
    """Runs programs, and waits for none that hangs."""
    with Runner(limits=Limits(call_seconds=0.2)) as runner:
        yield runner


def upwards(what: str) -> WorldModel:
    """Sokoban, and what happens instead when the action is `up`."""
    return sokoban_model(TRANSITION.replace("    player =", f"    {what}\n    player ="))


LOOP = "while action.name == 'up': pass"
LEAVE = "import os; action.name == 'up' and os._exit(3)"
MEMORY = "x = [0] * 10**11 if action.name == 'up' else None"


@pytest.mark.parametrize(("what", "failing"), [(LOOP, "timeout"), (LEAVE, "crash"), (MEMORY, "memory")])
def test_what_fails_badly_ends_an_episode_and_not_the_command(
    impatient: Runner, what: str, failing: str
) -> None:
    played = play(upwards(what), make("sokoban"), range(2), runner=impatient)
    assert [e.reason for e in played.episodes] == [Reason.FAULT] * 2
    assert not played.solved
    fault = played.episodes[0].fault
    assert fault is not None and fault.failing == failing
    assert played.to_json()["each"][1]["fault"]["failing"] == failing


def test_a_step_that_fails_badly_is_planned_around(impatient: Runner) -> None:
    """Without going up from one place, there is still a way."""
    only_there = "while action.name == 'walk' and state.one('Cat').x == 1: pass"
    leaping = f"""
def transition(state, action):
    {only_there}
    state.one("Cat").x += {{"walk": 1, "leap": 2}}.get(action.name, 0)
    return state
"""

    class Leaping(Ladder):
        def actions(self, state: State) -> Sequence[Action]:
            return [*super().actions(state), Action("leap")]

        def step(self, action: Action) -> Step:
            self.x += 2 * (action.name == "leap")
            return super().step(action)

    model = WorldModel(Program(leaping, "transition"), CAT.rewards)
    world = Leaping(lambda s: s.one("Cat").x == 5)
    episode = play(model, world, [0], runner=impatient, budget=Budget(nodes=500)).episodes[0]
    assert episode.solved and episode.fault is None and episode.surprises == 0


def test_a_program_that_hangs_when_it_is_loaded_is_refused(impatient: Runner) -> None:
    with pytest.raises(ProgramError, match="took too long"):
        play(sokoban_model("while True: pass"), make("sokoban"), [0], runner=impatient)
    with pytest.raises(ProgramError, match="defines no function"):
        play(sokoban_model(reward="x = 1"), make("sokoban"), [0], runner=impatient)


# ── actions that depend on the state ─────────────────────────────────────────────────────────────────────


class Ladder:
    """A corridor; `climb` can be chosen at its end only."""

    def __init__(self, offered: Callable[[State], bool]) -> None:
        self.offered = offered

    def reset(self, seed: int) -> Start:
        self.x = 0
        return Start(self.state(), "up")

    def state(self) -> State:
        return State([Obj("Cat", x=self.x, y=0), Obj("Ladder", x=5, y=0)])

    def actions(self, state: State) -> Sequence[Action]:
        return [Action("walk"), *([Action("climb")] if self.offered(state) else [])]

    def step(self, action: Action) -> Step:
        assert action in self.actions(self.state())
        self.x += action.name == "walk"
        done = action.name == "climb"
        return Step(self.state(), float(done), done, False)


WALK = """
def transition(state, action):
    if action.name == "walk":
        state.one("Cat").x += 1
    return state
"""
CLIMB = """
def reward(state, action, next_state):
    done = action.name == "climb"
    return float(done), done
"""
CAT = WorldModel(Program(WALK, "transition"), {"up": Program(CLIMB, "reward", "up")})


def test_actions_that_come_and_go() -> None:
    episode = play(CAT, Ladder(lambda s: s.one("Cat").x == 5), [0]).episodes[0]
    assert (episode.solved, episode.length, episode.surprises) == (True, 6, 0)


class Growing(Ladder):
    """In level 0 walking is all there is, and enough."""

    def reset(self, seed: int) -> Start:
        self.ladder = 5 if seed else None
        return super().reset(seed)

    def state(self) -> State:
        return State([Obj("Cat", x=self.x, y=0), Obj("Ladder", x=self.ladder, y=0)])

    def step(self, action: Action) -> Step:
        state, reward, done, truncated = super().step(action)
        walked = self.ladder is None and self.x == 2
        return Step(state, reward + walked, done or walked, truncated)


GROWN = CLIMB.replace(
    'done = action.name == "climb"',
    'ladder, cat = next_state.one("Ladder"), next_state.one("Cat")\n'
    '    done = action.name == "climb" or (ladder.x is None and cat.x == 2)',
)


@pytest.mark.parametrize("levels", [[0, 1, 0, 1], [1, 0]])
def test_actions_that_come_only_in_a_later_level(levels: list[int]) -> None:
    """Levels after the first are taken to be like it, until there is no plan."""
    model = WorldModel(CAT.transition, {"up": Program(GROWN, "reward", "up")})
    world = Growing(lambda s: s.one("Ladder").x == s.one("Cat").x)
    played = play(model, world, levels, budget=Budget(nodes=200))
    assert [(e.solved, e.length) for e in played.episodes] == [(True, 6 if n else 2) for n in levels]
    assert sum(e.plans for e in played.episodes) == len(levels) + (levels[0] == 0)


def test_a_goal_in_words() -> None:
    assert only(sokoban_model()).goal == GOAL
