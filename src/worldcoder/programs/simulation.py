"""A world model at work in a locked worker: to plan with, to follow, to ask for single steps."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from worldcoder.planning import PLANNERS, Budget, Plan, Status
from worldcoder.planning.model import DEFAULT_BUDGET, rewarding
from worldcoder.planning.parts import Progress, worth
from worldcoder.programs.check import TOLERANCE
from worldcoder.programs.prediction import Actions, Fault, Prediction
from worldcoder.programs.program import Program
from worldcoder.programs.session import Failed, Reply, Session, failed_by
from worldcoder.programs.workers import Workers
from worldcoder.sandbox import WorkerFailed
from worldcoder.world.values import Action, State

T = TypeVar("T")

_BATCH = 500
"""Single steps in one request."""
_CHANCES = 4
"""How often the programs may take a worker down, or have a request given up, before they are not asked again."""
_GRACE = 5.0
"""Seconds that a worker has beyond those of its search, before it is ended."""

Step = tuple[State, Action]


class Simulation:
    """A transition program and a reward program, from one state on. `Runner.simulation` makes it.

    Searches run inside the worker, next to the program; only the plan comes out. Of a goal of several parts the
    simulation begins where some may be done already: `progress`. All that it says of rewards is of what is left.
    """

    def __init__(
        self,
        workers: Workers,
        transition: Program,
        reward: Program | None,
        state: State,
        actions: Actions,
        without: Collection[Step],
        progress: Progress = 0,
    ) -> None:
        self.state = state
        self.progress = progress
        self._workers = workers
        self._transition = transition
        self._reward = reward
        self._actions = actions
        self._without = tuple(without)
        self._programs = {p.id: p for p in (transition, reward) if p is not None}
        self._followed: dict[tuple[Action, ...], tuple[Prediction, ...]] = {}
        self._searched: Session | None = None
        self._chances = _CHANCES

    # ── planning ─────────────────────────────────────────────────────────────────────────────────────────

    def plan(self, search: str = "plan", *, budget: Budget = DEFAULT_BUDGET) -> Plan:
        """Search for a way to a rewarded end.

        search: one of `worldcoder.planning.PLANNERS`.

        A plan that comes out is followed step by step in another worker. Where it does not lead where it is
        said to, and where a program takes its worker down, the status is BUDGET (nothing is known), and
        `Plan.fault` says what happened and where. Steps in which a program fails otherwise lead nowhere, and
        `fault` is the first of them; where one took too long or too much memory, nothing is proved
        unreachable.
        """
        if search not in PLANNERS:
            raise ValueError(f"no search is called {search!r}; there are: {', '.join(PLANNERS)}")
        began = time.perf_counter()
        try:
            plan = self._search(search, budget)
        except WorkerFailed as failed:
            fault = self._locate(search, budget, failed_by(failed), failed.position)
            plan = _unknown(search, fault)
        if plan.found:
            fault_or_none = self._does_not_lead_there(plan)
            if fault_or_none is not None:
                plan = replace(_unknown(search, fault_or_none), nodes=plan.nodes)
        return replace(plan, seconds=time.perf_counter() - began)

    def _search(self, search: str, budget: Budget) -> Plan:
        """One search; raises WorkerFailed."""
        found, reply = self._ask_for_plan(lambda s, r: (self._read_plan(search, s, r), r), search, budget)
        given_up = reply.failed
        if given_up is not None and given_up.failing != "memory":
            return _unknown(search, self._locate(search, budget, given_up, reply.position))
        return found

    def _read_plan(self, search: str, session: Session, reply: Reply) -> Plan:
        self._searched = session
        problem = reply.problem
        if problem is not None:
            return _unknown(search, self._fault(problem))
        try:
            status, numbers, rewards, nodes, method, failure = reply.result
            actions = tuple([self._workers.book.actions[i] for i in numbers])
            status = Status(status)
            if not isinstance(nodes, int) or not nodes >= 0 or not isinstance(method, str):
                raise ValueError("no count of nodes")
            if len(rewards) != len(actions) or (status is Status.FOUND) != bool(actions):
                raise ValueError("no plan")
            plan = Plan(status, actions, tuple(map(float, rewards)), nodes, 0.0, method[:40])
        except (ValueError, TypeError, IndexError) as error:
            raise session.garbage(error) from None
        if failure is None:
            return plan
        state, action, how = session.failure(failure)
        proof = plan.status is Status.UNREACHABLE and how.failing == "error"
        status = plan.status if plan.found or proof else Status.BUDGET
        return replace(plan, status=status, fault=self._fault(how, state, action))

    def _ask_for_plan(
        self,
        read: Callable[[Session, Reply], T],
        search: str,
        budget: Budget,
        *,
        stop_at: int = 0,
        fresh: bool = False,
    ) -> T:
        longest = max(self._workers.limits.request_seconds - _GRACE, 0.0)
        seconds = longest if budget.seconds is None else min(budget.seconds, longest)
        book = self._workers.book
        with book:
            actions = None if callable(self._actions) else [book.action(a) for a in self._actions]
            without = [(book.objects.to_wire(state), book.action(action)) for state, action in self._without]
            start = book.objects.to_wire(self.state)
        return self._ask(
            "plan",
            read,
            search=search,
            nodes=budget.nodes,
            seconds=seconds + _GRACE,
            allowed=seconds,
            start=start,
            order=() if self._reward is None else self._reward.order,
            progress=self.progress,
            actions_in=actions,
            without=without,
            stop_at=stop_at,
            fresh=fresh,
            answer=self._actions if callable(self._actions) else None,
        )

    def _does_not_lead_there(self, plan: Plan) -> Fault | None:
        """How a plan does not come out where it is followed; None where it does."""
        state, steps = self.state, self.follow(plan.actions)
        rule = (
            "the plan that it found does not come out when it is followed: it keeps something between calls"
        )
        for n, (action, step) in enumerate(zip(plan.actions, steps, strict=False)):
            last = n == len(plan.actions) - 1
            right = step.done == last and abs(step.reward - plan.rewards[n]) <= TOLERANCE
            if step.state is None:
                return self._fault(Failed(step.failing or "error", step.error or rule), state, action)
            if not right or (last and not rewarding(step.reward, step.done)):
                return self._fault(Failed("impure", rule), state, action)
            state = step.state
        return None if len(steps) == len(plan.actions) else self._fault(Failed("impure", rule))

    def _locate(self, search: str, budget: Budget, failed: Failed, position: int) -> Fault:
        """Where a program took its worker down: the same search again, up to that call, in a new worker."""
        if position < 1:
            return self._fault(failed)
        try:
            located = self._ask_for_plan(
                lambda _, reply: reply.located, search, budget, stop_at=position, fresh=True
            )
        except WorkerFailed:
            return self._fault(failed)
        if located is None:
            return self._fault(failed)
        state, action = located
        step = self.predict(state, action)
        if step.failing is None:
            return self._fault(failed)
        return self._fault(Failed(step.failing, step.error or failed.error), state, action)

    def _fault(self, failed: Failed, state: State | None = None, action: Action | None = None) -> Fault:
        goal = None if self._reward is None else self._reward.goal
        return Fault(failed.failing, failed.error, goal, state, action)

    # ── single steps ─────────────────────────────────────────────────────────────────────────────────────

    def follow(self, actions: Sequence[Action]) -> tuple[Prediction, ...]:
        """What the model says of each action in turn, from `state` on; it ends early where a program fails.

        In another worker than the last search, where there was one.
        """
        way = tuple(actions)
        if way not in self._followed:
            self._followed[way] = self._follow(way)
        return self._followed[way]

    def _follow(self, way: tuple[Action, ...]) -> tuple[Prediction, ...]:
        book = self._workers.book
        with book:
            numbers = [book.action(a) for a in way]
            base = book.objects.to_wire(self.state)

        def read(session: Session, reply: Reply) -> tuple[Prediction, ...]:
            problem = reply.problem
            if problem is not None:
                return (_no_step(problem),)
            state, progress, found = self.state, self.progress, []
            for outcome, verdict in _pairs(session, reply.result, len(way)):
                progress, step = self._of_parts(progress, session.prediction(state, outcome, verdict))
                found.append(step)
                if step.state is None:
                    break
                state = step.state
            return tuple(found)

        try:
            return self._ask("follow", read, base=base, way=numbers, apart_from=self._searched)
        except WorkerFailed as failed:
            return self._follow_singly(way, failed)

    def _follow_singly(self, way: tuple[Action, ...], failed: WorkerFailed) -> tuple[Prediction, ...]:
        """The same, a request for each step, to find out where the worker dies."""
        state, progress, found = self.state, self.progress, []
        for action in way:
            progress, step = self._of_parts(progress, self._predict_each([(state, action)])[0])
            found.append(step)
            if step.state is None:
                return tuple(found)
            state = step.state
        return (_no_step(failed_by(failed)),)

    def predict(self, state: State, action: Action) -> Prediction:
        """What the model says `action` leads to in `state`. Never raises for a bad program."""
        return self.predict_all([(state, action)])[0]

    def predict_all(self, steps: Sequence[Step]) -> list[Prediction]:
        """The same for many steps at once, whatever states they start from."""
        return [self._of_parts(self.progress, step)[1] for step in self._predict_each(steps)]

    def _of_parts(self, progress: Progress, step: Prediction) -> tuple[Progress, Prediction]:
        """For a goal of parts what is done after a step, and the step with what it is worth then."""
        order = () if self._reward is None else self._reward.order
        if not order or step.state is None:
            return progress, step
        progress, reward, done = worth(order, progress, step.reward, step.done)
        return progress, replace(step, reward=reward, done=done)

    def _predict_each(self, steps: Sequence[Step]) -> list[Prediction]:
        """What the programs say of each step."""
        found: list[Prediction] = []
        while len(found) < len(steps):
            if self._chances <= 0:
                text = f"it was not run: the program failed badly {_CHANCES} times before"
                unseen = Failed("error", text, seen=False)
                return found + [_no_step(unseen)] * (len(steps) - len(found))
            found += self._predict(steps[len(found) : len(found) + _BATCH])
        return found

    def _predict(self, steps: Sequence[Step]) -> list[Prediction]:
        book = self._workers.book
        with book:
            wire = [(book.objects.to_wire(state), book.action(action)) for state, action in steps]
            base = book.objects.to_wire(self.state)

        def read(session: Session, reply: Reply) -> list[Prediction]:
            problem = reply.problem
            self._chances -= reply.failed is not None
            pairs = _pairs(session, reply.result, len(steps))
            found = [session.prediction(steps[i][0], *pair) for i, pair in enumerate(pairs)]
            if problem is None and len(found) < len(steps):
                raise session.garbage("it left steps out")
            if problem is not None and len(found) < len(steps):
                found.append(_no_step(problem))
                found += [_no_step(replace(problem, seen=False))] * (len(steps) - len(found))
            return found

        try:
            return self._ask("steps", read, base=base, steps=wire)
        except WorkerFailed as failed:
            if len(steps) == 1:
                self._chances -= 1
                return [_no_step(failed_by(failed))]
            # up to where it died, then that step alone, then whatever is left, by the caller
            known = min(max(failed.position, 0), len(steps) - 1)
            return self._predict(steps[: max(known, 1)])

    # ── inside ───────────────────────────────────────────────────────────────────────────────────────────

    def _ask(self, do: str, read: Callable[[Session, Reply], T], **request: Any) -> T:
        return self._workers.ask(
            do,
            self._programs,
            read=read,
            key=self._transition.id,
            transition=self._transition.id,
            reward=None if self._reward is None else self._reward.id,
            **request,
        )


def _unknown(search: str, fault: Fault) -> Plan:
    return Plan(Status.BUDGET, (), (), 0, 0.0, search, fault)


def _no_step(failed: Failed) -> Prediction:
    return Prediction(None, 0.0, False, failed.error, failed.failing if failed.seen else None)


def _pairs(session: Session, result: Sequence[Any], most: int) -> list[tuple[Any, Any]]:
    """Outcomes and verdicts, two by two."""
    if len(result) > 2 * most or len(result) % 2:
        raise session.garbage("it answered more or less than it was asked")
    return list(zip(result[::2], result[1::2], strict=True))
