"""Reading XSB: what a file may look like, and what is said of one that is wrong."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from worldcoder.envs import sokoban_generator
from worldcoder.envs.sokoban_levels import parse_levels, read_levels
from worldcoder.errors import LevelFormatError

BOXOBAN = Path(__file__).parents[1] / "data/boxoban/unfiltered-test-000.txt"

TWO = """\
; first
#####
#@$.#
#####

A line of prose before the second
  #####
###   #
# $ # ##
# #  . #
#    # #
## #@  #
 #######
Author: somebody
"""


def test_published_levels() -> None:
    levels = read_levels(BOXOBAN)
    assert [level.title for level in levels] == [str(i) for i in range(10)]
    assert all((level.width, level.height, len(level.boxes)) == (10, 10, 4) for level in levels)
    drawings = [block.split("\n", 1)[1] for block in BOXOBAN.read_text().strip().split("\n\n")]
    assert [str(level) for level in levels] == drawings


def test_several_levels_with_text_between_them_and_ragged_lines() -> None:
    first, second = parse_levels(TWO)
    assert (first.width, first.height, first.title) == (5, 3, "first")
    assert first.player == (1, 1) and first.boxes == {(2, 1)} and first.targets == {(3, 1)}
    assert (second.width, second.height, second.player) == (8, 7, (4, 5))
    assert second.title == "A line of prose before the second"


def test_every_character() -> None:
    (level,) = parse_levels("#######\n#+$*-_#\n#.$   #\n#######")
    assert level.player == (1, 1)
    assert level.boxes == {(2, 1), (3, 1), (2, 2)}
    assert level.targets == {(1, 1), (3, 1), (1, 2)}
    assert str(level) == "#######\n#+$*  #\n#.$   #\n#######"


@pytest.mark.parametrize(
    "text",
    [
        TWO.replace("\n", "\r\n"),
        "\ufeff" + TWO,
        "\n\n" + TWO.replace("\n\n", "\n\n\n \n\n"),
        "-- a rule --\n-----\n" + TWO,
        TWO.replace("  #####", "--#####").replace("#   #", "#___#"),
        TWO.rstrip("\n"),
    ],
)
def test_files_that_mean_the_same(text: str) -> None:
    plain = parse_levels(TWO)
    assert [str(level) for level in parse_levels(text)] == [str(level) for level in plain]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("#####\n#@$x.#\n#####", "line 2: unknown character 'x' in column 4"),
        ("#####\n#@$.x\n#####", "line 2: unknown character 'x' in column 5"),
        ("#####\n#@$\t.#\n#####", r"line 2: unknown character '\t' in column 4"),
        ("; a title\n\n#####\n# $.#\n#####", "line 3: the level has no player"),
        ("######\n#@$.@#\n######", "line 2: 2 players in one level"),
        ("######\n#@$. #\n#   +#\n######", "line 3: 2 players in one level"),
        ("######\n#@$..#\n######", "line 1: the level has 1 box and 2 targets"),
        ("######\n#@   #\n######", "line 1: the level has 0 boxes and 0 targets"),
        ("######\n#@$. \n######", "line 2: the level is not closed"),
        ("######\n#@$. #\n## ###", "line 3: the level is not closed"),
        ("## ###\n#@$. #\n######", "line 1: the level is not closed"),
        ("#####\n#@$.#", "line 2: the level is not closed"),
        (TWO + "\n#####\n#@$ #\n#####\n", "line 16: the level has 1 box and 0 targets"),
        ("", "no level in it"),
        ("; only\nwords", "no level in it"),
    ],
)
def test_what_is_wrong_and_where(text: str, said: str) -> None:
    with pytest.raises(LevelFormatError) as caught:
        parse_levels(text, source="mine.xsb")
    assert str(caught.value).startswith("mine.xsb") and said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_room_that_the_player_cannot_reach_may_be_open() -> None:
    (level,) = parse_levels("#####\n#@$.#\n##### \n#   ")
    assert level.height == 4


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "image.png").write_bytes(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR")
    for path, said in [
        (tmp_path / "missing.xsb", "no such level file"),
        (tmp_path, "is a folder"),
        (tmp_path / "image.png", "got a binary file"),
    ]:
        with pytest.raises(LevelFormatError) as caught:
            read_levels(path)
        assert said in str(caught.value) and str(path) in str(caught.value)
    with pytest.raises(LevelFormatError, match="cannot be read"):
        read_levels("nul\0character")


def test_a_title_in_an_old_encoding(tmp_path: Path) -> None:
    (tmp_path / "old.xsb").write_bytes("; par François\n#####\n#@$.#\n#####\n".encode("latin-1"))
    assert len(read_levels(tmp_path / "old.xsb")) == 1


@given(st.lists(st.integers(0, 10**6), min_size=1, max_size=4))
def test_reading_undoes_writing(seeds: list[int]) -> None:
    levels = [sokoban_generator.generate_level(7, 7, 2, seed) for seed in seeds]
    text = "\n\n".join(f"; {i}\n{level}" for i, level in enumerate(levels))
    assert [str(level) for level in parse_levels(text)] == [str(level) for level in levels]


@given(st.text(alphabet="#@+$*. -_;x\n", max_size=80))
def test_any_text_is_levels_or_a_level_format_error(text: str) -> None:
    try:
        levels = parse_levels(text)
    except LevelFormatError as error:
        assert "\n" not in str(error)
    else:
        assert levels
