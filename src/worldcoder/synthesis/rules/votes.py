"""Where the hypotheses disagree, as a program: it does what the best ones say, and marks the steps they dispute.

The searches for plans run it, so that what the hypotheses dispute is found as far away as any goal is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from worldcoder.synthesis.rules.effects import DELETE, KEEP, UNKNOWN, Effect
from worldcoder.synthesis.rules.expressions import Writer, read
from worldcoder.synthesis.rules.lists import DecisionList, Literals, bits
from worldcoder.synthesis.rules.scene import PLACE
from worldcoder.synthesis.rules.targets import EXISTS, Target, is_event

if TYPE_CHECKING:
    from worldcoder.synthesis.rules.dynamics import Dynamics

REWARD = """

known = reward


def reward(state, action, next_state):
    \"\"\"Whether the step is disputed; what ends the episode is as known.\"\"\"
    if next_state.all({mark!r}):
        return 1.0, True
    return 0.0, known(state, action, next_state)[1]
"""
"""What a reward program goes on with that is to reward what is disputed."""
MARK = "worldcoder: disputed"
"""The kind of what appears in a step that is disputed."""
_MOST_LITERALS = 60
"""Of the literals of an ensemble: what the dearer lists say with more is left out."""


def vote_lines(dynamics: Dynamics, target: Target, writer: Writer, mover: str | None) -> list[str]:
    """The lines that mark the step if the lists of a target say different things of `writer.this`; none if they cannot.

    Each literal is looked at once, then each list names the effect that it chooses.
    """
    literals = dynamics.literals
    used, lists = 0, []
    for one in target.lists:
        if not _next_values(one, literals) <= _predicted(dynamics, target):
            continue
        more = used
        for rule in one.rules:
            more |= rule.condition
        if more.bit_count() <= _MOST_LITERALS:
            used = more
            lists.append(one)
    number: dict[Effect, int] = {}
    chains: dict[str, None] = {}
    names = {literal: f"is_{i}" for i, literal in enumerate(bits(used))}
    for one in lists:
        chain = ""
        for rule in one.rules:
            effect = KEEP if rule.effect == UNKNOWN else rule.effect
            chosen = str(number.setdefault(effect, len(number)))
            if not rule.condition:
                chain += chosen
                break
            chain += f"{chosen} if {' and '.join(names[i] for i in bits(rule.condition))} else "
        chains.setdefault(chain)
    if len(chains) < 2 or len(number) < 2:
        return []
    writer.careful = True  # a rule asks only where what comes before it holds
    tests = [f"{name} = {writer.literal(literals.all[i], mover)}" for i, name in names.items()]
    values = [f"({n}, lambda: {_value(target, effect, writer, mover)})" for effect, n in number.items()]
    writer.careful = False
    return [
        *tests,
        f"votes = {{{', '.join(chains)}}}",
        f"if len(votes) > 1 and {_near(dynamics, target, writer)}"
        f"{writer.use('differ')}(f() for n, f in ({', '.join(values)}) if n in votes):",
        f"    made.append(({MARK!r}, None, {{}}))",
    ]


def _near(dynamics: Dynamics, target: Target, writer: Writer) -> str:
    """What never changes far from the avatar is not disputed there."""
    vocabulary = dynamics.vocabulary
    free = tuple(kind for kind in target.pool if kind in vocabulary.autonomous)
    if (
        vocabulary.avatar is None
        or writer.this == writer.me
        or target.in_turn
        or len(free) == len(target.pool)
    ):
        return ""
    near = f"not {writer.use('far')}({writer.this}, {writer.me})"
    return f"({writer.this}.kind in {free!r} or {near}) and " if free else f"{near} and "


def _predicted(dynamics: Dynamics, target: Target) -> set[str]:
    """What is known of the avatar after the phase when a target is decided."""
    avatar = dynamics.vocabulary.avatar
    mine = [t for t in dynamics.targets.values() if t.pool == (avatar,) and target.pool != (avatar,)]
    return {t.attribute for t in mine if t.phase == target.phase and t.attribute != EXISTS}


def _next_values(decisions: DecisionList, literals: Literals) -> set[str]:
    """What a list asks of the avatar after the phase."""
    asked = set()
    for rule in decisions.rules:
        for literal in literals.of(rule.condition):
            if literal[0] in ("moves", "stays"):
                asked.add(PLACE)
            elif literal[0] == "becomes":
                asked.add(literal[1])
        if rule.effect[0] == "place" and rule.effect[1] is not None and rule.effect[1][0] == "me next":
            asked.add(PLACE)
    return asked


def _value(target: Target, effect: Effect, writer: Writer, mover: str | None) -> str:
    """What an effect makes, as something that can be compared."""
    if is_event(target.attribute):
        return repr(effect == DELETE) if target.attribute == EXISTS else repr(repr(effect))
    attribute = target.attribute
    old = f"{writer.use('place_of')}({writer.this})" if attribute == PLACE else read(writer.this, attribute)
    if effect == KEEP:
        return old
    value = writer.effect(attribute, effect, mover)
    # a rule says these only where they can be said; here they are said wherever another list says otherwise
    match effect:
        case ("place", ("me next", k)):
            there = "next_place[0] is not None" + (" and step is not None" if k else "")
            return f"{value} if {there} else {old}"
        case ("turn", _, _):
            return f"{value} if type({old}) is int else {old}"
    return value
