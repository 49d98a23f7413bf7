"""All the cases there are."""

from __future__ import annotations

from functools import cache

from worldcoder.attacks import (
    cases_crashes,
    cases_inside,
    cases_kernel,
    cases_keys,
    cases_memory,
    cases_network,
    cases_others,
    cases_processes,
    cases_programs,
    cases_reads,
    cases_replies,
    cases_time,
    cases_writes,
)
from worldcoder.attacks.case import Case


def every_case() -> tuple[Case, ...]:
    """All cases, kind by kind."""
    return tuple(_by_name().values())


def find_case(name: str) -> Case:
    """The case of this name."""
    return _by_name()[name]


@cache
def _by_name() -> dict[str, Case]:
    collected = (
        cases_reads.cases,
        cases_keys.cases,
        cases_network.cases,
        cases_writes.cases,
        cases_kernel.cases,
        cases_processes.cases,
        cases_others.cases,
        cases_time.cases,
        cases_memory.limits,
        cases_memory.cases,
        cases_crashes.cases,
        cases_replies.cases,
        cases_inside.cases,
        cases_programs.cases,
    )
    return {case.name: case for cases in collected for case in cases.found}
