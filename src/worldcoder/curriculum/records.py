"""What came of a curriculum, as its summary.json has it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from worldcoder.runs.events import Summary


@dataclass(frozen=True)
class CourseSummary:
    """The results of a curriculum.

    stages: one record an environment, see `record_of`. stopped: `done` (each had its turn), `mastered`, `hopeless` or
    `visits` (by progress), a limit of the whole course, `interrupted`, `terminated`, `error`; None while it goes on.
    model: the folder of the last model, with the data of all stages. started_from: the model that it began with.
    """

    curriculum: str
    order: str
    synthesizer: str
    seed: int
    stopped: str | None
    stages: tuple[Mapping[str, Any], ...]
    model: str | None
    started_from: str | None = None
    directory: Path = field(default=Path(), compare=False)

    @property
    def solved(self) -> int:
        """How many environments were solved."""
        return sum(bool(stage["solved"]) for stage in self.stages)

    def total(self, what: str) -> Any:
        """The sum over all stages; None where one of them is not known."""
        values = [stage[what] for stage in self.stages]
        return None if None in values else sum(values)

    def to_json(self) -> dict[str, Any]:
        """Plain values, for summary.json: the totals, and the stages."""
        values = asdict(self)
        del values["directory"]
        stages = values.pop("stages")
        totals = {what: self.total(what) for what in TOTALLED}
        solved = {"solved": self.solved == len(self.stages), "environments_solved": self.solved}
        return {**values, **solved, **totals, "stages": list(stages)}

    @classmethod
    def from_json(cls, values: Mapping[str, Any], directory: Path) -> CourseSummary:
        """What `to_json` wrote."""
        plain = {name: values[name] for name in cls.__dataclass_fields__ if name in values}
        return cls(**{**plain, "stages": tuple(values["stages"]), "directory": directory})


TOTALLED = (
    "real_actions",
    "episodes",
    "successes",
    "wrong_guesses",
    "surprises",
    "regressions",
    "seconds",
    "model_calls",
    "tokens",
    "usd",
)
"""What is summed up over the stages."""


def record_of(
    environment: str, options: Mapping[str, Any], visits: Sequence[tuple[str, Summary]]
) -> dict[str, Any]:
    """What came of one environment, from its visits: their folders, and their summaries.

    actions_to_solve: actions in this environment until it was solved for the first time. surprises: steps of which
    the model in hand did not say what they led to. phi1, phi2: of the model after the last visit.
    """
    record: dict[str, Any] = {"environment": environment, "options": dict(options)}
    record["solved"] = any(summary.solved for _, summary in visits)
    record["visits"] = len(visits)
    record["actions_to_solve"] = _to_solve([summary for _, summary in visits])
    for what in ("real_actions", "episodes", "successes", "wrong_guesses", "regressions"):
        record[what] = sum(getattr(summary, what) for _, summary in visits)
    record["surprises"] = sum(len(summary.surprised) for _, summary in visits)
    record["seconds"] = round(sum(summary.seconds["total"] for _, summary in visits), 3)
    for what in ("model_calls", "tokens"):
        record[what] = sum(getattr(summary, what) for _, summary in visits)
    usd = [summary.usd for _, summary in visits]
    record["usd"] = None if None in usd else sum(value or 0.0 for value in usd)
    last = visits[-1][1] if visits else None
    for what in ("stopped", "goal", "phi1", "phi2", "earlier"):
        record[what] = None if last is None else getattr(last, what)
    record["runs"] = [name for name, _ in visits]
    return record


def _to_solve(visits: Sequence[Summary]) -> int | None:
    before = 0
    for summary in visits:
        if summary.actions_to_solve is not None:
            return before + summary.actions_to_solve
        before += summary.real_actions
    return None
