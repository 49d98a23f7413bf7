"""The course of a run as a picture: φ1 and reward against the actions taken."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from worldcoder.errors import RunError
from worldcoder.runs.reader import RecordedTransition, RunReader

CURVES = "curves.png"

_INK, _FAINT, _LINE = "#2b2f36", "#7a808a", "#e3ded4"
_PHI1, _RETURN, _PROGRAM, _SOLVED = "#2e86ab", "#e4572e", "#8e5aa9", "#3d9970"


def plot_curves(directory: str | Path) -> Path:
    """Draw the learning curves of a run; returns the picture, curves.png.

    Above: φ1, the share of the recorded transitions that the model reproduced, and when programs came.
    Below: the return of the episode that goes on, and how episodes ended.
    Raises RunError for a directory that holds no run, or one that cannot be written.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg  # loaded only where something is drawn
    from matplotlib.figure import Figure

    directory = Path(directory)
    with RunReader(directory) as reader:
        name = str(reader.config.get("environment", directory.name))
        seed = reader.config.get("seed", 0)
        scores = [(d.after, d.phi1) for d in reader.decisions() if d.after > 0]
        adopted = [(p.after, p.score) for p in reader.programs() if p.program.kind == "transition"]
        steps = list(reader.transitions())

    figure = Figure(figsize=(7.5, 4.8), dpi=140, layout="constrained", facecolor="white")
    FigureCanvasAgg(figure)
    above, below = figure.subplots(2, 1, sharex=True, height_ratios=(3, 2))
    for axes in (above, below):
        _dress(axes)
    _draw_phi1(above, scores, adopted)
    _draw_returns(below, steps)
    above.set_title(f"{name} · seed {seed}", loc="left", fontsize=12, color=_INK, pad=30)
    below.set_xlabel("actions in the world", color=_INK)
    below.set_xlim(0, max(len(steps), 1))
    path = directory / CURVES
    try:
        figure.savefig(path)
    except OSError as error:
        raise RunError(f"cannot write {path}: {error.strerror or error}; make room or permit it") from error
    return path


def _dress(axes: Any) -> None:
    axes.grid(True, color=_LINE, linewidth=0.8)
    axes.set_axisbelow(True)
    axes.tick_params(colors=_FAINT, labelsize=9, length=0)
    for side, spine in axes.spines.items():
        spine.set_visible(side in ("left", "bottom"))
        spine.set_color(_LINE)


def _draw_phi1(axes: Any, scores: Sequence[tuple[int, float]], adopted: Sequence[tuple[int, float]]) -> None:
    x, y = [after for after, _ in scores], [score for _, score in scores]
    axes.fill_between(x, y, step="post", color=_PHI1, alpha=0.12, linewidth=0)
    axes.plot(x, y, drawstyle="steps-post", color=_PHI1, linewidth=1.8, label="φ1, share reproduced")
    if adopted:
        (marks,) = axes.plot(
            [after for after, _ in adopted],
            [score for _, score in adopted],
            linestyle="none",
            marker="o",
            markersize=6,
            markerfacecolor="white",
            markeredgecolor=_PROGRAM,
            markeredgewidth=1.6,
            clip_on=False,
            zorder=3,
            label="transition program adopted",
        )
        marks.set_in_layout(False)
    axes.set_ylim(0, 1.06)
    axes.set_yticks([0, 0.25, 0.5, 0.75, 1])
    axes.set_yticklabels(["0 %", "25 %", "50 %", "75 %", "100 %"])
    axes.set_ylabel("φ1", color=_INK)
    _legend(axes)


def _draw_returns(axes: Any, steps: Sequence[RecordedTransition]) -> None:
    """The return so far of each episode, from 0 at its start, and a mark where it ended."""
    episodes: dict[int, list[RecordedTransition]] = {}
    for step in steps:
        episodes.setdefault(step.episode, []).append(step)
    ends: dict[str, list[tuple[int, float]]] = {"solved": [], "ended without a reward": [], "cut off": []}
    for i, episode in enumerate(episodes.values()):
        x, total, y = [episode[0].index - 1], 0.0, [0.0]
        for step in episode:
            total += step.transition.reward
            x.append(step.index)
            y.append(total)
        label = "return of the episode" if i == 0 else None
        axes.plot(x, y, color=_RETURN, linewidth=1.4, label=label)
        last = episode[-1]
        if last.transition.done:
            ends["solved" if last.transition.reward > 0 else "ended without a reward"].append((x[-1], total))
        elif last.truncated:
            ends["cut off"].append((x[-1], total))
    looks = zip(ends.items(), ("*", "x", "|"), (_SOLVED, _INK, _FAINT), (9, 6, 8), strict=True)
    for (label, places), marker, colour, size in looks:
        if places:
            (marks,) = axes.plot(
                [x for x, _ in places],
                [y for _, y in places],
                linestyle="none",
                marker=marker,
                markersize=size,
                color=colour,
                clip_on=False,
                zorder=3,
                label=label,
            )
            marks.set_in_layout(False)
    axes.margins(y=0.12)
    axes.set_ylabel("return", color=_INK)
    if steps:
        _legend(axes)


def _legend(axes: Any) -> None:
    """Above the axes, where it hides nothing."""
    axes.legend(
        loc="lower left",
        bbox_to_anchor=(0, 1.0),
        ncols=4,
        frameon=False,
        fontsize=9,
        labelcolor=_FAINT,
        borderaxespad=0.2,
        handlelength=1.4,
        columnspacing=1.6,
    )
