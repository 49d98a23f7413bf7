"""What is recorded is not asked again, and is said again exactly."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from llm_worlds import LINEAR, SimulatedServer, ask

from worldcoder.errors import RunError
from worldcoder.llm import (
    REPLIES_TABLE,
    BadReply,
    Budget,
    BudgetReached,
    Cost,
    Limits,
    LLMError,
    MemoryStore,
    NotRecorded,
    Patience,
    Recorded,
    Rejected,
    Replaying,
    Reply,
    Request,
    ServerClient,
    Spent,
    SqliteStore,
    Store,
    Unavailable,
    Usage,
)
from worldcoder.llm.errors import spent_on
from worldcoder.llm.record import difference
from worldcoder.llm.server import Answer, Attempt, Failure, Text
from worldcoder.llm.store import most_alike


class Author:
    """Answers with a number, and fails as it is told: by the number of the attempt."""

    def __init__(self, failing: dict[int, LLMError] | None = None) -> None:
        self.failing = failing or {}
        self.attempts = 0

    async def __call__(self, attempt: Attempt) -> Answer:
        number, self.attempts = self.attempts, self.attempts + 1
        if number in self.failing:
            raise Failure("final", self.failing[number], paid=True)
        return Answer({0: Text(f"answer {number}", "stop")}, Usage(10, 5))

    def client(self) -> ServerClient:
        return ServerClient(SimulatedServer(self), price=LINEAR, patience=Patience(tries=1))


def question(prompt: str) -> Request:
    return ask(prompt, model="simulated", max_tokens=10)


def outcomes(
    client: Recorded | Replaying, *prompts: str, budget: Budget | None = None
) -> list[Reply | LLMError]:
    async def run() -> list[Reply | LLMError]:
        found: list[Reply | LLMError] = []
        for prompt in prompts:
            try:
                found.append(await client.complete(question(prompt), budget=budget))
            except LLMError as error:
                found.append(error)
        return found

    return asyncio.run(run())


def same(one: list[Reply | LLMError], other: list[Reply | LLMError]) -> bool:
    """Replies are equal, errors are of one kind and say the same."""
    return [a if isinstance(a, Reply) else (type(a), str(a), spent_on(a)) for a in one] == [
        a if isinstance(a, Reply) else (type(a), str(a), spent_on(a)) for a in other
    ]


@pytest.fixture(params=["memory", "file", "connection"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    if request.param == "memory":
        yield MemoryStore()
    elif request.param == "file":
        with SqliteStore(tmp_path / "log.sqlite") as opened:
            yield opened
    else:
        connection = sqlite3.connect(tmp_path / "log.sqlite", check_same_thread=False, isolation_level=None)
        yield SqliteStore(connection)
        connection.close()


def test_what_is_asked_twice_has_two_answers_in_order(store: Store) -> None:
    author = Author()
    first = outcomes(Recorded(author.client(), store), "a", "b", "a", "a")
    assert author.attempts == 4
    assert [r.texts for r in first if isinstance(r, Reply)] == [(f"answer {i}",) for i in range(4)]
    resumed = outcomes(Recorded(author.client(), store), "a", "b", "a", "a", "a")
    assert same(resumed[:4], first)
    assert author.attempts == 5, "only what is new is asked"
    assert same(outcomes(Replaying(store), "a", "b", "a", "a", "a"), resumed)


def test_a_replay_that_asks_something_else_shows_the_difference(store: Store) -> None:
    outcomes(Recorded(Author().client(), store), "line 1\nline 2\nline 3", "something else entirely")
    (error,) = outcomes(Replaying(store), "line 1\nline two\nline 3")
    assert isinstance(error, NotRecorded)
    text = str(error)
    assert "differs from the nearest one" in text
    assert "-line 2\n+line two" in text
    assert "something else" not in text


def test_a_replay_with_other_settings_shows_the_difference(store: Store) -> None:
    outcomes(Recorded(Author().client(), store), "hello")
    other = ask("hello", model="simulated", max_tokens=20, seed=3)
    with pytest.raises(NotRecorded, match="\\+max_tokens: 20"):
        asyncio.run(Replaying(store).complete(other))


def test_a_replay_that_asks_once_more_says_so(store: Store) -> None:
    outcomes(Recorded(Author().client(), store), "hello", "hello")
    error = outcomes(Replaying(store), "hello", "hello", "hello")[-1]
    assert "the record has 2 replies to this request, which is now asked a 3. time" in str(error)


def test_a_replay_of_nothing(store: Store) -> None:
    (error,) = outcomes(Replaying(store, name="simulated"), "hello")
    assert "the record, which is empty" in str(error)


def test_a_difference_is_shortened() -> None:
    one, other = ask("\n".join("abcdefghij")), ask("\n".join("x" * 500 for _ in range(500)))
    lines = difference(one, other).splitlines()
    assert len(lines) == 25
    assert max(map(len, lines)) < 200
    assert lines[-1].endswith("more lines)")


def test_the_nearest_is_the_one_with_most_lines_in_common() -> None:
    asked = ask("a\nb\nc\nd")
    near, far = ask("a\nb\nc\nx"), ask("a\ny\nz\nx\n1\n2\n3")
    assert most_alike(asked, [far, near]) == near
    assert most_alike(asked, []) is None


def test_failures_are_part_of_the_record(store: Store) -> None:
    """What only one request failed by is not asked again; a replay fails as it was."""
    author = Author({1: BadReply("unreadable"), 2: Rejected("not like that")})
    first = outcomes(Recorded(author.client(), store), "a", "b", "c", "d")
    assert [type(o).__name__ for o in first] == ["Reply", "BadReply", "Rejected", "Reply"]
    assert same(outcomes(Replaying(store), "a", "b", "c", "d"), first)
    assert same(outcomes(Recorded(author.client(), store), "a", "b", "c", "d"), first)
    assert author.attempts == 4


def test_what_failed_for_a_reason_that_may_be_gone_is_asked_again_after_a_resume(store: Store) -> None:
    author = Author({1: Unavailable("not there")})
    first = outcomes(Recorded(author.client(), store), "a", "b")
    assert isinstance(first[1], Unavailable)
    assert same(outcomes(Replaying(store), "a", "b"), first)
    resumed = outcomes(Recorded(author.client(), store), "a", "b")
    assert [type(o).__name__ for o in resumed] == ["Reply", "Reply"]
    assert author.attempts == 3
    assert same(outcomes(Replaying(store), "a", "b"), resumed), "the last one counts"


def test_reaching_a_budget_is_replayed_and_can_be_gone_beyond_after_a_resume(store: Store) -> None:
    author = Author()
    budget = Budget(Limits(max_calls=2))
    first = outcomes(Recorded(author.client(), store), "a", "b", "c", budget=budget)
    assert isinstance(first[2], BudgetReached)
    replayed = outcomes(Replaying(store), "a", "b", "c", budget=Budget())
    assert same(replayed, first)
    assert isinstance(replayed[2], BudgetReached)
    assert replayed[2].which == "calls"
    more = Budget(Limits(max_calls=3))
    resumed = outcomes(Recorded(author.client(), store), "a", "b", "c", "d", budget=more)
    assert [type(o).__name__ for o in resumed] == ["Reply", "Reply", "Reply", "BudgetReached"]
    assert author.attempts == 3
    assert more.spent.calls == 3


def test_what_is_recalled_counts_but_no_limit_holds_it_up(store: Store) -> None:
    author = Author({1: BadReply("unreadable")})
    budget = Budget()
    outcomes(Recorded(author.client(), store), "a", "b", "c", budget=budget)
    for client in (Recorded(author.client(), store), Replaying(store)):
        tight = Budget(Limits(max_calls=1))
        outcomes(client, "a", "b", "c", budget=tight)
        assert tight.spent == budget.spent
        assert tight.spent.calls == 3


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.sampled_from("abc"), max_size=12),
    st.lists(st.sampled_from([None, None, BadReply("bad"), Unavailable("gone")]), max_size=12),
    st.integers(0, 12),
)
def test_a_run_that_is_killed_anywhere_pays_for_nothing_twice(
    prompts: list[str], failing: list[LLMError | None], killed: int
) -> None:
    """In SQLite, in memory. What is asked after the resume is what was not answered before."""
    author = Author({i: e for i, e in enumerate(failing) if e is not None})
    connection = sqlite3.connect(":memory:", check_same_thread=False)
    store = SqliteStore(connection)
    before = outcomes(Recorded(author.client(), store), *prompts[:killed])
    lasting = sum(isinstance(o, LLMError) and o.lasting for o in before)
    after = outcomes(Recorded(author.client(), store), *prompts)
    assert author.attempts == len(prompts) + lasting
    assert same(outcomes(Replaying(store), *prompts), after)
    connection.close()


# ── the table ────────────────────────────────────────────────────────────────────────────────────────────


def test_the_table_can_live_in_another_database_in_wal_mode(tmp_path: Path) -> None:
    """Replies are safe while somebody else has the file open, and are not part of their transaction."""
    path = tmp_path / "log.sqlite"
    log = sqlite3.connect(path, isolation_level=None)
    log.execute("PRAGMA journal_mode = WAL")
    for statement in f"CREATE TABLE notes (text TEXT);{REPLIES_TABLE}".split(";"):
        log.execute(statement)
    with SqliteStore(path) as store:
        outcomes(Recorded(Author().client(), store), "a")
        log.execute("BEGIN")
        log.execute("SELECT * FROM notes").fetchall()
        outcomes(Recorded(Author().client(), store), "a", "b")
        log.execute("ROLLBACK")
    assert log.execute("SELECT count(*), count(reply), count(error) FROM replies").fetchone() == (2, 2, 0)
    log.close()


def test_a_record_is_read_without_being_touched(tmp_path: Path) -> None:
    path = tmp_path / "log.sqlite"
    with SqliteStore(path) as store:
        first = outcomes(Recorded(Author().client(), store), "a")
    before = path.read_bytes()
    with SqliteStore(path, read_only=True) as store:
        assert same(outcomes(Replaying(store), "a"), first)
        with pytest.raises(RunError, match="cannot write"):
            store.add(question("b"), 0, Unavailable("x"))
    assert path.read_bytes() == before


def test_a_file_without_the_table_is_an_empty_record(tmp_path: Path) -> None:
    path = tmp_path / "log.sqlite"
    other = sqlite3.connect(path)
    other.execute("CREATE TABLE notes (text TEXT)")
    other.close()
    with SqliteStore(path, read_only=True) as store:
        assert store.find(question("a").key, 0) is None
        assert store.nearest(question("a")) is None


def test_files_that_are_no_record(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("this is no database, but long enough to be read as one" * 100)
    for where in (tmp_path / "text", tmp_path / "no" / "such" / "folder"):
        with pytest.raises(RunError, match="cannot open replies in"):
            SqliteStore(where)
    with pytest.raises(RunError, match="cannot open"):
        SqliteStore(tmp_path / "nothing", read_only=True)


def test_a_damaged_row_says_which(tmp_path: Path) -> None:
    path = tmp_path / "log.sqlite"
    with SqliteStore(path) as store:
        outcomes(Recorded(Author().client(), store), "a")
        store._connection.execute("UPDATE replies SET reply = '{\"texts\": 3}'")
        with pytest.raises(RunError, match="reply 1 is damaged"):
            store.find(question("a").key, 0)


def test_a_reply_survives_the_table(tmp_path: Path) -> None:
    reply = Reply(
        ("x", "\N{BRICK}\x00"), ("stop", "refusal"), usage=Usage(1, 2, cached=1), model="m", seconds=1.5,
        spent=Spent(2, 3, Cost(None), exact=False), without=("seed",),
    )  # fmt: skip
    with SqliteStore(tmp_path / "log.sqlite") as store:
        added = store.add(question("a"), 0, reply)
        found = store.find(question("a").key, 0)
    assert added == found
    assert found is not None
    assert found.outcome == reply
