"""Numbers and results in words."""

from __future__ import annotations


def number(value: int) -> str:
    """`2,000`."""
    return f"{value:,}"


def count(value: int, what: str) -> str:
    """`1 action`, `2,000 actions`."""
    return f"{value:,} {what}" if value == 1 else f"{value:,} {what}s"


def duration(seconds: float) -> str:
    """`0.4 s`, `9 s`, `1 min 12 s`, `2 h 5 min`."""
    if seconds < 9.95:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"


def share(part: float) -> str:
    """`100 %` only for all of it."""
    return "100 %" if part >= 1 else f"{min(part * 100, 99.9):.1f} %"


PHI2 = {
    "found": "a plan to a reward is found",
    "unreachable": "in the model no reward can be reached",
    "budget": "the search for a plan ran out",
}
"""φ2 in words."""

STOPPED = {
    "solved": "solved, and explored for as long as asked",
    "converged": "solved, and nothing was left to learn",
    "stuck": "nothing was left to try",
    "actions": "the actions allowed are used up",
    "seconds": "the seconds allowed are over",
    "calls": "the calls of the language model allowed for one problem are used up",
    "tokens": "the tokens allowed are used up",
    "usd": "the dollars allowed are used up",
    "episodes": "the episodes allowed are used up",
    "interrupted": "interrupted",
    "terminated": "told to terminate",
    "error": "an error",
    "done": "every stage had its turn",
    "mastered": "every stage is mastered",
    "hopeless": "in what is not mastered there is no progress",
    "visits": "the visits allowed are used up",
}
"""Why a run ended."""


def reached(successes: int, phi1: float, phi2: str | None) -> str | None:
    """What can be said of a goal that was reached, but not by a plan that the model has; None if it has one."""
    if not successes or phi2 == "found":
        return None
    times = "once" if successes == 1 else f"{successes:,} times"
    unknown = "no plan is known yet" if phi1 >= 1 and phi2 != "unreachable" else "not yet understood"
    return f"reached {times}, {unknown}"


def regressions(lost: int, earlier: int) -> str:
    """What became of what was learned before, in words."""
    of = f"of its {count(earlier, 'transition')}"
    return (
        f"no regression, {of} all that held still hold"
        if not lost
        else f"{lost:,} {of} held and do not any more"
    )
