"""Writing the log of a run."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from worldcoder.errors import RunError
from worldcoder.planning import Plan
from worldcoder.programs import Program
from worldcoder.runs.schema import FORMAT, LOG, TABLES, UNBORN, connect, fold, reporting
from worldcoder.world.values import Action, Goal, State, Transition


class RunLog:
    """An append-only record; what is added in one `transaction` is there as a whole or not at all.

    States are stored once each, by the digest of their text.

    Raises RunError where the file cannot be written.
    """

    def __init__(self, directory: str | Path, *, name: str = LOG) -> None:
        self.path = Path(directory) / name
        self._numbers: dict[State, tuple[str, int]] = {}
        with reporting(self.path, "open"):
            self._connection = connect(self.path, write=True)

    @classmethod
    def create(cls, directory: str | Path, meta: Mapping[str, Any]) -> RunLog:
        """Begin a log, with what is noted once (`config`, ...). It is there as a whole or not at all."""
        if (Path(directory) / LOG).exists():
            raise RunError(f"{directory} holds a run already; --resume it, or choose another folder")
        for left in Path(directory).glob(f"{UNBORN}*"):
            left.unlink()
        with closing(cls(directory, name=UNBORN)) as log, log.transaction():
            for statement in TABLES.split(";"):
                log._execute(statement)
            for key, value in {"format": FORMAT, **meta}.items():
                log.set_meta(key, value)
        with reporting(log.path, "name"):
            log.path.replace(Path(directory) / LOG)
        return cls(directory)

    def close(self) -> None:
        """Bring everything into one file and let go of it."""
        fold(self._connection)
        self._connection.close()

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """All or nothing."""
        self._execute("BEGIN IMMEDIATE")
        try:
            yield
            self._execute("COMMIT")
        except BaseException:
            self._numbers.clear()
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
            raise

    def set_meta(self, key: str, value: Any) -> None:
        """Note something once; a later note under the same key takes its place."""
        self._execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", key, json.dumps(value))

    def add_episode(self, index: int, seed: int, goal: Goal, start: State, after: int) -> None:
        """An episode begins; after: the actions taken before it."""
        self._add("episodes", index, seed, goal, self._state(start), after)

    def add_decision(
        self,
        index: int,
        episode: int,
        after: int,
        action: Action | None,
        why: str,
        note: str,
        phi1: float,
        phi2: str | None,
        guess: str | None,
    ) -> None:
        """The agent chose an action, or None: to begin again."""
        text = None if action is None else json.dumps(action.to_json())
        self._add("decisions", index, episode, after, text, why, note, phi1, phi2, guess)

    def add_transition(
        self, index: int, episode: int, step: Transition, truncated: bool, seconds: Mapping[str, float]
    ) -> None:
        """An action was taken; seconds: running totals."""
        self._add(
            "transitions",
            index,
            episode,
            self._state(step.state),
            json.dumps(step.action.to_json()),
            self._state(step.next_state),
            step.reward,
            step.done,
            truncated,
            json.dumps(dict(seconds)),
        )

    def add_program(self, index: int, program: Program, parent: str | None, score: float, after: int) -> None:
        """A program became part of the model, with φ1 as its score."""
        p = program
        text = p.origin, p.comment, p.source
        self._add("programs", index, p.id, p.kind, p.goal, parent, *text, score, after)

    def add_plan(self, index: int, after: int, plan: Plan) -> None:
        """A search was made."""
        actions = json.dumps([action.to_json() for action in plan.actions])
        rewards = json.dumps(list(plan.rewards))
        spent = plan.method, plan.nodes, plan.seconds
        fault = None if plan.fault is None else json.dumps(plan.fault.to_json())
        self._add("plans", index, after, str(plan.status), *spent, actions, rewards, fault)

    def add_note(self, index: int, after: int, what: str, text: str) -> None:
        """Something worth telling happened."""
        self._add("notes", index, after, what, text)

    def add_replies(self, rows: Iterable[Sequence[Any]]) -> None:
        """Replies of a language model that another run has, as its reader gives them."""
        for row in rows:
            self._add("replies", *row)

    def forget(self, tail: Mapping[str, int]) -> None:
        """Take back what goes beyond so many rows of a table.

        That is what followed from a limit alone, in the last step before it: where a run goes on with a larger
        limit, it did not happen.
        """
        for table, last in tail.items():
            self._execute(f"DELETE FROM {table} WHERE id > ?", last)

    def _state(self, state: State) -> int:
        """The number of a state, which is stored if it is new.

        Told apart by text, not by equality: 1 and True, or another order of attributes, are equal and yet not
        the same to a learner.
        """
        text = json.dumps(state.to_json())
        known = self._numbers.get(state)
        if known is not None and known[0] == text:
            return known[1]
        digest = hashlib.sha256(text.encode()).hexdigest()
        with reporting(self.path, "write"):
            run = self._connection.execute
            run("INSERT OR IGNORE INTO states (digest, json) VALUES (?, ?)", (digest, text))
            row = run("SELECT id FROM states WHERE digest = ?", (digest,)).fetchone()
        number = int(row[0])
        self._numbers[state] = text, number
        return number

    def _add(self, table: str, *values: Any) -> None:
        self._execute(f"INSERT INTO {table} VALUES ({', '.join('?' * len(values))})", *values)

    def _execute(self, statement: str, *values: Any) -> None:
        with reporting(self.path, "write"):
            self._connection.execute(statement, values)
