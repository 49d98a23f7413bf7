"""The tables of a run's log, and how it is opened.

The log is one SQLite file to which a run only adds. It is kept in write-ahead mode: a process that is killed
at any point leaves the last transaction either whole or absent, and a run can be read while it goes on. When
a run ends, the file is folded back into one that can be copied and read from anywhere.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from worldcoder.errors import RunError
from worldcoder.llm.store import REPLIES_TABLE

LOG = "log.sqlite"
UNBORN = ".log.sqlite.new"
FORMAT = 2
READABLE = (1, 2)
"""Formats that can be read. 1: plans have no fault; programs ran in the user's own process."""

TABLES = (
    """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE states (id INTEGER PRIMARY KEY, digest TEXT NOT NULL UNIQUE, json TEXT NOT NULL);
CREATE TABLE episodes (
    id INTEGER PRIMARY KEY, seed INTEGER NOT NULL, goal TEXT NOT NULL,
    state INTEGER NOT NULL REFERENCES states, after INTEGER NOT NULL);
CREATE TABLE decisions (
    id INTEGER PRIMARY KEY, episode INTEGER NOT NULL REFERENCES episodes, after INTEGER NOT NULL,
    action TEXT, why TEXT NOT NULL, note TEXT NOT NULL, phi1 REAL NOT NULL, phi2 TEXT, guess TEXT);
CREATE TABLE transitions (
    id INTEGER PRIMARY KEY, episode INTEGER NOT NULL REFERENCES episodes,
    state INTEGER NOT NULL REFERENCES states, action TEXT NOT NULL,
    next_state INTEGER NOT NULL REFERENCES states,
    reward REAL NOT NULL, done INTEGER NOT NULL, truncated INTEGER NOT NULL, seconds TEXT NOT NULL);
CREATE TABLE programs (
    id INTEGER PRIMARY KEY, program TEXT NOT NULL, kind TEXT NOT NULL, goal TEXT, parent TEXT,
    origin TEXT NOT NULL, comment TEXT NOT NULL, source TEXT NOT NULL, score REAL NOT NULL,
    after INTEGER NOT NULL);
CREATE TABLE plans (
    id INTEGER PRIMARY KEY, after INTEGER NOT NULL, status TEXT NOT NULL, method TEXT NOT NULL,
    nodes INTEGER NOT NULL, seconds REAL NOT NULL, actions TEXT NOT NULL, rewards TEXT NOT NULL, fault TEXT);
CREATE TABLE notes (id INTEGER PRIMARY KEY, after INTEGER NOT NULL, what TEXT NOT NULL, text TEXT NOT NULL);
"""
    + REPLIES_TABLE
)
"""`after` counts the actions taken before. `seconds` of a transition is a JSON object of running totals.
`fault` of a plan is what `Fault.to_json` writes, as JSON. What language models were asked and replied is in
`replies`; runs recorded before there were any have no such table."""


@contextmanager
def reporting(path: Path, doing: str) -> Iterator[None]:
    """Turn what SQLite and the operating system raise into a RunError that says what to do."""
    try:
        yield
    except sqlite3.DatabaseError as error:
        text = str(error)
        if "disk is full" in text:
            raise RunError(f"cannot {doing} {path}: the disk is full; free space, then --resume") from error
        if "readonly" in text or "unable to open" in text:
            raise RunError(f"cannot {doing} {path}: {text}; check the folder's permissions") from error
        if "not a database" in text or "malformed" in text or "no such table" in text:
            raise RunError(f"{path} is damaged or no log of a run ({text}); start a new run") from error
        raise RunError(f"cannot {doing} {path}: {text}") from error
    except OSError as error:
        raise RunError(f"cannot {doing} {path}: {error.strerror or error}") from error


def connect(path: Path, *, write: bool) -> sqlite3.Connection:
    """Open a log; the caller closes it. Raises sqlite3.Error."""
    if write:
        connection = sqlite3.connect(path, isolation_level=None, timeout=10.0)
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = NORMAL")
        except BaseException:
            connection.close()
            raise
        return connection
    address = path.resolve().as_uri()
    connection = sqlite3.connect(f"{address}?mode=ro", uri=True, timeout=10.0)
    try:
        connection.execute("SELECT count(*) FROM meta").fetchone()
    except sqlite3.OperationalError as error:
        # A folder that cannot be written to has no place for the shared index of write-ahead mode.
        connection.close()
        if "no such table" in str(error):
            raise
        connection = sqlite3.connect(f"{address}?immutable=1", uri=True)
    except BaseException:
        connection.close()
        raise
    return connection


def fold(connection: sqlite3.Connection) -> None:
    """Bring the log back into one file; left as it is while somebody else reads it."""
    try:
        connection.execute("PRAGMA busy_timeout = 200")
        connection.execute("PRAGMA journal_mode = DELETE")
    except sqlite3.OperationalError:
        return
