"""A curriculum carried out: runs that begin with each other's models, in one directory.

    runs/minigrid-0/
      curriculum.json             what is learned, and how: written once, before the first run
      1-minigrid-Empty-5x5/       a run like any other; each begins with the model and the data of the one before
      2-minigrid-DoorKey-5x5/
      model/, summary.json        the last model, and what came of all of them

Which run comes next follows from those that have ended. So a course that was killed goes on where it was: finished
runs are read, the one that was under way is resumed, and the rest are run.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import count
from pathlib import Path
from typing import Any

from worldcoder.configuration import Experiment
from worldcoder.curriculum.plan import Curriculum, Stage, check
from worldcoder.curriculum.records import CourseSummary, record_of
from worldcoder.curriculum.teacher import ByProgress, InOrder, Teacher, Visit
from worldcoder.errors import RunError, UsageError, WorldcoderError
from worldcoder.experiment import UNFINISHED, resume, run
from worldcoder.programs import Runner, load_knowledge
from worldcoder.runs.directory import COURSE, RunDirectory, new_directory, short_name
from worldcoder.runs.events import Listener, StageBegan, StageOver, Summary
from worldcoder.runs.reader import RunReader, is_run

FORMAT = 1

TOTALS = ("max_actions", "max_seconds", "max_tokens", "max_usd")
"""Limits that hold for a whole course."""

LIMITED = ("actions", "seconds", "tokens", "usd", "calls", "episodes")
"""How a run has stopped that goes on where it is given more."""


def is_course(directory: str | Path) -> bool:
    """Whether a directory holds a curriculum that was begun."""
    return (Path(directory) / COURSE).is_file()


def learn_curriculum(
    curriculum: Curriculum,
    base: Experiment,
    directory: str | Path | None = None,
    *,
    limits: Mapping[str, float] | None = None,
    known: str | Path | None = None,
    listener: Listener = lambda event: None,
    pictures: bool = True,
    runner: Runner,
) -> CourseSummary:
    """Learn the environments of a curriculum one after the other, each with what was learned before.

    base: what stages leave open: seed, synthesizer, model, ... limits: of `TOTALS`, for all stages together.
    known: a model to begin with. The rest as of `worldcoder.experiment.run`, which it raises the errors of; those of
    a stage that cannot be begun, and UsageError, come before anything is written.
    """
    totals = {name: value for name, value in (limits or {}).items() if value is not None}
    for name in totals:
        if name not in TOTALS or not 0 <= totals[name] < float("inf"):
            raise UsageError(f"{name}: expected one of {', '.join(TOTALS)} of 0 or more, got {totals[name]}")
    check(curriculum, base)
    if known is not None:
        load_knowledge(known)
    with new_directory(directory, curriculum.name, base.seed) as folder:
        course = _Course(folder, curriculum, base, totals, None if known is None else str(known))
        course.write()
        return course.run(listener, pictures, runner)


def resume_curriculum(
    directory: str | Path,
    *,
    listener: Listener = lambda event: None,
    pictures: bool = True,
    runner: Runner,
    **limits: Any,
) -> CourseSummary:
    """Go on with a curriculum that was stopped or killed, as if it had not been.

    limits: of `TOTALS`, in the place of those it was begun with; and max_calls and base_url of its language model.
    The rest as of `worldcoder.experiment.resume`.
    """
    with RunDirectory(directory) as folder:
        folder.tidy()
        course = _Course.read(folder)
        changes = {name: limits.pop(name) for name in TOTALS if name in limits}
        course.totals |= changes
        course.base = course.base.changed(**limits)
        if changes or limits:
            course.write()
        return course.run(listener, pictures, runner)


@dataclass
class _Course:
    """A curriculum under way.

    totals: limits of the whole. known: the model that it begins with. done: the runs that ended: their stage, their
    folder, what came of them.
    """

    folder: RunDirectory
    curriculum: Curriculum
    base: Experiment
    totals: dict[str, float]
    known: str | None
    done: list[tuple[int, Path, Summary]] = field(default_factory=list)

    def write(self) -> None:
        """Note what is learned; as a whole or not at all."""
        values = {
            "format": FORMAT,
            "curriculum": self.curriculum.to_json(),
            "base": self.base.to_json(),
            "limits": self.totals,
            "from": self.known,
        }
        self.folder.write_json(self.folder.path / COURSE, values)

    @classmethod
    def read(cls, folder: RunDirectory) -> _Course:
        """What was noted. Raises RunError where it cannot be read."""
        file = folder.path / COURSE
        try:
            values = json.loads(file.read_text(encoding="utf-8"))
            if values["format"] != FORMAT:
                raise RunError(
                    f"{file} has format {values['format']!r}, this version reads {FORMAT}; start anew"
                )
            curriculum = Curriculum.from_json(values["curriculum"])
            base = Experiment.from_json(values["base"])
            return cls(folder, curriculum, base, dict(values["limits"]), values["from"])
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise RunError(
                f"{file} cannot be read: {error!r:.200}; start the curriculum anew elsewhere"
            ) from None

    # ── the runs ─────────────────────────────────────────────────────────────────────────────────────────

    def run(self, listener: Listener, pictures: bool, runner: Runner) -> CourseSummary:
        """Every run that is left, and the summary."""
        stopped = "error"
        teacher = self._teacher()
        try:
            for number in count(1):
                reached = self._reached()
                stage = None if reached else teacher.ask()
                if stage is None:
                    stopped = reached or teacher.ended
                    break
                listener(StageBegan(number, stage + 1, len(self.curriculum.stages)))
                path = self.folder.path / f"{number}-{short_name(self.curriculum.stages[stage].environment)}"
                summary = self._visit(stage, path, listener, pictures, runner)
                self.done.append((stage, path, summary))
                listener(StageOver(number, stage + 1, len(self.curriculum.stages), summary))
                if summary.stopped in UNFINISHED:
                    stopped = str(summary.stopped)
                    break
                teacher.tell(stage, _visit_of(path, summary))
                self._save(None)
        except WorldcoderError:
            self._save("error")
            raise
        return self._save(stopped)

    def _teacher(self) -> Teacher:
        stages = len(self.curriculum.stages)
        if self.curriculum.order == "given":
            return InOrder(stages)
        rng = random.Random(f"{self.base.seed} teacher")
        return ByProgress(stages, rng, visits=self.curriculum.visits)

    def _visit(self, stage: int, path: Path, listener: Listener, pictures: bool, runner: Runner) -> Summary:
        """One run: what came of it if it ended, else the rest of it."""
        experiment = self._experiment(stage)
        if not is_run(path):
            return run(
                experiment, path, listener=listener, pictures=pictures, runner=runner, known=self._latest()
            )
        with RunReader(path) as reader:
            stopped = reader.stopped
        if stopped not in (*UNFINISHED, *LIMITED):
            return resume(path, runner=runner)
        limits: dict[str, Any] = {
            name: getattr(experiment, name) for name in ("max_actions", "max_seconds", "max_episodes")
        }
        if experiment.model is not None:
            model = experiment.model
            limits |= {
                name: getattr(model, name) for name in ("max_calls", "max_tokens", "max_usd", "base_url")
            }
        return resume(path, listener=listener, pictures=pictures, runner=runner, **limits)

    def _experiment(self, stage: int) -> Experiment:
        """What is run in a stage now, with what is left of the limits."""
        plan: Stage = self.curriculum.stages[stage]
        experiment = plan.experiment(self.base)
        left = {name: self.totals[name] - self._spent(name) for name in self.totals}
        actions = [experiment.max_actions, left.get("max_actions")]
        seed = experiment.seed
        if self.curriculum.order == "progress":
            actions.append(self.curriculum.practice)
            seed += sum(summary.episodes for visited, _, summary in self.done if visited == stage)
        model = experiment.model
        if model is not None:
            tokens = _least(model.max_tokens, left.get("max_tokens"))
            usd = _least(model.max_usd, left.get("max_usd"))
            model = replace(model, max_tokens=None if tokens is None else int(tokens), max_usd=usd)
        most = _least(*actions)
        return replace(
            experiment,
            seed=seed,
            model=model,
            max_actions=None if most is None else int(most),
            max_seconds=_least(experiment.max_seconds, left.get("max_seconds")),
        )

    def _spent(self, limit: str) -> float:
        spent: Callable[[Summary], float | None] = {
            "max_actions": lambda s: s.real_actions,
            "max_seconds": lambda s: s.seconds["total"],
            "max_tokens": lambda s: s.tokens,
            "max_usd": lambda s: s.usd,
        }[limit]
        return sum(spent(summary) or 0 for _, _, summary in self.done)

    def _reached(self) -> str | None:
        """The limit of the whole course that was reached, if one was."""
        for name in self.totals:
            word = name.removeprefix("max_")
            ended_by_it = bool(self.done) and self.done[-1][2].stopped == word and word in ("tokens", "usd")
            if ended_by_it or self._spent(name) >= self.totals[name]:
                return word
        return None

    def _latest(self) -> str | None:
        """The folder of the last model, with its data, that is handed on.

        By progress, what came of a world that was neither solved nor understood is not: it may be one that no program
        explains, and its data would be in the way of all that is learned later.
        """
        models = [
            str(path)
            for _, path, summary in self.done
            if summary.model is not None
            and (self.curriculum.order == "given" or summary.solved or not summary.unexplained)
        ]
        return models[-1] if models else self.known

    # ── the record ───────────────────────────────────────────────────────────────────────────────────────

    def _save(self, stopped: str | None) -> CourseSummary:
        """Write the summary; at the end, the model as well."""
        latest = self._latest() if self.done else None
        model = None
        if latest == self.known:
            latest = None  # nothing new
        if latest is not None and stopped is not None:
            known = load_knowledge(latest)
            assert known.model is not None
            about = {"curriculum": self.curriculum.name, "seed": self.base.seed, "worlds": list(known.worlds)}
            self.folder.write_model(known.model, about, known.episodes)
            model = str(self.folder.model)
        summary = CourseSummary(
            curriculum=self.curriculum.name,
            order=self.curriculum.order,
            synthesizer=self.base.synthesizer,
            seed=self.base.seed,
            stopped=stopped,
            stages=tuple(self._records()),
            model=model,
            started_from=self.known,
            directory=self.folder.path,
        )
        self.folder.write_summary(summary.to_json())
        return summary

    def _records(self) -> Iterator[Mapping[str, Any]]:
        """One record for each environment."""
        for number, stage in enumerate(self.curriculum.stages):
            mine = [(path.name, summary) for visited, path, summary in self.done if visited == number]
            yield record_of(stage.environment, stage.options, mine)


def _visit_of(path: Path, summary: Summary) -> Visit:
    surprised = set(summary.surprised)
    foreseen = tuple(n not in surprised for n in range(1, summary.real_actions + 1))
    with RunReader(path) as reader:
        changed = any(adopted.program.kind == "transition" for adopted in reader.programs())
    return Visit(summary.solved, foreseen, changed)


def _least(*limits: float | None) -> float | None:
    """The least of those that there are."""
    return min((limit for limit in limits if limit is not None), default=None)
