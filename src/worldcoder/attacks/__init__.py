"""Attacks on the sandbox: what hostile programs would try, and a runner that says whether the sandbox held.

    report = attack()
    print(report.held, [ran.case.name for ran in report.failed])

Every attack is harmless even where it succeeds: it reaches for canaries that are set up for it, nothing else.
"""

from __future__ import annotations

from worldcoder.attacks.case import Case, Ending, Kind, Ran
from worldcoder.attacks.every import every_case, find_case
from worldcoder.attacks.run import Report, Stands, attack, control

__all__ = [
    "Case",
    "Ending",
    "Kind",
    "Ran",
    "Report",
    "Stands",
    "attack",
    "control",
    "every_case",
    "find_case",
]
