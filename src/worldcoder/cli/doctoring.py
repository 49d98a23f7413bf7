"""`worldcoder doctor`: what keeps programs from doing harm on this machine, and whether it does."""

from __future__ import annotations

import os
import platform
import shutil
import statistics
import sys
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from time import perf_counter
from typing import TYPE_CHECKING, Any

from worldcoder.cli.words import count, duration, number
from worldcoder.errors import SandboxError, UsageError
from worldcoder.sandbox import Layer, LayerReport, Sandbox, locked, probe

if TYPE_CHECKING:
    from worldcoder.attacks import Ran, Report

SERVICE = "worldcoder.attacks.service:Hostile"
WORKERS = 9
"""How many workers are made to measure one."""

SAFE = "programs run locked"
UNSAFE = "programs cannot be run safely here"
LONGEST = 240
"""So much is told of one attack."""


@dataclass(frozen=True)
class Examination:
    """What doctor found.

    layers: those of this machine, the ones that are missing too.
    ready_ms: how long it takes until a new worker can be asked; None where none can be had.
    trouble: why programs cannot be run safely; empty if they can.
    report: what came of the attacks; None if there were none.
    """

    layers: tuple[LayerReport, ...]
    ready_ms: float | None
    trouble: str
    report: Report | None = None

    @property
    def well(self) -> bool:
        """Whether programs run locked, and held if they were tried."""
        return not self.trouble and (self.report is None or self.report.held)


def examine() -> Examination:
    """Look at the layers and make some workers."""
    layers = probe()
    if not locked(layers):
        why = "; ".join(f"{r.layer}: {r.detail}" for r in layers if r.needed and not r.there and r.detail)
        return Examination(layers, None, why or "no lock of the system's is known here")
    try:
        return Examination(layers, _measure(), "")
    except SandboxError as error:
        return Examination(layers, None, str(error))


def _measure() -> float:
    """Milliseconds until a new worker has answered for the first time."""
    times = []
    with Sandbox(SERVICE) as sandbox:
        for _ in range(WORKERS):
            began = perf_counter()
            worker = sandbox.worker()
            worker.request({"keep": ""})
            times.append(perf_counter() - began)
            worker.close()
    return 1000 * statistics.median(times)


def layers_named(names: Iterable[str]) -> frozenset[Layer]:
    """The layers of these names, as the table has them; spaces may be hyphens."""
    found = set()
    for name in names:
        try:
            found.add(Layer(name.lower().replace("-", " ").replace("_", " ")))
        except ValueError:
            known = ", ".join(layer.replace(" ", "-") for layer in Layer)
            raise UsageError(f"no layer {name!r}; there are: {known}") from None
    return frozenset(found)


def attacked(found: Examination, off: frozenset[Layer], *, quiet: bool) -> Examination:
    """The same, and let all attacks loose; on a terminal with a bar that moves."""
    if sys.platform == "win32":
        raise SandboxError("the attacks are made for Linux and macOS; here there is no lock to be tried")
    from worldcoder.attacks import attack, every_case

    with _progress(len(every_case()), quiet=quiet) as progress:
        report = attack(off=off, progress=progress)
    return Examination(found.layers, found.ready_ms, found.trouble, report)


@contextmanager
def _progress(total: int, *, quiet: bool) -> Iterator[Callable[[Ran], None]]:
    if quiet or not sys.stdout.isatty():
        yield lambda ran: None
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    columns = (TextColumn("  attacking"), BarColumn(), MofNCompleteColumn(), TextColumn("{task.description}"))
    with Progress(*columns, transient=True) as bar:
        task = bar.add_task("", total=total)
        yield lambda ran: bar.update(task, advance=1, description=ran.case.name)


# ── in lines ─────────────────────────────────────────────────────────────────────────────────────────────


def examination_text(found: Examination) -> Iterator[str]:
    """What was found, in lines."""
    where = _where()
    yield f"worldcoder {where['worldcoder']} · Python {where['python']} · {where['system']} {where['machine']}"
    yield ""
    rows = [_row(report) for report in found.layers]
    widths = [max(len(row[column]) for row in rows) for column in range(2)]
    for name, there, what in rows:
        begin = f"  {name:<{widths[0]}}  {there:<{widths[1]}}  "
        yield from _wrapped(begin, what)
    yield ""
    if found.ready_ms is not None:
        yield f"a new worker is ready in {found.ready_ms:.1f} ms (the median of {WORKERS})"
    if found.report is not None:
        yield from _report_text(found.report)
    if found.trouble:
        yield f"{UNSAFE}: {found.trouble}"
    elif found.report is None or found.report.held:
        yield SAFE
    elif not found.report.off:
        yield f"{UNSAFE}: attacks got through; please report them, with this output"


