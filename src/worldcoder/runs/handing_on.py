"""What a run begins with, where something was learned before: is it fit for this world, and where is it recorded?"""

from __future__ import annotations

from collections.abc import Sequence

from worldcoder.errors import ModelFormatError, ProgramError
from worldcoder.programs import Knowledge, Runner
from worldcoder.runs.reader import RunReader
from worldcoder.world.values import Action, State


def check_world(
    known: Knowledge, named: str, environment: str, state: State, actions: Sequence[Action], advice: str
) -> None:
    """See that what is known is about worlds of this kind. Raises ModelFormatError, with advice, where it is not."""
    different = known.foreign(state, actions)
    if different is not None:
        worlds = ", ".join(known.worlds)
        raise ModelFormatError(
            f"{named} is of another world ({worlds}) than {environment}: {different}; {advice}"
        )


def check_known(
    known: Knowledge, named: str, environment: str, state: State, actions: Sequence[Action], runner: Runner
) -> None:
    """See that a run in a world can go on with what is known.

    Raises ModelFormatError for what was learned in a world of another kind, ProgramError for programs that do not
    load.
    """
    check_world(known, named, environment, state, actions, "learn without it")
    if known.model is not None:
        try:
            runner.load(known.model.transition, *known.model.rewards.values())
        except ProgramError as error:
            raise ProgramError(f"{named} cannot be gone on with: {error}; repair it", error.failing) from None


def known_of(reader: RunReader) -> tuple[Knowledge | None, str | None]:
    """What a recorded run began with, and how that was named."""
    recorded = reader.meta("known")
    return None if recorded is None else Knowledge.from_json(recorded), reader.meta("from")
