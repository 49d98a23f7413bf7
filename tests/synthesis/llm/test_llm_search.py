"""One synthesis problem: budgets, rounds, errors, what is adopted, what goes into the next prompt."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator, Sequence

import pytest
from scripted_model import Scripted

from worldcoder.errors import BudgetReached, LLMError
from worldcoder.llm.errors import BadReply, WrongKey
from worldcoder.llm.values import Message
from worldcoder.programs import Mismatch, Program
from worldcoder.synthesis.llm.prompting import Wrong
from worldcoder.synthesis.llm.search import BLANK, Candidate, Search, Writing


class Numbers:
    """A toy task: a program is a number, right at `goal` and wrong about as many of 10 steps as it is away."""

    def __init__(self, goal: int = 5) -> None:
        self.goal = goal
        self.asked: list[tuple[str, str]] = []
        self.times: list[tuple[str, int]] = []

    def ask(self, candidate: Candidate | None, remark: str, times: int) -> tuple[Message, ...]:
        shown = "nothing" if candidate is None else candidate.program.source
        self.asked.append((shown, remark))
        self.times.append((shown, times))
        return (Message("user", f"{shown} | {remark}"),)

    def read(self, text: str, finish: str, candidate: Candidate | None) -> tuple[Candidate | None, str]:
        if not text.lstrip("-").isdigit():
            return None, f"{text!r} is no number"
        return Candidate(Program(text, "transition")), ""

    def judge(self, candidates: Sequence[Candidate]) -> None:
        for candidate in candidates:
            away = min(abs(int(candidate.program.source) - self.goal), 10)
            missed = [Mismatch(i, "state", None, None) for i in range(away)]
            candidate.wrong, candidate.value, candidate.solved = Wrong(missed), 1 - away / 10, not away


def search(
    write: Callable[[str], str],
    task: Numbers | None = None,
    *,
    failing: Sequence[LLMError] = (),
    **settings: int,
) -> tuple[Search, Scripted]:
    asker = Scripted(write, failing=failing)
    return Search(task or Numbers(), asker, Writing(**settings), random.Random(0)), asker  # type: ignore[arg-type]


def one_nearer(prompt: str) -> str:
    """Repairs by one; begins with 0."""
    shown = prompt.split(" | ")[0]
    return "0" if shown == "nothing" else str(int(shown) + 1)


def test_it_refines_until_it_is_solved_and_asks_nothing_more() -> None:
    found, asker = search(one_nearer)
    found.mend(10)
    assert found.solved and found.best is not None and found.best.program.source == "5"
    calls = asker.calls
    found.mend(11)
    assert asker.calls == calls == found.calls


@pytest.mark.parametrize("in_flight", [1, 2, 3, 7])
def test_a_problem_has_its_budget_and_not_one_call_more(in_flight: int) -> None:
    found, asker = search(lambda prompt: "99", max_calls=10, in_flight=in_flight)
    found.mend(10)
    assert asker.calls == found.calls == 10 and found.exhausted and not found.solved
    assert max(asker.at_once) == in_flight
    assert found.best is not None and found.best.program.source == "99"
    arms = found.bandit.arms
    assert sum(arm.refined for arm in arms.values()) == 10 and not any(arm.pending for arm in arms.values())


def test_what_was_given_up_is_taken_up_when_there_are_half_as_many_data_more() -> None:
    found, asker = search(lambda prompt: "99", max_calls=4)
    for data, calls in ((10, 4), (11, 4), (14, 4), (15, 8), (20, 8), (23, 12)):
        found.mend(data)
        assert asker.calls == calls, data


def test_what_was_solved_and_is_refuted_is_a_new_problem_with_old_programs_as_roots() -> None:
    task = Numbers(3)
    found, asker = search(one_nearer, task, max_calls=50)
    found.mend(10)
    first = asker.calls
    task.goal = 4
    found.mend(11)
    assert found.solved and found.best is not None and found.best.program.source == "4"
    assert found.spent_on_problem == asker.calls - first
    arms = found.bandit.arms
    assert BLANK in arms and len(arms) == len(found.candidates) + 1
    task.goal = 2
    found.mend(12)
    assert found.best.program.source == "2" and found.calls == asker.calls  # known already: nothing was asked


def test_what_loses_ground_is_never_adopted_but_is_an_arm() -> None:
    answers = iter(["3", "9", "0", "4", "1", "1"])
    found, _ = search(lambda prompt: next(answers), max_calls=6, in_flight=1)
    best: list[int] = []
    task = found._task
    judge = task.judge

    def watch(candidates: Sequence[Candidate]) -> None:
        judge(candidates)
        best.extend(len(c.wrong.missed) for c in [found.best] if c is not None)

    task.judge = watch  # type: ignore[method-assign]
    found.mend(10)
    assert best == sorted(best, reverse=True)
    assert found.best is not None and found.best.program.source == "4"
    assert [c.program.source for c in found.candidates.values()] == ["3", "9", "0", "4", "1"]


def test_what_was_wrong_with_an_answer_goes_into_the_next_prompt_for_the_same_program() -> None:
    def write(prompt: str) -> str:
        return "words" if "is no number" not in prompt else one_nearer(prompt)

    task = Numbers(1)
    found, _ = search(write, task, in_flight=1)
    found.mend(10)
    assert found.solved
    assert task.asked[:2] == [("nothing", ""), ("nothing", "'words' is no number")]
    assert ("0", "'words' is no number") in task.asked


def test_a_prompt_knows_how_often_it_was_asked_before() -> None:
    task = Numbers()
    found, _ = search(lambda prompt: "2", task, max_calls=12, in_flight=2)
    found.mend(10)
    asked = Counter[str]()
    for shown, times in task.times:
        assert times == asked[shown] or times == asked[shown] + 1, "two answers of one round are one prompt"
        asked[shown] = times + 1
    assert max(asked.values()) > 3


def test_the_same_program_again_is_no_new_arm_and_its_writer_is_told() -> None:
    task = Numbers()
    found, _ = search(lambda prompt: "2", task, max_calls=5, in_flight=1)
    found.mend(10)
    assert list(found.candidates.values()) == [found.best]
    assert any("tried before" in remark for _, remark in task.asked)


def test_two_equal_answers_of_one_round_are_one_judged_program() -> None:
    found, asker = search(lambda prompt: "5", in_flight=4)
    found.mend(10)
    assert found.solved and asker.calls == 4 and found.best is not None and found.best.value == 1.0


def test_the_limit_of_the_run_ends_it_in_order() -> None:
    found, asker = search(one_nearer, failing=[BudgetReached("the limit of 0 calls", "tokens")])
    found.mend(10)
    assert found.exhausted and found.out == "tokens" and found.calls == 0 and found.best is None
    found.mend(1000)
    assert len(asker.requests) == 1  # it does not ask again
    assert not any(arm.refinements for arm in found.bandit.arms.values())


def test_a_lasting_error_is_raised_once_the_other_answers_are_taken_in() -> None:
    task = Numbers()
    found, asker = search(one_nearer, task, in_flight=2)
    found.offer(Program("3", "transition"))
    asker._failing = []
    calls = iter([None, WrongKey("the server refuses the key")])

    def ask_all(requests: Sequence[object]) -> Iterator[tuple[int, object]]:
        for number, answer in Scripted.ask_all(asker, requests):  # type: ignore[arg-type]
            error = next(calls, None)
            yield number, error or answer

    asker.ask_all = ask_all  # type: ignore[method-assign, assignment]
    with pytest.raises(WrongKey, match="refuses the key"):
        for _ in range(20):
            found.mend(10)
    assert not any(arm.pending for arm in found.bandit.arms.values())


def test_an_answer_that_cannot_be_read_counts_and_another_one_is_asked_for() -> None:
    errors = [BadReply("it is no JSON"), BadReply("it is no JSON")]
    found, _ = search(one_nearer, failing=errors, in_flight=1, max_calls=30)
    found.mend(10)
    assert found.solved
    assert found.calls >= 2 + 6
    found, _ = search(one_nearer, failing=[BadReply("no")] * 99, in_flight=3, max_calls=7)
    found.mend(10)
    assert found.exhausted and found.calls == 7


def test_an_interruption_leaves_nothing_in_flight() -> None:
    found, asker = search(one_nearer)

    def interrupted(requests: object) -> Iterator[tuple[int, object]]:
        raise KeyboardInterrupt
        yield 0, None

    asker.ask_all = interrupted  # type: ignore[method-assign, assignment]
    with pytest.raises(KeyboardInterrupt):
        found.mend(10)
    assert not any(arm.refinements for arm in found.bandit.arms.values())


def test_what_is_offered_is_a_root() -> None:
    found, asker = search(one_nearer)
    found.offer(Program("5", "transition"))
    found.mend(10)
    assert found.solved and asker.calls == 0
    assert [arm.parent for arm in found.bandit.arms.values()] == [None, None]


def test_what_can_be_improved_without_asking_is_not_asked_for() -> None:
    found, asker = search(one_nearer)
    improved: list[str] = []

    def improve(candidate: Candidate) -> Program | None:
        improved.append(candidate.program.source)
        return Program("5", "transition") if candidate.program.source == "2" else None

    found.improve = improve
    found.mend(10)
    assert found.solved and improved[-1] == "2" and len(improved) == len(set(improved))
    assert "3" not in [c.program.source for c in found.candidates.values()]
    assert asker.calls > 0
