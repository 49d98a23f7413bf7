"""What is unclear about a goal before anything is done for it: said, so that nothing is guessed in silence."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from worldcoder.synthesis.rules.guesses import words
from worldcoder.world.values import Action, Goal, State, Transition

_FIND = "what is rewarded has to be found by trying"


def unclear(
    goal: Goal,
    start: State,
    actions: Sequence[Action],
    starts: Iterable[State] = (),
    transitions: Sequence[Transition] = (),
) -> str | None:
    """What a goal does not say, or says of what is not there, in a sentence; None where nothing is amiss.

    start, actions: of the episode under this goal. starts, transitions: all that was met so far, from which other
    kinds and values are known.
    """
    if not goal.strip():
        return f"the goal is empty: {_FIND}"
    said = words(goal)
    elsewhere = [*starts, *(transition.next_state for transition in transitions)]
    for kind in sorted(
        {o.kind for state in elsewhere for o in state.objects} - {o.kind for o in start.objects}
    ):
        if words(kind) <= said:
            return f'the goal "{goal}" speaks of {kind}, and there is none here'
    for kind, value in _absent(said, start, elsewhere, transitions):
        return f'the goal "{goal}" speaks of {kind} and of {value}, and there is no such {kind} here'
    if not said & set(_names([start, *elsewhere], actions)):
        return f'no word of the goal "{goal}" names anything here: {_FIND}'
    return None


def _names(states: Iterable[State], actions: Sequence[Action]) -> Iterator[str]:
    """The words of all kinds, textual values and actions."""
    names = {a.name for a in actions}
    for state in states:
        for o in state.objects:
            names |= {o.kind, *(v for v in o.attributes.values() if isinstance(v, str))}
    for name in names:
        yield from words(name)


def _absent(
    said: set[str], start: State, elsewhere: Sequence[State], transitions: Sequence[Transition]
) -> Iterator[tuple[str, str]]:
    """Things of a kind that is here, with a lasting value that was met elsewhere only."""
    for kind in sorted({o.kind for o in start.objects}):
        if not words(kind) <= said:
            continue
        here = set(_values(kind, start))
        for attribute, value in sorted({pair for state in elsewhere for pair in _values(kind, state)} - here):
            named_here = any(a == attribute and words(v) <= said for a, v in here)
            named = bool(words(value)) and words(value) <= said
            if named and not named_here and not _changes(kind, attribute, transitions):
                yield kind, value


def _values(kind: str, state: State) -> Iterator[tuple[str, str]]:
    for o in state.objects:
        if o.kind == kind:
            yield from ((a, v) for a, v in o.attributes.items() if isinstance(v, str))


def _changes(kind: str, attribute: str, transitions: Sequence[Transition]) -> bool:
    """Whether an attribute of a kind was ever seen to take another value."""

    def held(state: State) -> Counter[object]:
        return Counter(o.attributes.get(attribute) for o in state.objects if o.kind == kind)

    for t in transitions:
        before, after = held(t.state), held(t.next_state)
        if before - after and after - before:
            return True
    return False
