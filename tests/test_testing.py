"""The contract test fails for every clause that an environment can break, and says which."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from worldcoder.envs import Start, Step
from worldcoder.errors import WorldError
from worldcoder.testing import check_environment
from worldcoder.world.values import Action, Obj, State

LEFT, RIGHT = Action("left"), Action("right")


class Walk:
    """Keeps the contract: a walker on a line, who is done at the right end."""

    end = 6
    patience = 1000

    def __init__(self) -> None:
        self.x: int | None = None

    def reset(self, seed: int) -> Start:
        self.x = seed % 5
        self.steps = 0
        return Start(self.state(), "walk to the end")

    def state(self) -> State:
        return State([Obj("Walker", x=self.x)])

    def step(self, action: Action) -> Step:
        if self.x is None:
            raise WorldError("call reset(seed) first")
        if action not in (LEFT, RIGHT):
            raise WorldError(f"no action {action}")
        self.x = max(0, self.x + (1 if action == RIGHT else -1))
        self.steps += 1
        state, done, late = self.state(), self.x == self.end, self.steps >= self.patience
        if done or late:
            self.x = None
        return Step(state, float(done), done, late and not done)

    def actions(self, state: State) -> Any:
        return [LEFT, RIGHT]


def test_a_world_that_keeps_the_contract() -> None:
    checked = check_environment(Walk)
    assert checked.ended and checked.branched and checked.steps > 10


def test_what_was_seen_is_told() -> None:
    class Endless(Walk):
        end = 10**6

        def __deepcopy__(self, memo: object) -> Any:
            raise TypeError("cannot be copied")

    checked = check_environment(Endless, seeds=[0, 1], steps=30)
    assert (checked.steps, checked.ended, checked.branched) == (60, False, False)


def test_a_time_limit_is_an_end() -> None:
    class Impatient(Walk):
        patience = 3

    assert check_environment(Impatient).ended


def test_nothing_to_check_is_no_pass() -> None:
    with pytest.raises(AssertionError, match="at least one seed"):
        check_environment(Walk, seeds=[])
    with pytest.raises(AssertionError, match="and one step"):
        check_environment(Walk, steps=0)


# ── one broken world for each clause ─────────────────────────────────────────────────────────────────────

BROKEN: dict[str, tuple[type[Walk], str]] = {}


def broken(said: str) -> Callable[[type[Walk]], type[Walk]]:
    def add(world: type[Walk]) -> type[Walk]:
        BROKEN[world.__name__] = (world, said)
        return world

    return add


@broken(r"reset\(0\): expected Start, got tuple")
class ResetReturnsATuple(Walk):
    def reset(self, seed: int) -> Any:
        return tuple(super().reset(seed))


@broken(r"reset\(0\): expected a State, got list")
class StartIsNoState(Walk):
    def reset(self, seed: int) -> Any:
        return super().reset(seed)._replace(state=[])  # type: ignore[arg-type]


@broken(r"reset\(0\): expected the goal to be a sentence, got ''")
class NoGoal(Walk):
    def reset(self, seed: int) -> Start:
        return super().reset(seed)._replace(goal="")


@broken(r"reset\(0\): the same environment after another reset starts in another state")
class RemembersEpisodes(Walk):
    episodes = 0

    def reset(self, seed: int) -> Start:
        self.episodes += 1
        return super().reset(seed + self.episodes)


@broken(r"reset\(0\): a second environment starts in another state")
class SeedIsNotAll(Walk):
    made = 0

    def __init__(self) -> None:
        super().__init__()
        SeedIsNotAll.made += 1
        self.number = SeedIsNotAll.made

    def reset(self, seed: int) -> Start:
        return super().reset(self.number)


@broken(r"reset\(0\): .* has the goal 'goal \d+', not 'goal \d+'")
class GoalChanges(Walk):
    count = 0

    def reset(self, seed: int) -> Start:
        self.count += 1
        return super().reset(seed)._replace(goal=f"goal {self.count}")


@broken(r"actions\(state\), seed 0, step 0: expected a sequence, which has an order, got set")
class ActionsHaveNoOrder(Walk):
    def actions(self, state: State) -> Any:
        return {LEFT, RIGHT}


@broken(r"actions\(state\), seed 0, step 0: expected at least one action")
class NoActions(Walk):
    def actions(self, state: State) -> Any:
        return []


@broken(r"actions\(state\), seed 0, step 0: expected Action values, got 'left'")
class ActionsAreWords(Walk):
    def actions(self, state: State) -> Any:
        return ["left", "right"]


@broken(r"an action is listed twice: \[left, left\]")
class ActionsTwice(Walk):
    def actions(self, state: State) -> Any:
        return [LEFT, LEFT]


@broken(r"got \[right, left\], then \[left, right\] when asked again")
class OrderChanges(Walk):
    asked = 0

    def actions(self, state: State) -> Any:
        self.asked += 1
        return [LEFT, RIGHT] if self.asked % 2 == 0 else [RIGHT, LEFT]


@broken(r"from an environment in another state; actions may depend on the state that is given")
class ActionsIgnoreTheState(Walk):
    def actions(self, state: State) -> Any:
        return [LEFT, RIGHT] if self.x else [RIGHT]


@broken(r"step\(\w+\), seed 0, step 0: expected Step, got tuple")
class StepReturnsATuple(Walk):
    def step(self, action: Action) -> Any:
        return tuple(super().step(action))


@broken(r"expected a State, got list")
class NextIsNoState(Walk):
    def step(self, action: Action) -> Any:
        return super().step(action)._replace(state=[])  # type: ignore[arg-type]


@broken(r"expected the reward to be a finite float, got '0' \(str\)")
class RewardIsText(Walk):
    def step(self, action: Action) -> Any:
        return super().step(action)._replace(reward="0")  # type: ignore[arg-type]


@broken(r"expected the reward to be a finite float, got nan")
class RewardIsNan(Walk):
    def step(self, action: Action) -> Step:
        return super().step(action)._replace(reward=float("nan"))


@broken(r"expected done to be a bool, got 0 \(int\)")
class DoneIsANumber(Walk):
    def step(self, action: Action) -> Any:
        step = super().step(action)
        return step._replace(done=int(step.done))


@broken(r"expected truncated to be a bool, got None \(NoneType\)")
class TruncatedIsNone(Walk):
    def step(self, action: Action) -> Any:
        return super().step(action)._replace(truncated=None)  # type: ignore[arg-type]


@broken(r"an action of actions\(state\) raised ZeroDivisionError: division by zero")
class StepFails(Walk):
    def step(self, action: Action) -> Step:
        step = super().step(action)
        return step._replace(reward=1 / 0)


@broken(r"the state returned by reset\(0\) changed afterwards")
class ReturnedStatesChange(Walk):
    def state(self) -> State:
        state = State([Obj("Walker", x=self.x)])
        vars(self).setdefault("kept", []).append(state)
        return state

    def step(self, action: Action) -> Step:
        step = super().step(action)
        self.kept[0].objects[0].attributes["x"] = 99  # type: ignore[attr-defined]
        return step


@broken(r"the same state and action gave something else at seed 0, step \d+: reward was")
class RewardDependsOnTime(Walk):
    def step(self, action: Action) -> Step:
        step = super().step(action)
        return step._replace(reward=float(self.steps))


@broken(r"the same state and action gave something else at seed 0, step \d+: there was Walker\(x=\d+\)")
class NextDependsOnTime(Walk):
    end = 10**6

    def step(self, action: Action) -> Step:
        if self.x is not None and self.steps % 3 == 2:
            self.x += 1
        return super().step(action)


@broken(r"the same environment after another reset disagrees: .* the seed and the actions have to decide")
class ChanceIsNotSeeded(Walk):
    tosses = 0

    def step(self, action: Action) -> Step:
        self.tosses += 1
        step = super().step(action)
        extra = State([*step.state, Obj("Coin", tosses=self.tosses)])
        return step._replace(state=extra)


@broken(r"step\(\) before reset\(\): expected WorldError, got Step")
class NeedsNoReset(Walk):
    def __init__(self) -> None:
        super().__init__()
        self.reset(0)


@broken(r"step\(\) before reset\(\): expected WorldError, got TypeError")
class FailsBeforeReset(Walk):
    end = 10**6

    def step(self, action: Action) -> Step:
        assert action in (LEFT, RIGHT) or self.x is not None
        self.x = self.x + 0  # type: ignore[operator]
        return super().step(action)


@broken(r"step\(\) with an unknown action, seed 0, step \d+: expected WorldError, got Step")
class AnyActionGoes(Walk):
    def step(self, action: Action) -> Step:
        return super().step(action if action in (LEFT, RIGHT) else LEFT)


@broken(r"an environment that refused an action at step \d+ disagrees: there was Walker")
class RefusedActionsAct(Walk):
    end = 10**6

    def step(self, action: Action) -> Step:
        if action not in (LEFT, RIGHT) and self.x is not None:
            self.x += 1
        return super().step(action)


@broken(r"step\(\) after the end, seed 0, step \d+: expected WorldError, got Step")
class GoesOnAfterTheEnd(Walk):
    def step(self, action: Action) -> Step:
        step = super().step(action)
        self.x = step.state.one("Walker").x
        return step


@broken(r"an environment whose copy has acted since step \d+ disagrees: there was Walker")
class CopiesShare(Walk):
    end = 10**6

    def __deepcopy__(self, memo: object) -> Any:
        return self


@broken(r"a copy made by copy.deepcopy at step \d+ disagrees: there was Walker")
class CopiesStartOver(Walk):
    end = 10**6

    def __deepcopy__(self, memo: object) -> Any:
        new = type(self)()
        new.reset(0)
        return new


def holding(**attributes: Any) -> type[Walk]:
    class Holding(Walk):
        def state(self) -> State:
            return State([Obj("Walker", **{"at": self.x, **attributes})])

    return Holding


@pytest.mark.parametrize(
    ("attributes", "said"),
    [
        ({"on-fire": True}, "'on-fire', which is no Python identifier; programs write o.on_fire: rename it"),
        ({"class": 1}, "'class', which is no Python identifier; programs write o.class_: rename it"),
        ({"2nd": 1}, "'2nd', which is no Python identifier; programs write o._2nd: rename it"),
        ({"": 1}, "'', which is no Python identifier; programs write o.attribute: rename it"),
        ({"replace": 1}, "'replace', which is reserved"),
        ({"attributes": 1}, "'attributes', which is reserved"),
        ({"_alive": 1}, "'_alive', which is reserved"),
        ({"x": 1.0, "y": 0}, "Walker.x is 1.0 (float), expected an int, or None for what is nowhere"),
        ({"x": 1, "y": True}, "Walker.y is True (bool), expected an int"),
        ({"x": "left"}, "Walker.x is 'left' (str), expected an int"),
    ],
)
def test_attributes_that_programs_cannot_use(attributes: dict[str, Any], said: str) -> None:
    with pytest.raises(AssertionError) as caught:
        check_environment(holding(**attributes))
    assert str(caught.value).startswith("reset(0): Walker") and said in str(caught.value)


def test_places_may_be_nowhere_and_keywords_of_patterns_are_names() -> None:
    assert check_environment(holding(x=None, y=3, match=1, type="old")).steps


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_world_is_found_and_named(name: str) -> None:
    world, said = BROKEN[name]
    with pytest.raises(AssertionError, match=said) as caught:
        check_environment(world, seeds=[0], steps=100)
    assert "\n" not in str(caught.value).split("\nassert")[0]


def test_what_a_state_lacks_shows_between_episodes_too() -> None:
    class DependsOnTheSeed(Walk):
        def reset(self, seed: int) -> Start:
            self.seed = seed
            return super().reset(0)

        def step(self, action: Action) -> Step:
            return super().step(action)._replace(reward=float(self.seed))

    check_environment(DependsOnTheSeed, seeds=[4])
    with pytest.raises(AssertionError, match=r"seed 5, step \d+: the same state and action .* at seed 4"):
        check_environment(DependsOnTheSeed, seeds=[4, 5])
