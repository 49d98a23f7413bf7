"""The errors of worldcoder, one tree.

    WorldcoderError
    ├── ValueFormError        a state, object or action that is not well formed
    ├── WorldError            an environment that is unknown, cannot be built or breaks its contract
    │   ├── UnknownEnvironment
    │   └── LevelFormatError  a level file that cannot be read: says the line
    ├── ProgramError          a program that does not load or fails when it runs
    ├── ModelFormatError      a saved model that cannot be read
    ├── SandboxError          programs cannot be run safely here, or the sandbox itself broke
    ├── LLMError              a language model cannot be asked, or its answer is of no use
    │   └── BudgetReached     what may be spent on it is spent: says which limit
    ├── RunError              a run directory that cannot be written, read or resumed
    └── UsageError            arguments of a command that do not fit

Every message says what was got, what was expected and what to do. The command line prints the message on
one line; a traceback comes only with `--debug`.
"""

from __future__ import annotations

from typing import ClassVar, Literal

Failing = Literal["error", "timeout", "memory", "crash", "flood", "garbage", "impure"]
"""How a program fails in a call: it raises; takes too long; takes too much memory; ends its interpreter; writes
or answers what it should not; or says another thing than it said of the same before."""


Limited = Literal["calls", "tokens", "usd", "seconds"]
"""What a budget for a language model limits."""


class WorldcoderError(Exception):
    """The root: catch this to catch everything worldcoder raises on purpose."""


class ValueFormError(WorldcoderError, ValueError):
    """A state, object, action or goal that is not well formed."""


class WorldError(WorldcoderError):
    """An environment that cannot be built or that breaks its contract."""


class UnknownEnvironment(WorldError, LookupError):
    """No environment has this name."""


class LevelFormatError(WorldError, ValueError):
    """A level file that cannot be read; the message names the line."""


class ProgramError(WorldcoderError):
    """A program that does not load, or that fails when it runs.

    failing: how, in one word.
    """

    def __init__(self, message: str, failing: Failing = "error") -> None:
        super().__init__(message)
        self.failing = failing


class ModelFormatError(WorldcoderError):
    """A saved model that cannot be read."""


class SandboxError(WorldcoderError):
    """Programs cannot be run safely here, or the sandbox itself broke."""


class LLMError(WorldcoderError):
    """A language model cannot be asked, or its answer is of no use; see `worldcoder.llm` for the kinds.

    lasting: whether the next request would fare no better, so that there is no point in asking on.
    spent: what was spent on it all the same, a `worldcoder.llm.Spent`; None for nothing.
    """

    lasting: ClassVar[bool] = True
    spent: object = None


class BudgetReached(LLMError):
    """What may be spent on a language model is spent: no reason to fail, but to end in order.

    which: the limit that was reached.
    """

    def __init__(self, message: str, which: Limited = "calls") -> None:
        super().__init__(message)
        self.which = which


class RunError(WorldcoderError):
    """A run directory that cannot be written, read or resumed."""


class UsageError(WorldcoderError):
    """Arguments that do not fit the command."""