def _wrapped(begin: str, text: str) -> Sequence[str]:
    """A line, or on a terminal that is too narrow several, the later ones indented."""
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else 10_000
    return textwrap.wrap(
        text, max(width, len(begin) + 30), initial_indent=begin, subsequent_indent=" " * len(begin)
    )


def _row(report: LayerReport) -> tuple[str, str, str]:
    there, detail = there_and_detail(report)
    what = f"stops: {report.layer.stops}"
    return report.layer, "there" if there else "missing", f"{what} ({detail})" if detail else what


def there_and_detail(report: LayerReport) -> tuple[bool, str]:
    """Whether a layer is of use, and what is to be known about it."""
    if report.layer is Layer.USER and report.there and hasattr(os, "geteuid") and os.geteuid() != 0:
        return False, "only root can give a worker another user"
    return report.there, report.detail


def _report_text(report: Report) -> Iterator[str]:
    from worldcoder.attacks import Kind

    yield ""
    if report.off:
        yield f"left off on purpose: {', '.join(sorted(report.off))}"
    said = len(report.rans) - len(report.not_applicable)
    user = "root" if os.geteuid() == 0 else "an ordinary user"
    yield f"{count(said, 'attack')} in {duration(report.seconds)}, as {user}"
    width = max(len(kind) for kind in Kind)
    for kind in Kind:
        rans = [ran for ran in report.of(kind) if ran.applicable]
        held = sum(ran.held for ran in rans)
        yield f"  {kind:<{width}}  {number(held):>3} of {number(len(rans)):>3} held"
    for ran in report.not_applicable:
        yield f"  not applicable  {ran.case.name}: {ran.missing}"
    for ran in report.failed:
        yield f"  NOT HELD  {ran.case.name} ({ran.case.tries}): {ran.happened}"[:LONGEST]
    for what in report.unhealthy:
        yield f"  NOT WELL  {what}"
    yield ""
    if report.held:
        yield f"the sandbox held against all {number(said)} attacks"
    else:
        yield f"the sandbox did NOT hold: {number(len(report.failed))} of {number(said)} attacks got through"


# ── in JSON ──────────────────────────────────────────────────────────────────────────────────────────────


def examination_values(found: Examination) -> dict[str, Any]:
    """The same for machines."""
    values: dict[str, Any] = {
        **_where(),
        "layers": [_layer_values(report) for report in found.layers],
        "new_worker_ms": None if found.ready_ms is None else round(found.ready_ms, 2),
        "safe": not found.trouble,
        "trouble": found.trouble,
    }
    if found.report is not None:
        values["attack"] = _report_values(found.report)
    return values


def _layer_values(report: LayerReport) -> Mapping[str, Any]:
    there, detail = there_and_detail(report)
    return {
        "layer": report.layer,
        "there": there,
        "needed": report.needed,
        "stops": report.layer.stops,
        "detail": detail,
    }


def _report_values(report: Report) -> Mapping[str, Any]:
    return {
        "held": report.held,
        "off": sorted(report.off),
        "seconds": round(report.seconds, 2),
        "unhealthy": list(report.unhealthy),
        "cases": [_ran_values(ran) for ran in report.rans],
    }


def _ran_values(ran: Ran) -> Mapping[str, Any]:
    case = ran.case
    names: Callable[[Iterable[Layer]], Sequence[str]] = sorted
    return {
        "name": case.name,
        "kind": case.kind,
        "tries": case.tries,
        "without": names(case.without),
        "held_by": names(case.held_by),
        "expected": list(case.expected),
        "applicable": ran.applicable,
        "held": ran.held if ran.applicable else None,
        "ending": ran.ending,
        "reached": list(ran.reached),
        "happened": ran.happened,
        "seconds": round(ran.seconds, 3),
    }


def _where() -> dict[str, str]:
    try:
        own = version("worldcoder")
    except PackageNotFoundError:
        own = "(not installed)"
    return {
        "worldcoder": own,
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.release()}",
        "machine": platform.machine(),
    }
