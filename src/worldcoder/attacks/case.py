"""What an attack is: a text of hostile code, what it tries, and what must come of it."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from enum import StrEnum
from textwrap import dedent

from worldcoder.sandbox import Failure, Layer


class Kind(StrEnum):
    """What an attack is after."""

    READS = "reading files"
    KEYS = "keys and expected outputs"
    NETWORK = "sending"
    WRITES = "changing files"
    KERNEL = "odd doors of the kernel"
    PROCESSES = "starting processes"
    OTHERS = "other processes"
    TIME = "taking all the time"
    LIMITS = "lifting its own limits"
    MEMORY = "taking all the memory"
    CRASHES = "crashing"
    REPLIES = "hostile replies"
    INSIDE = "the sandbox's own code"
    PROGRAMS = "programs of a proposer"


class Mode(StrEnum):
    """How a text is run: as it is, or as a program in one of the ways in which programs are run."""

    RAW = "raw"
    CHECK = "check"  # a transition program, held against transitions
    REWARD = "reward"  # a reward program, held against transitions
    REPLAY = "replay"  # the same as check, and once more in a new worker
    SECRET = "secret"  # held against a transition of which nobody can foresee the outcome
    PLAN = "plan"  # a transition program, to plan with


class Ending(StrEnum):
    """How a request can end, seen from outside."""

    HARMLESS = "harmless"  # the code got errors, and the worker answered
    LATE = "late"  # the tick ended the call, and the worker answered
    TIMEOUT = Failure.TIMEOUT.value
    MEMORY = Failure.MEMORY.value
    CRASH = Failure.CRASH.value
    FLOOD = Failure.FLOOD.value
    GARBAGE = Failure.GARBAGE.value
    KILLED = Failure.KILLED.value
    ERROR = "error"  # a program raised it, or returned what cannot be
    WRONG = "wrong"  # a program said another thing than what happened
    IMPURE = "impure"  # a program said another thing than before
    BROKEN = "broken"  # an exception in the parent that is no WorkerFailed: never right


@dataclass(frozen=True)
class Case:
    """One attack.

    source: the code that runs in the worker; it sets `result`, or calls `say`, where it reached something.
    expected: the endings that are right; anything that was reached is wrong whatever the ending.
    without: layers that are left off, so that a weaker layer behind a strong one is seen to hold by itself.
    held_by: the layers that stand before it, given `without`. Mostly each one of them is enough; with all of
        them off the attack gets through: the control. Empty where it fails by the way that Python or the
        protocol is made.
    abi: the version of Landlock from which on Landlock holds this.
    optional: not every kernel has what is attacked, so that the attack may fail everywhere.
    machine: the only machine that has it, as in platform.machine().
    system: the only system that has it, as in sys.platform.
    bystander: another worker is alive meanwhile, which knows a secret and must be well afterwards.
    then: a second text that the same worker runs afterwards.
    fresh: a text that a new worker runs afterwards; it must answer true.
    cpu_seconds: the worker's allowance of processor time, where the case is about that.
    mode: how the text is run.
    orphan: the parent is killed while the code runs; what is looked for is a worker that lives on.
    """

    name: str
    kind: Kind
    tries: str
    source: str
    expected: tuple[Ending, ...] = (Ending.HARMLESS,)
    without: frozenset[Layer] = frozenset()
    held_by: tuple[Layer, ...] = ()
    abi: int = 1
    optional: bool = False
    machine: str = ""
    system: str = ""
    bystander: bool = False
    then: str = ""
    fresh: str = ""
    cpu_seconds: int = 0
    mode: Mode = Mode.RAW
    orphan: bool = False


@dataclass(frozen=True)
class Ran:
    """What came of one attack.

    ending: how the request ended; None if it was not made.
    reached: what the attack reached, in words; empty is what is wanted.
    detail: one line: the error that the code got, or how the worker failed.
    missing: why the case says nothing on this machine; empty if it does.
    """

    case: Case
    off: frozenset[Layer]
    ending: Ending | None
    reached: tuple[str, ...] = ()
    detail: str = ""
    seconds: float = 0.0
    missing: str = ""

    @property
    def applicable(self) -> bool:
        """Whether the case says anything on this machine."""
        return not self.missing

    @property
    def held(self) -> bool:
        """Whether nothing was reached and the end was a right one."""
        return self.applicable and not self.reached and self.ending in self.case.expected

    @property
    def happened(self) -> str:
        """What happened, in one line."""
        if self.missing:
            return f"not applicable: {self.missing}"
        what = f"{self.ending or 'nothing'}: {self.detail}" if self.detail else str(self.ending or "nothing")
        return f"reached: {', '.join(self.reached)} ({what})" if self.reached else what


@dataclass
class Cases:
    """Collects the cases of one kind."""

    kind: Kind
    found: list[Case] = field(default_factory=list)

    def add(
        self,
        name: str,
        tries: str,
        source: str,
        *,
        expected: Ending | tuple[Ending, ...] = Ending.HARMLESS,
        without: Collection[Layer] = (),
        held_by: tuple[Layer, ...] = (),
        abi: int = 1,
        optional: bool = False,
        machine: str = "",
        system: str = "",
        bystander: bool = False,
        then: str = "",
        fresh: str = "",
        cpu_seconds: int = 0,
        mode: Mode = Mode.RAW,
        orphan: bool = False,
    ) -> None:
        """One more; the texts are dedented."""
        case = Case(
            name,
            self.kind,
            tries,
            dedent(source).strip() + "\n",
            expected if isinstance(expected, tuple) else (expected,),
            frozenset(without),
            held_by,
            abi,
            optional,
            machine,
            system,
            bystander,
            dedent(then).strip(),
            dedent(fresh).strip(),
            cpu_seconds,
            mode,
            orphan,
        )
        self.found.append(case)
