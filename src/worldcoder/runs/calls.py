"""How a run asks a language model: each reply is in the run's log before it is used, and counted."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from worldcoder.errors import BudgetReached, Limited, LLMError
from worldcoder.llm.budget import Budget, Limits
from worldcoder.llm.client import Client
from worldcoder.llm.errors import NotRecorded
from worldcoder.llm.model import LanguageModel
from worldcoder.llm.record import Place, Recorded, Replaying, difference
from worldcoder.llm.store import Entry, Outcome, SqliteStore, Store
from worldcoder.llm.values import Request, Usage
from worldcoder.runs.clock import Clock
from worldcoder.runs.events import Asking
from worldcoder.runs.interruption import Interruption

_ENDED = "the run ends, as a limit of its language model was reached"


class Kept(Recorded):
    """Answers from a run's log as far as it goes, then asks.

    before: called before anything is asked that is not in the log. It says whether that may be: it must not be
    where the log goes on, as then the run comes out otherwise than it is recorded.
    """

    def __init__(self, client: Client, store: Store, before: Callable[[], bool]) -> None:
        super().__init__(client, store)
        self._before = before

    def recall(self, place: Place, *, budget: Budget | None = None) -> Entry | None:
        """What is in the log. Raises NotRecorded where something is asked that was not asked then."""
        entry = super().recall(place, budget=budget)
        if entry is None and not self._before():
            near = self._store.nearest(place.request)
            told = "" if near is None else f"\n{difference(near, place.request)}"
            raise NotRecorded(
                "the language model would be asked what it was not asked when the run was recorded: the program,"
                f" its prompts or the environment changed since; start a new run{told}"
            )
        return entry


@contextmanager
def answering(
    log: Path, name: str, asked: tuple[Client, Callable[[], bool]] | None, budget: Budget
) -> Iterator[LanguageModel]:
    """A language model whose replies are kept in a run's log.

    asked: who is asked what is not in there, and `Kept.before`; None: nobody is, only the log answers.
    """
    with SqliteStore(log) as store:
        client = Replaying(store, name=name) if asked is None else Kept(asked[0], store, asked[1])
        with LanguageModel(client, budget=budget) as model:
            yield model


class ModelCalls:
    """The language model of one run, as its proposer asks it (`synthesis.llm.search.Asker`).

    clock: its "waiting" runs meanwhile. listen: told what is in flight whenever that changes. problem: programs
    that were asked for in the present problem before; most: how many there may be, what has to be asked for again
    included. in_vain: called for a request
    that has no reply in a replay; what it raises ends the run. used_up: the limit that was reached and ends the run;
    nothing is asked after it, whatever is left of others.

    replies: how many were handed out, errors included. cut_off: the run was interrupted while it waited.
    """

    def __init__(
        self,
        model: LanguageModel,
        *,
        clock: Clock,
        listen: Callable[[Asking], None],
        problem: Callable[[], int],
        most: int,
        in_vain: Callable[[], None],
        used_up: Callable[[], Limited | None],
    ) -> None:
        self.replies = 0
        self.cut_off = False
        self._model = model
        self._clock = clock
        self._listen = listen
        self._problem = problem
        self._most = most
        self._in_vain = in_vain
        self._used_up = used_up
        self._usage: Usage | None = Usage(0, 0)
        self._told: Asking | None = None

    @property
    def name(self) -> str:
        """The model, as requests name it."""
        return self._model.name

    def ask_all(self, requests: Iterable[Request]) -> Iterator[tuple[int, Outcome]]:
        """Ask several at once: pairs of number and answer, or error, as they come."""
        asked, which = list(requests), self._used_up()
        if which is not None:
            yield from ((number, BudgetReached(_ENDED, which)) for number in range(len(asked)))
            return
        before = self._problem()
        in_flight = wanted = sum(request.n for request in asked)
        with self._clock("waiting"):
            self._tell(in_flight, before)
            try:
                left = Limits(max_calls=max(wanted, self._most - before))
                budget = Budget(left, within=self._model.budget)
                for number, outcome in self._model.ask_all(asked, budget=budget):
                    if isinstance(outcome, NotRecorded):
                        self._in_vain()
                    self._count(outcome)
                    in_flight -= asked[number].n
                    self._tell(in_flight, before + wanted - in_flight)
                    yield number, outcome
            except Interruption:
                self.cut_off = True
                raise

    def spent(self) -> dict[str, Any]:
        """As a summary has it: of the replies that were handed out. tokens: those of failed attempts included."""
        spent, usage = self._model.spent, self._usage
        return {
            "language_model": self.name,
            "model_calls": spent.calls,
            "tokens": spent.tokens,
            "tokens_in": None if usage is None else usage.tokens_in,
            "tokens_out": None if usage is None else usage.tokens_out,
            "usd": spent.cost.usd,
        }

    def tell_again(self) -> None:
        """What is in flight, to those who would not listen before: the run goes on from here."""
        if self._told is not None and self._told.in_flight:
            self._listen(self._told)

    def _count(self, outcome: Outcome) -> None:
        self.replies += 1
        if isinstance(outcome, LLMError):
            return
        known = self._usage is not None and outcome.usage is not None
        self._usage = self._usage + outcome.usage if known else None  # type: ignore[operator]

    def _tell(self, in_flight: int, calls: int) -> None:
        spent = self._model.spent
        self._told = Asking(self.name, in_flight, calls, self._most, spent.tokens, spent.cost.usd)
        self._listen(self._told)
