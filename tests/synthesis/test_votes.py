"""What the hypotheses dispute: as a program, and as a search for it; and which of many hypotheses are kept."""

from __future__ import annotations

import random

import pytest
from small_worlds import PUSHING_ROOM, STEPS, pushing, walk

from worldcoder.agent import Agent, AgentConfig
from worldcoder.envs import make
from worldcoder.programs import Program, Runner
from worldcoder.synthesis.rules.effects import KEEP
from worldcoder.synthesis.rules.ensemble import varied
from worldcoder.synthesis.rules.lists import DecisionList, Rule
from worldcoder.synthesis.rules.synthesizer import RulesSynthesizer
from worldcoder.synthesis.rules.votes import MARK
from worldcoder.world import Action, Obj, State, Transition


def shown(name: str, actions: int, seed: int = 0) -> tuple[RulesSynthesizer, list[Transition]]:
    """A random walk, and the rules for it."""
    world, rng, synthesizer = make(name), random.Random(seed), RulesSynthesizer()
    seen: list[Transition] = []
    state, goal = world.reset(seed)[:2]
    synthesizer.begin(state, goal, world.actions(state))
    for n in range(actions):
        action = rng.choice(list(world.actions(state)))
        step = world.step(action)
        seen.append(Transition(state, goal, action, step.state, step.reward, step.done))
        synthesizer.observe(seen[-1])
        state = step.state
        if step.done or step.truncated:
            state = world.reset(seed + n + 1).state
            synthesizer.begin(state, goal, world.actions(state))
    synthesizer.fit()
    return synthesizer, seen


@pytest.mark.parametrize(
    "name",
    [
        "sokoban",
        "minigrid:DoorKey-5x5",
        *(f"lab:{n}" for n in ("teleport", "rows", "belts", "shop", "railway")),
        *(f"tests/worlds/{n}.py:make_env" for n in ("train", "vault", "bombs")),
    ],
)
def test_the_program_marks_what_the_lists_dispute_and_does_what_the_best_ones_say(
    name: str, runner: Runner
) -> None:
    synthesizer, seen = shown(name, 120, seed=2)
    found = synthesizer.disputes(seen[0].goal, seen[0].state)
    assert found is not None
    world = make(name)
    elsewhere = [
        (state, action)
        for seed in range(500, 508)
        for state in [world.reset(seed).state]
        for action in world.actions(state)
    ]
    elsewhere += [(t.state, a) for t in seen for a in world.actions(t.state)]
    best = runner.simulation(synthesizer.transition_program(), None, seen[0].state, world.actions)
    marking = runner.simulation(*found, seen[0].state, world.actions)
    marks, more = [], 0
    for step, plain, marked in zip(
        elsewhere, best.predict_all(elsewhere), marking.predict_all(elsewhere), strict=True
    ):
        assert plain.state is not None and marked.state is not None, marked.error
        marks.append(marked.reward > 0)
        assert marks[-1] == bool(marked.state.all(MARK))
        assert State(o for o in marked.state if o.kind != MARK) == plain.state
        # lists that would need too many words are left out of the program, so that it may mark less
        more += marks[-1] and not synthesizer.dynamics.doubts.of(*step).disputed
    assert 0 < sum(marks) < len(marks)
    assert more <= 0.02 * len(marks)


def test_where_all_agree_there_is_nothing_to_seek() -> None:
    synthesizer = RulesSynthesizer()
    synthesizer.begin(PUSHING_ROOM, "wander", STEPS)
    assert synthesizer.disputes("wander", PUSHING_ROOM) is None


def test_of_lists_that_say_the_same_the_cheapest_is_kept_first() -> None:
    """Here are two that say the same with other words, and a dearer one that says something else."""
    seen = walk(PUSHING_ROOM, pushing, STEPS, 60, seed=1)
    synthesizer = RulesSynthesizer()
    synthesizer.begin(PUSHING_ROOM, "wander", STEPS)
    for t in seen:
        synthesizer.observe(t)
    synthesizer.fit()
    dynamics = synthesizer.dynamics
    for t in seen:
        for action in STEPS:
            dynamics.doubts.of(t.state, action)
    target = max(dynamics.targets.values(), key=lambda one: len(dynamics.doubts.probes(one)))
    probes = dynamics.doubts.probes(target)
    assert len(probes) > 10
    best = target.lists[0]
    echo = DecisionList((*best.rules[:-1], Rule(0, KEEP), Rule(0, ("set", "odd"))), best.cost + 1)
    other = DecisionList((Rule(0, KEEP),), best.cost + 2)
    assert best.rules[-1].effect == KEEP
    assert varied([best, echo, other], probes, target.attribute, 2) == [best, other]
    assert varied([best, echo, other], probes, target.attribute, 3) == [best, echo, other]
    assert varied([best, echo, other], [], target.attribute, 2) == [best, echo]


def test_a_dispute_far_away_is_found(runner: Runner) -> None:
    """Nothing near is doubtful; behind many steps that are known, hypotheses disagree: there the agent goes."""

    class Sure(RulesSynthesizer):
        """Doubts one step alone, from the last cell of a corridor on."""

        def interest(
            self, state: State, action: Action, above: float = 0.0, *, disputed: bool | None = None
        ) -> float:
            return 0.0

        def disputes(self, goal: str, start: State) -> tuple[Program, Program] | None:
            reward = (
                "def reward(state, action, next_state):\n"
                "    there = state.one('Mole').x == 9 and action.name == 'right'\n"
                "    return (1.0, True) if there else (0.0, False)\n"
            )
            return self.transition_program(), Program(reward, "reward", goal=goal)

    actions = [Action("left"), Action("right")]

    def after(state: State, action: Action) -> State:
        mole = state.one("Mole")
        x = min(9, max(0, mole.x + (1 if action.name == "right" else -1)))
        return State([mole.replace(x=x)])

    config = AgentConfig(optimism=False, min_data=12, explore_nodes=2)
    agent = Agent(Sure(), config=config, rng=random.Random(0), actions=lambda state: actions, runner=runner)
    state, notes = State([Obj("Mole", x=0, y=0)]), []
    agent.begin(state, "dig")
    for _ in range(40):
        decision = agent.act(state)
        notes.append(decision.note)
        if decision.action is None:
            break
        following = after(state, decision.action)
        agent.observe(Transition(state, "dig", decision.action, following, 0.0, False))
        if decision.note == "hypotheses disagree" and state.one("Mole").x == 9:
            return
        state = following
    raise AssertionError(notes)
