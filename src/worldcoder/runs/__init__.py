"""Runs: one directory a run, with its log, its model and its summary."""

from worldcoder.runs.directory import RunDirectory, new_directory
from worldcoder.runs.reader import (
    RecordedDecision,
    RecordedEpisode,
    RecordedNote,
    RecordedPlan,
    RecordedProgram,
    RecordedReply,
    RecordedTransition,
    RunReader,
)

__all__ = [
    "RecordedDecision",
    "RecordedEpisode",
    "RecordedNote",
    "RecordedPlan",
    "RecordedProgram",
    "RecordedReply",
    "RecordedTransition",
    "RunDirectory",
    "RunReader",
    "new_directory",
]
