"""The replay of a run: its last solved episode as an animated GIF, and as text."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from worldcoder.envs import make
from worldcoder.errors import RunError
from worldcoder.runs.reader import RecordedEpisode, RecordedTransition, RunReader
from worldcoder.world.difference import describe_change
from worldcoder.world.drawing import LARGEST, cells_of, choose_glyphs, draw, legend
from worldcoder.world.values import State

GIF = "replay.gif"
TEXT = "replay.txt"

_LONGEST = 400  # steps shown; of a longer episode the last ones
_STEP, _PAUSE = 220, 1600  # milliseconds for each step, and for the first and last picture
_ACROSS = 64  # cells in one direction that can still be told apart in a picture


@dataclass(frozen=True)
class _Frame:
    """caption: which step it was. change: what it changed, other than places, in words."""

    state: State
    caption: str
    change: str = ""


def save_replay(directory: str | Path) -> Path:
    """Draw the last solved episode of a run, or its last one if none was solved.

    Writes replay.txt, and replay.gif where the world has places on a grid; returns the better one.
    Raises RunError for a directory that holds no run or no episode, or that cannot be written.
    """
    directory = Path(directory)
    with RunReader(directory) as reader:
        episode, steps = _chosen(reader)
        glyphs = _glyphs(reader)
    frames = _frames(episode, steps)
    try:
        text = directory / TEXT
        text.write_text(_as_text(episode, frames, glyphs), encoding="utf-8")
        if not _drawable(frames):
            return text
        return _save_gif(frames, glyphs, directory / GIF)
    except OSError as error:
        reason = f"{error.strerror or error}; make room or permit it"
        raise RunError(f"cannot write the replay into {directory}: {reason}") from error


def _chosen(reader: RunReader) -> tuple[RecordedEpisode, list[RecordedTransition]]:
    """The last solved episode and its steps."""
    episodes = {e.index: e for e in reader.episodes()}
    steps: dict[int, list[RecordedTransition]] = {index: [] for index in episodes}
    for recorded in reader.transitions():
        steps[recorded.episode].append(recorded)
    if not episodes:
        raise RunError(f"{reader.directory} has no episode to replay; go on with the run (--resume)")
    ends = {i: taken[-1].transition for i, taken in steps.items() if taken}
    solved = [i for i, end in ends.items() if end.done and end.reward > 0]
    index = max(solved or ends or episodes)
    return episodes[index], steps[index]


def _glyphs(reader: RunReader) -> Mapping[str, str] | None:
    """How the environment wants its kinds drawn, if it can still be asked."""
    with suppress(Exception):  # a file that is gone, a package that is missing: letters will do
        config = reader.config
        glyphs = getattr(make(config["environment"], **config.get("options", {})), "glyphs", None)
        return dict(glyphs) if glyphs else None
    return None


def _frames(episode: RecordedEpisode, steps: list[RecordedTransition]) -> list[_Frame]:
    frames = [_Frame(episode.start, "start")]
    for number, recorded in enumerate(steps, start=1):
        step = recorded.transition
        end = " · solved" if step.done and step.reward > 0 else " · over" if step.done else ""
        caption = f"{number}/{len(steps)}  {step.action}  {step.reward:+.4g}{end}"
        frames.append(_Frame(step.next_state, caption, _change(step.state, step.next_state)))
    return frames[-_LONGEST - 1 :]


def _change(before: State, after: State) -> str:
    """What is different, places aside: those are seen."""
    changes = []
    for line in describe_change(before, after):
        who, colon, what = line.partition(": ")
        parts = [part for part in what.split(", ") if not part.startswith(("x ", "y "))]
        if not colon or parts:
            changes.append(who.partition(" at (")[0] + colon + ", ".join(parts))
    return "; ".join(changes).replace(" at (None, None)", "")


def _as_text(episode: RecordedEpisode, frames: list[_Frame], glyphs: Mapping[str, str] | None) -> str:
    chosen = choose_glyphs((frame.state for frame in frames), glyphs)
    lines = [f'episode {episode.index}, seed {episode.seed}, goal "{episode.goal}"']
    if cells_of(episode.start):
        lines.append(legend(episode.start, chosen))
    for frame in frames:
        lines += ["", "  ".join(filter(None, (frame.caption, frame.change))), draw(frame.state, chosen)]
    return "\n".join(lines) + "\n"


def _drawable(frames: list[_Frame]) -> bool:
    """Whether there is a grid, and not one too large to look at."""
    assert _ACROSS < LARGEST
    places = [place for frame in frames for place in cells_of(frame.state)]
    if not places:
        return False
    return all(max(values) - min(values) < _ACROSS for values in zip(*places, strict=True))


def _save_gif(frames: list[_Frame], glyphs: Mapping[str, str] | None, path: Path) -> Path:
    from PIL import Image

    from worldcoder.runs.tiles import Tiles  # fonts and pictures load only where something is drawn

    captions = 2 if any(frame.change for frame in frames) else 1
    tiles = Tiles([frame.state for frame in frames], glyphs, captions=captions)
    pictures = [tiles.draw(frame.state, (frame.caption, frame.change)[:captions]) for frame in frames]
    colours = pictures[-1].quantize(128, dither=Image.Dither.NONE)
    pictures = [p.quantize(palette=colours, dither=Image.Dither.NONE) for p in pictures]
    durations = [_PAUSE // 2, *([_STEP] * (len(pictures) - 2)), _PAUSE][: len(pictures)]
    rest = pictures[1:]
    pictures[0].save(path, save_all=True, append_images=rest, duration=durations, loop=0, disposal=1)
    return path
