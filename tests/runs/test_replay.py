"""The replay: which episode, what is in it, and what happens where nothing can be drawn."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from PIL import Image
from recorded import SOLVING, kitchen_episode, record, sokoban_episode

from worldcoder.errors import RunError
from worldcoder.runs.replay import save_replay
from worldcoder.runs.tiles import Tiles
from worldcoder.world import Action, Obj, State


def test_the_last_solved_episode_is_shown(tmp_path: Path) -> None:
    episodes = [sokoban_episode("up"), sokoban_episode("left", *("right",) * 3), sokoban_episode("up", "up")]
    episodes.insert(2, sokoban_episode(*SOLVING))
    picture = save_replay(record(tmp_path, "sokoban", episodes))
    assert picture == tmp_path / "replay.gif"
    text = (tmp_path / "replay.txt").read_text(encoding="utf-8")
    assert text.startswith('episode 3, seed 0, goal "win the game"\n@ Player  $ Box  . Target  # Wall\n')
    frames = text.split("\n\n")[1:]
    assert [frame.splitlines()[0] for frame in frames][:2] == ["start", "1/6  up  +0.9"]
    assert frames[-1].splitlines()[0] == "6/6  left  +10.9 · solved"
    with Image.open(picture) as gif:
        assert gif.n_frames == len(frames) == len(SOLVING) + 1
        durations = []
        for i in range(gif.n_frames):
            gif.seek(i)
            durations.append(gif.info["duration"])
        assert durations[-1] > durations[1]


def test_without_a_solved_one_the_last_is_shown(tmp_path: Path) -> None:
    save_replay(record(tmp_path, "sokoban", [sokoban_episode("up"), sokoban_episode("down", "left")]))
    assert (tmp_path / "replay.txt").read_text(encoding="utf-8").startswith("episode 2,")


def test_an_episode_without_a_step(tmp_path: Path) -> None:
    with Image.open(save_replay(record(tmp_path, "sokoban", [sokoban_episode()]))) as gif:
        assert gif.n_frames == 1


def test_a_world_that_is_gone_is_drawn_with_letters(tmp_path: Path) -> None:
    folder = record(tmp_path, "gone.py:make_env", [sokoban_episode(*SOLVING)])
    assert save_replay(folder).name == "replay.gif"
    assert "P Player  B Box  T Target  · Wall" in (folder / "replay.txt").read_text(encoding="utf-8")


def test_a_world_without_places_is_told_in_text(tmp_path: Path) -> None:
    path = save_replay(record(tmp_path, "kitchen.py:make_env", [kitchen_episode()]))
    assert path == tmp_path / "replay.txt"
    assert not (tmp_path / "replay.gif").exists()
    text = path.read_text(encoding="utf-8")
    assert "1/2  move(cup, sink)  +0  Cup cup: inside Shelf shelf → Sink sink" in text


def test_what_is_not_seen_is_told(tmp_path: Path) -> None:
    states = [State([Obj("Door", x=0, y=0, open=o), Obj("Cat", x=1, y=0)]) for o in (False, True)]
    record(tmp_path, "gone.py:make_env", [(states[0], [(Action("push"), states[1], 0.0, False)])])
    save_replay(tmp_path)
    assert "1/1  push  +0  Door: open False → True" in (tmp_path / "replay.txt").read_text(encoding="utf-8")


def test_no_episode(tmp_path: Path) -> None:
    with pytest.raises(RunError, match="no episode to replay"):
        save_replay(record(tmp_path, "sokoban", []))


def test_no_run(tmp_path: Path) -> None:
    with pytest.raises(RunError, match="no run's directory"):
        save_replay(tmp_path)


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="needs a file system with permissions")
def test_a_place_that_cannot_be_written(tmp_path: Path) -> None:
    (record(tmp_path, "sokoban", [sokoban_episode("up")]) / "replay.txt").mkdir()
    with pytest.raises(RunError, match="cannot write the replay"):
        save_replay(tmp_path)


# ── tiles ────────────────────────────────────────────────────────────────────────────────────────────────


def colours(picture: Image.Image) -> set[tuple[int, int, int]]:
    return {colour for _, colour in picture.convert("RGB").getcolors(1 << 24)}


def test_a_colour_that_is_named_is_used() -> None:
    """Two keys of different colours look different, and as they are called."""
    state = State(
        [Obj("Key", x=0, y=0, color="red"), Obj("Key", x=2, y=0, color="blue"), Obj("Cat", x=1, y=0)]
    )
    picture = Tiles([state]).draw(state, ["start"]).convert("RGB")
    middle = {x: picture.getpixel((picture.width // 2 + x * 52 - 12, 12 + 26)) for x in (-1, 1)}
    red, green, blue = middle[-1]
    assert red > max(green, blue) + 40
    red, green, blue = middle[1]
    assert blue > max(red, green) + 40


def test_what_moves_looks_other_than_what_does_not() -> None:
    states = [State([Obj("Cat", x=x, y=0), Obj("Hat", x=3, y=0)]) for x in (0, 1)]
    moved = [State([Obj("Cat", x=0, y=0), Obj("Hat", x=x, y=0)]) for x in (3, 2)]
    assert Tiles(states).draw(states[0], [""]).tobytes() != Tiles(moved).draw(moved[0], [""]).tobytes()


def test_every_picture_of_an_episode_has_the_same_size() -> None:
    states = [State([Obj("Cat", x=x, y=-x), Obj("Bag", x=None, y=None)]) for x in range(4)]
    tiles = Tiles(states, captions=2)
    assert len({tiles.draw(state, ["a" * 300, ""]).size for state in states}) == 1
    assert len(colours(tiles.draw(states[0], ["", ""]))) > 3
