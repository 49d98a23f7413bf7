"""Generated levels: solvable, closed, the same for a seed, quick, and cached without harm."""

from __future__ import annotations

import time
from collections import deque
from pathlib import Path

import pytest

from worldcoder import envs
from worldcoder.envs.sokoban_generator import cache_folder, forget_levels, generate_level
from worldcoder.envs.sokoban_levels import NEIGHBOURS, Level, parse_levels
from worldcoder.errors import WorldError


def pushes_to_solve(level: Level) -> int | None:
    """The fewest pushes that solve a level, by a complete forward search; None if it has no solution."""
    start = (level.player, level.boxes)
    frontier, seen = deque([(0, start)]), {start}
    while frontier:
        pushes, (player, boxes) = frontier.popleft()
        if boxes == level.targets:
            return pushes
        for dx, dy in NEIGHBOURS:
            ahead = (player[0] + dx, player[1] + dy)
            beyond = (ahead[0] + dx, ahead[1] + dy)
            if ahead in level.walls or (ahead in boxes and beyond in level.walls | boxes):
                continue
            pushed = ahead in boxes
            after = (ahead, boxes - {ahead} | {beyond} if pushed else boxes)
            if after not in seen:
                seen.add(after)
                if pushed:
                    frontier.append((pushes + 1, after))
                else:
                    frontier.appendleft((pushes, after))
    return None


@pytest.mark.parametrize("seed", range(40))
def test_levels_have_a_solution_worth_looking_for(seed: int) -> None:
    level = generate_level(7, 7, 2, seed)
    pushes = pushes_to_solve(level)
    assert pushes is not None and pushes >= 4
    assert not level.boxes & level.targets


@pytest.mark.parametrize(
    ("width", "height", "boxes"),
    [(5, 5, 1), (6, 6, 2), (7, 7, 3), (7, 7, 4), (9, 5, 2), (10, 10, 4), (20, 20, 10)],
)
def test_sizes(width: int, height: int, boxes: int) -> None:
    level = generate_level(width, height, boxes, 0)
    assert (level.width, level.height) == (width, height)
    assert len(level.boxes) == len(level.targets) == boxes
    assert not level.boxes & level.targets
    assert parse_levels(str(level))[0] == level, "it is closed and well formed"


def test_seeds_decide() -> None:
    levels = [generate_level(7, 7, 2, seed) for seed in range(20)]
    forget_levels()
    assert [generate_level(7, 7, 2, seed) for seed in range(20)] == levels
    assert len({str(level) for level in levels}) == 20


def test_a_seed_keeps_its_level_from_one_release_to_the_next() -> None:
    """Recorded runs name a seed; when this has to change, so does VERSION."""
    assert str(generate_level(7, 7, 2, 0)) == PINNED


def test_options_reach_the_generator() -> None:
    state = envs.make("sokoban", size="8", boxes="3").reset(1).state
    assert len(state.all("Box")) == 3
    assert max(o.x for o in state) == max(o.y for o in state) == 7
    state = envs.make("sokoban", width=9, height=6).reset(1).state
    assert (max(o.x for o in state), max(o.y for o in state)) == (8, 5)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"size": 4}, "expected 5 to 20"),
        ({"height": 21}, "height=21: expected 5 to 20"),
        ({"boxes": 0}, "boxes=0: expected 1 to 4"),
        ({"boxes": 5}, "boxes=5: expected 1 to 4 in 7×7"),
        ({"max_steps": 0}, "max_steps=0: expected at least 1"),
    ],
)
def test_options_that_do_not_fit(options: dict[str, int], said: str) -> None:
    with pytest.raises(WorldError) as caught:
        envs.make("sokoban", **options)
    assert said in str(caught.value)


def test_quickly() -> None:
    begin = time.process_time()
    for seed in range(20):
        generate_level(7, 7, 2, seed)
    assert time.process_time() - begin < 3.0
    begin = time.process_time()
    generate_level(10, 10, 4, 0)
    assert time.process_time() - begin < 6.0


# ── the cache ────────────────────────────────────────────────────────────────────────────────────────────


def files() -> list[Path]:
    return [path for path in cache_folder().rglob("*") if path.is_file()]


def test_a_level_is_written_once_and_read_again(level_cache: Path) -> None:
    generate_level(7, 7, 2, 0)
    (file,) = files()
    assert level_cache in file.parents
    other = generate_level(7, 7, 2, 1)
    file.write_text(str(other))
    forget_levels()
    assert str(generate_level(7, 7, 2, 0)) == str(other), "the file is used"


@pytest.mark.parametrize("content", [b"", b"###", b"\0\xff", b"#####\n#@$.#\n#####\n"])
def test_a_broken_cache_is_ignored_and_mended(content: bytes) -> None:
    level = generate_level(7, 7, 2, 0)
    (file,) = files()
    file.write_bytes(content)
    forget_levels()
    assert generate_level(7, 7, 2, 0) == level
    assert file.read_text().strip() == str(level)


def test_a_cache_that_cannot_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a-file").touch()
    monkeypatch.setenv("WORLDCODER_CACHE_DIR", str(tmp_path / "a-file"))
    assert pushes_to_solve(generate_level(7, 7, 2, 0))


PINNED = """\
#######
####  #
#### .#
#  # $#
#  # @#
#.  $ #
#######"""
