"""Where answers are kept: in memory, or in a table of a SQLite file."""

from __future__ import annotations

import json
import sqlite3
import threading
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from worldcoder.errors import LLMError, RunError
from worldcoder.llm.errors import error_from_json, error_to_json
from worldcoder.llm.values import Reply, Request

Outcome = Reply | LLMError

REPLIES_TABLE = """
CREATE TABLE IF NOT EXISTS replies (
    id INTEGER PRIMARY KEY, key TEXT NOT NULL, occurrence INTEGER NOT NULL, request TEXT NOT NULL,
    reply TEXT, error TEXT);
CREATE INDEX IF NOT EXISTS replies_by_key ON replies (key, occurrence)
"""
"""`id` is the order in which answers came. `reply` or `error` is JSON, the other is NULL. Of several rows with one
key and occurrence (it failed, and was asked again) the last one counts."""


@dataclass(frozen=True)
class Entry:
    """What is recorded of one request. number: entries are numbered as they came."""

    number: int
    request: Request
    occurrence: int
    outcome: Outcome


class Store(Protocol):
    """Keeps answers. May be used from any thread."""

    def find(self, key: str, occurrence: int) -> Entry | None:
        """What is recorded of a request; the last, if there are several."""
        ...

    def add(self, request: Request, occurrence: int, outcome: Outcome) -> Entry:
        """Keep an answer; it is safe when this returns."""
        ...

    def nearest(self, request: Request) -> Request | None:
        """The recorded request that is most like this one."""
        ...


class MemoryStore:
    """Keeps answers as long as it lives."""

    def __init__(self) -> None:
        self._entries: list[Entry] = []
        self._lock = threading.Lock()

    def find(self, key: str, occurrence: int) -> Entry | None:
        with self._lock:
            entries = [e for e in self._entries if e.request.key == key and e.occurrence == occurrence]
        return entries[-1] if entries else None

    def add(self, request: Request, occurrence: int, outcome: Outcome) -> Entry:
        with self._lock:
            entry = Entry(len(self._entries), request, occurrence, outcome)
            self._entries.append(entry)
        return entry

    def nearest(self, request: Request) -> Request | None:
        with self._lock:
            return most_alike(request, (entry.request for entry in self._entries))


class SqliteStore:
    """Keeps answers in the table `replies`, which is made where it is not there.

    Its own connection, so that an answer is safe whatever transaction the rest of a program is in. A connection
    that is given instead must be usable from other threads (`check_same_thread=False`), and each answer is then
    committed by this store: nobody else may be in a transaction on it.

    read_only: of a file that nothing is to be added to; without the table it is empty. Raises RunError.
    """

    def __init__(self, where: Path | str | sqlite3.Connection, *, read_only: bool = False) -> None:
        self._own = not isinstance(where, sqlite3.Connection)
        self._name = "the record of replies" if isinstance(where, sqlite3.Connection) else str(where)
        self._lock = threading.Lock()
        with self._reporting("open"):
            self._connection = (
                where if isinstance(where, sqlite3.Connection) else _connect(Path(where), read_only)
            )
            try:
                self._prepare(read_only)
            except BaseException:
                self.close()
                raise

    def close(self) -> None:
        """Let go of the file; a connection that was given stays open."""
        if self._own:
            self._connection.close()

    def __enter__(self) -> SqliteStore:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def find(self, key: str, occurrence: int) -> Entry | None:
        row = self._one(f"{_SELECT} WHERE key = ? AND occurrence = ? ORDER BY id DESC", key, occurrence)
        return None if row is None else self._entry(row)

    def add(self, request: Request, occurrence: int, outcome: Outcome) -> Entry:
        failed = isinstance(outcome, LLMError)
        text = json.dumps(error_to_json(outcome) if isinstance(outcome, LLMError) else outcome.to_json())
        row = (
            request.key,
            occurrence,
            json.dumps(request.to_json()),
            None if failed else text,
            text if failed else None,
        )
        with self._lock, self._reporting("write"):
            add = "INSERT INTO replies (key, occurrence, request, reply, error) VALUES (?, ?, ?, ?, ?)"
            try:
                number = self._connection.execute(add, row).lastrowid
                self._connection.commit()
            except sqlite3.Error:
                self._connection.rollback()  # or the next reply would be stored with half of this one
                raise
        return Entry(number or 0, request, occurrence, outcome)

    def nearest(self, request: Request) -> Request | None:
        with self._lock, self._reporting("read"), closing(self._connection.cursor()) as cursor:
            rows = cursor.execute("SELECT request FROM replies WHERE occurrence = 0 ORDER BY id")
            return most_alike(request, (Request.from_json(json.loads(text)) for (text,) in rows))

    def _prepare(self, read_only: bool) -> None:
        if read_only:
            there = self._one("SELECT name FROM sqlite_master WHERE name = 'replies'")
            if there is None:
                self._connection.execute(
                    "CREATE TEMP TABLE replies (id, key, occurrence, request, reply, error)"
                )
            return
        for statement in REPLIES_TABLE.split(";"):
            self._connection.execute(statement)
        self._connection.commit()

    def _one(self, statement: str, *values: Any) -> Any:
        with self._lock, self._reporting("read"):
            return self._connection.execute(f"{statement} LIMIT 1", values).fetchone()

    def _entry(self, row: tuple[int, int, str, str | None, str | None]) -> Entry:
        number, occurrence, request, reply, error = row
        try:
            outcome: Outcome
            if reply is not None:
                outcome = Reply.from_json(json.loads(reply))
            else:
                outcome = error_from_json(json.loads(error or ""))
            return Entry(number, Request.from_json(json.loads(request)), occurrence, outcome)
        except (ValueError, KeyError, TypeError) as wrong:
            raise RunError(f"{self._name}: reply {number} is damaged ({wrong})") from wrong

    @contextmanager
    def _reporting(self, doing: str) -> Iterator[None]:
        """Turn what SQLite raises into a RunError that says what to do."""
        try:
            yield
        except sqlite3.Error as error:
            hint = "; free space, then resume" if "disk is full" in str(error) else ""
            raise RunError(f"cannot {doing} replies in {self._name}: {error}{hint}") from error


_SELECT = "SELECT id, occurrence, request, reply, error FROM replies"


def _connect(path: Path, read_only: bool) -> sqlite3.Connection:
    if read_only:
        address = path.resolve().as_uri()
        connection = sqlite3.connect(f"{address}?mode=ro", uri=True, timeout=10.0, check_same_thread=False)
        try:
            connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        except sqlite3.OperationalError:
            # A folder that cannot be written to has no place for the shared index of write-ahead mode.
            connection.close()
            return sqlite3.connect(f"{address}?immutable=1", uri=True, check_same_thread=False)
        except BaseException:
            connection.close()
            raise
        return connection
    connection = sqlite3.connect(path, timeout=10.0, check_same_thread=False)
    try:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")  # a reply is paid for: not even a power cut loses it
    except BaseException:
        connection.close()
        raise
    return connection


def most_alike(request: Request, others: Iterable[Request]) -> Request | None:
    """The one with which a request has the most lines in common, for its length; the first of equals."""
    lines = Counter(request.as_text().splitlines())
    best: tuple[float, Request] | None = None
    for other in others:
        theirs = Counter(other.as_text().splitlines())
        alike = (lines & theirs).total() / max(1, (lines | theirs).total())
        if best is None or alike > best[0]:
            best = alike, other
    return None if best is None else best[1]
