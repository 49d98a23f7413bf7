"""What a worker does for its parent: checks, plans and single steps of the programs it was given.

Requests are self-contained: each can be made again, in another worker, with the same result. Programs are
functions of their arguments, searches of theirs; what a worker keeps from one request to the next (loaded
programs, prepared situations, tables) only saves time.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Sequence
from typing import Any

from worldcoder.errors import ProgramError
from worldcoder.planning import PLANNERS, Budget, Model
from worldcoder.planning.parts import InParts
from worldcoder.programs.inside.answers import Answers
from worldcoder.programs.inside.counting import Calls, Located
from worldcoder.programs.inside.functions import RewardFunction, TransitionFunction
from worldcoder.programs.inside.inputs import Inputs
from worldcoder.programs.inside.known import Known
from worldcoder.programs.inside.loading import GivenUp, load_namespace
from worldcoder.programs.inside.simulator import Simulator
from worldcoder.programs.inside.stepping import Stepper
from worldcoder.programs.prediction import Actions
from worldcoder.sandbox import Line
from worldcoder.sandbox.watch import WATCH
from worldcoder.world.values import Action, State

_STEPPERS = 16


class Unloadable(Exception):
    """A program that does not load."""

    def __init__(self, program: str, error: ProgramError) -> None:
        super().__init__(program)
        self.program = program
        self.error = error


class Service:
    """The programs of one worker, and what they run on."""

    def __init__(self) -> None:
        self._known = Known()
        self._answers = Answers(self._known)
        self._inputs: dict[int, Inputs] = {}
        self._sources: dict[str, tuple[str, str]] = {}
        self._transitions: dict[str, TransitionFunction] = {}
        self._rewards: dict[str, RewardFunction] = {}
        self._steppers: dict[Any, Stepper] = {}

    def prepare(self, data: Any) -> None:
        """Take in objects, actions and situations."""
        known = self._known
        known.learn(data["objects"], data["actions"])
        for check in data["forget"]:
            self._inputs.pop(check, None)
        for check, rows in data["inputs"]:
            inputs = self._inputs.setdefault(check, Inputs())
            for state, action, goal in rows:
                inputs.add(known.state(state), known.actions[action], goal)

    def handle(self, request: Any, line: Line) -> Any:
        """Answer one request."""
        self.prepare(request["learn"])
        self._sources.update(request["programs"])
        result: list[Any] = []
        failed = unloadable = located = None
        WATCH.overruns = 0
        try:
            getattr(self, f"_{request['do']}")(request, line, result)
        except GivenUp:
            failed = ["timeout", "its calls took too long, again and again"]
        except MemoryError:
            self._steppers.clear()
            gc.collect()
            failed = ["memory", "it took too much memory"]
        except Unloadable as error:
            unloadable = [error.program, error.error.failing, str(error.error)[:1000]]
        except Located as found:
            located = [self._answers.from_nothing(found.state), found.action.to_json()]
        return {
            "tables": self._answers.flush(),
            "result": result,
            "failed": failed,
            "unloadable": unloadable,
            "located": located,
            "position": WATCH.position[0],
        }

    # ── what can be asked for ────────────────────────────────────────────────────────────────────────────

    def _load(self, request: Any, line: Line, result: list[Any]) -> None:
        """See whether a program loads."""
        kind, source = self._sources[request["program"]]
        try:
            load_namespace(source, kind)
        except ProgramError as error:
            raise Unloadable(request["program"], error) from None

    def _check(self, request: Any, line: Line, result: list[Any]) -> None:
        """Run programs on recorded situations: [number, outcome, verdict] for each, one after another."""
        rewards = {int(goal): self._reward(program) for goal, program in request["rewards"].items()}
        program = request["transition"]
        inputs = self._inputs[request["check"]]

        def at(number: int) -> None:
            WATCH.position[0] = number

        for answer in inputs.run(
            request["inputs"],
            None if program is None else self._transition(program),
            rewards.get,
            self._answers,
            after={case: (number, self._known.state(wire)) for case, number, wire in request["after"]},
            backwards=request["backwards"],
            at=at,
        ):
            result += answer

    def _plan(self, request: Any, line: Line, result: list[Any]) -> None:
        """Search: [status, actions, rewards, nodes, method, first failure or None]."""
        reward, calls = request["reward"], Calls(request["stop_at"])
        model: Model = Simulator(
            self._transition(request["transition"]),
            None if reward is None else RewardFunction(self._source(reward)),
            self._known.state(request["start"]),
            self._actions(request, line),
            calls=calls,
        )
        if request["order"]:
            model = InParts(model, tuple(map(tuple, request["order"])), request["progress"])
        budget = Budget(request["nodes"], request["allowed"])
        plan = PLANNERS[request["search"]](model, budget=budget)
        numbers = {action: i for i, action in reversed(list(enumerate(self._known.actions)))}
        result += plan.status, [numbers[a] for a in plan.actions], list(plan.rewards), plan.nodes, plan.method
        result.append(None if calls.failed is None else self._failure(*calls.failed))

    def _failure(self, state: State, action: Action, error: ProgramError) -> Any:
        """Where a call failed, and how."""
        return [self._answers.from_nothing(state), action.to_json(), error.failing, str(error)[:1000]]

    def _steps(self, request: Any, line: Line, result: list[Any]) -> None:
        """Single steps: [outcome, verdict] for each, one after another."""
        stepper, known = self._stepper(request), self._known
        for number, (wire, action) in enumerate(request["steps"]):
            WATCH.position[0] = number
            before = stepper.keep(known.state(wire))
            result += stepper.step(before, known.actions[action])[:2]

    def _follow(self, request: Any, line: Line, result: list[Any]) -> None:
        """A way, step by step: [outcome, verdict] for each, one after another."""
        actions = [self._known.actions[i] for i in request["way"]]
        for outcome, verdict in self._stepper(request).follow(self._known.state(request["base"]), actions):
            WATCH.position[0] = len(result) // 2
            result += outcome, verdict

    # ── programs ─────────────────────────────────────────────────────────────────────────────────────────

    def _source(self, program: str) -> str:
        return self._sources[program][1]

    def _transition(self, program: str) -> TransitionFunction:
        function = self._transitions.get(program)
        if function is None:
            try:
                function = self._transitions[program] = TransitionFunction(self._source(program))
            except ProgramError as error:
                raise Unloadable(program, error) from None
        return function

    def _reward(self, program: str) -> RewardFunction:
        """A reward program for recorded situations; one for a live state of its own is made each time."""
        function = self._rewards.get(program)
        if function is None:
            function = self._rewards[program] = self._new_reward(program)
        return function

    def _new_reward(self, program: str) -> RewardFunction:
        try:
            return RewardFunction(self._source(program))
        except ProgramError as error:
            raise Unloadable(program, error) from None

    def _stepper(self, request: Any) -> Stepper:
        base = self._known.state(request["base"])
        key = request["transition"], request["reward"], len(base)
        stepper = self._steppers.get(key)
        if stepper is None:
            if len(self._steppers) >= _STEPPERS:
                self._steppers.pop(next(iter(self._steppers)))
            reward = None if request["reward"] is None else self._new_reward(request["reward"])
            stepper = Stepper(self._transition(request["transition"]), reward, base, self._answers)
            self._steppers[key] = stepper
        return stepper

    # ── actions ──────────────────────────────────────────────────────────────────────────────────────────

    def _actions(self, request: Any, line: Line) -> Actions:
        """The actions of a search: a list, or a function that asks the parent; without those left out."""
        known = self._known
        numbers = request["actions_in"]
        without = {(known.state(wire), known.actions[action]) for wire, action in request["without"]}
        if numbers is not None:
            fixed = tuple(known.actions[i] for i in numbers)
            return fixed if not without else _except(lambda state: fixed, without)
        asked: dict[State, Sequence[Action]] = {}

        def there_are(state: State) -> Sequence[Action]:
            actions = asked.get(state)
            if actions is None:
                outcome = self._answers.from_nothing(state)
                answer = line.ask({"tables": self._answers.flush(), "state": outcome})
                known.learn((), answer["learn"])
                actions = asked[state] = tuple(known.actions[i] for i in answer["actions"])
            return actions

        return there_are if not without else _except(there_are, without)


def _except(
    actions: Callable[[State], Sequence[Action]], without: set[tuple[State, Action]]
) -> Callable[[State], Sequence[Action]]:
    return lambda state: [a for a in actions(state) if (state, a) not in without]
