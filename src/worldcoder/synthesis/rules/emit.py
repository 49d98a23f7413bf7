"""Write what was learned of the dynamics as a Python program."""

from __future__ import annotations

import keyword
import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from worldcoder.synthesis.rules.dynamics import CREATES, EXISTS, Dynamics, Target
from worldcoder.synthesis.rules.effects import DELETE, KEEP, UNKNOWN, Effect
from worldcoder.synthesis.rules.helpers import helper_text
from worldcoder.synthesis.rules.language import Literal, PlaceTerm
from worldcoder.synthesis.rules.lists import DecisionList, Rule
from worldcoder.synthesis.rules.scene import KIND, PLACE
from worldcoder.synthesis.rules.vocabulary import Look, Vector, Verb


def variable(kind: str) -> str:
    """A Python name for objects of a kind: "BlueDoor" gives blue_door."""
    words = re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z0-9]+", kind) or ["thing"]
    name = "_".join(words).lower()
    if not name.isidentifier() or keyword.iskeyword(name) or name in _TAKEN:
        name = f"the_{name}"
    return name if name.isidentifier() else "thing"


_TAKEN = {
    "state",
    "action",
    "step",
    "front",
    "beyond",
    "moved",
    "changed",
    "gone",
    "made",
    "obj",
    "reward",
    "place",
}


class Writer:
    """Turns terms, literals and effects into expressions, and remembers which helpers they need."""

    def __init__(self, avatar: str | None) -> None:
        self.avatar = avatar
        self.me = variable(avatar) if avatar else "None"
        self.this = self.me
        self.helpers: set[str] = set()
        self.movers: set[str] = set()
        self.places: set[str] = set()
        self.arguments: set[int] = set()
        self.singles: dict[str, str] = {}
        self.next_values: set[str] = set()

    def use(self, helper: str) -> str:
        self.helpers.add(helper)
        return helper

    def place(self, term: PlaceTerm) -> str:
        anchor, k = term
        if anchor == "off":
            return f"{self.use('beside')}({self.this}, {k[0]}, {k[1]})"
        obj = self.this if anchor == "self" else self.me
        if k == 0:
            return f"{self.use('place_of')}({obj})"
        if obj == self.me and k in (1, 2):
            self.use("ahead")
            name = "front" if k == 1 else "beyond"
            self.places.add(name)
            return name
        return f"{self.use('ahead')}({obj}, step{'' if k == 1 else f', {k}'})"

    def object(self, term: str) -> str:
        head, *path = term.split(".")
        if head == "self":
            code = self.this
        elif head == "me":
            code = self.me
        elif head.startswith("the:"):
            kind = head.removeprefix("the:")
            code = self.singles.setdefault(kind, f"the_{variable(kind).removeprefix('the_')}")
            self.use("only")
        else:
            self.arguments.add(int(head[3:]))
            self.use("argument")
            code = head
        for i, attribute in enumerate(path):
            code = (
                f"{code}.{attribute}"
                if i == 0 and head in ("self", "me")
                else f"{self.use('get')}({code}, {attribute!r})"
            )
        return code

    def value(self, term: str, attribute: str) -> str:
        if term in ("self", "me"):
            return f"{self.object(term)}.{attribute}"
        return f"{self.use('get')}({self.object(term)}, {attribute!r})"

    def _but(self, term: PlaceTerm) -> str:
        return f"{self.this}, {self.me}" if term == ("me", 0) and self.this != self.me else self.this

    def _others(self) -> str:
        return f"o is not {self.this}" + (f" and o is not {self.me}" if self.this != self.me else "")

    def literal(self, literal: Literal, mover: str | None) -> str:
        """An expression that is true where the literal is."""
        match literal:
            case ("action", name):
                return f"action.name == {name!r}"
            case ("heads",):
                return "step is not None"
            case ("heads not",):
                return "step is None"
            case ("here", term):
                return f"{self.use('place_of')}({self.this}) == {self.place(term)}"
            case (("free" | "blocked") as form, term, kind):
                self.movers.add(kind)
                passage = f"{self.use(form)}(state, {self.place(term)}, {kind!r}, {self._but(term)})"
                if term[0] == "off" or term[1] != 2 or kind == mover:
                    return passage
                pushed: PlaceTerm = (
                    term[0],
                    1,
                )  # what is asked is whether a thing one step before could go there
                return f"{self.use('things')}(state, {self.place(pushed)}, {kind!r}, {self._but(pushed)}) and {passage}"
            case ("outside", term):
                return f"{self.use('outside')}(state, {self.place(term)})"
            case ("empty", term):
                return f"{self.use('empty')}(state, {self.place(term)}, {self._but(term)})"
            case ("not empty", term):
                return f"{self.use('occupied')}(state, {self.place(term)}, {self._but(term)})"
            case ("at", term, kind):
                return f"{self.use('things')}(state, {self.place(term)}, {kind!r}, {self._but(term)})"
            case ("not at", term, kind):
                return f"{self.use('absent')}(state, {self.place(term)}, {kind!r}, {self._but(term)})"
            case (("at." | "not at.") as form, term, kind, attribute, value):
                sign = "==" if form == "at." else "!="
                found = f"{self.use('things')}(state, {self.place(term)}, {kind!r}, {self._but(term)})"
                return f"any(o.{attribute} {sign} {value!r} for o in {found})"
            case (("at=" | "not at=") as form, term, kind, attribute, other):
                than = self.object(other)
                found = (
                    f"{self.use('things')}(state, {self.place(term)}, {kind!r}, {self._but(term)}, {than})"
                )
                helper = self.use("alike" if form == "at=" else "unlike")
                return f"any({helper}(o, {than}, {attribute!r}) for o in {found})"
            case (("value" | "not value") as form, term, "place", None):
                return f"{self.value(term, 'x')} is {'' if form == 'value' else 'not '}None"
            case ("value", term, attribute, value):
                sign = "is" if value is None or isinstance(value, bool) else "=="
                return f"{self.value(term, attribute)} {sign} {value!r}"
            case ("not value", term, attribute, value):
                if term in ("self", "me"):
                    sign = "is not" if value is None else "!="
                    return f"{self.value(term, attribute)} {sign} {value!r}"
                return f"{self.use('differs')}({self.object(term)}, {attribute!r}, {value!r})"
            case (("least" | "most") as form, term, attribute, value):
                # "most" is true of values below the bound
                return f"{self.value(term, attribute)} {'>=' if form == 'least' else '<'} {value!r}"
            case ("kind", term, kind):
                return f"{self.value(term, 'kind')} == {kind!r}"
            case ("arg", term, value):
                return f"{self.object(term)} == {value!r}"
            case ("is", first, second):
                return f"{self.object(first)} is {self.object(second)}"
            case ("not is", first, second):
                return f"{self.use('distinct')}({self.object(first)}, {self.object(second)})"
            case (("same" | "not same") as form, first, second, attribute):
                helper = self.use("alike" if form == "same" else "unlike")
                return f"{helper}({self.object(first)}, {self.object(second)}, {attribute!r})"
            case (("any" | "none") as form, kind, attribute, value):
                return f"{'' if form == 'any' else 'not '}any(o.{attribute} == {value!r} for o in state.all({kind!r}))"
            case (("moves" | "stays") as form,):
                self.next_values.add(PLACE)
                return f"next_place {'!=' if form == 'moves' else '=='} {self.use('place_of')}({self.me})"
            case ("becomes", attribute):
                self.next_values.add(attribute)
                return f"next_{attribute} is {self.this}"
            case ("with", term):
                return f"{self.use('together')}({self.me}, {self.object(term)})"
            case ("beside", term):
                return f"{self.use('near')}({self.me}, {self.object(term)})"
            case ("apart", term):
                return f"{self.use('apart')}({self.me}, {self.object(term)})"
            case ("near",):
                return f"{self.use('near')}({self.me}, {self.this})"
        raise AssertionError(literal)

    def effect(self, attribute: str, effect: Effect, mover: str | None) -> str:
        """An expression for the new value of an attribute."""
        old = f"{self.use('place_of')}({self.this})" if attribute == PLACE else f"{self.this}.{attribute}"
        match effect:
            case ("set", value):
                return repr(value)
            case ("add", amount):
                return f"{old} {'-' if amount < 0 else '+'} {abs(amount)!r}"
            case ("turn", k, n):
                return f"({old} {'-' if k < 0 else '+'} {abs(k)}) % {n}"
            case ("flip",):
                return f"not {old}"
            case ("copy", term, other):
                return self.value(term, other)
            case ("object", term):
                return self.object(term)
            case ("object at", term):
                found = f"[o for o in state.at(*{self.place(term)}) if {self._others()}]"
                return f"{self.use('the_one')}({found}, {old})"
            case ("kind at", term, kind):
                found = f"{self.use('things')}(state, {self.place(term)}, {kind!r}, {self._but(('me', 0))})"
                return f"{self.use('first')}({found}, {old})"
            case ("place", None):
                return "(None, None)"
            case ("place", ("me next", k)):
                self.next_values.add(PLACE)
                if not k:
                    return "next_place"
                return "(next_place[0] + step[0], next_place[1] + step[1])"
            case ("place", term):
                return f"{self.place(term)} or {old}"
            case ("place of", term):
                self.use("place_of")
                return f"place_of({self.object(term)})"
            case ("partner", kind, term):
                return f"{self.use('partner')}(state, {kind!r}, {self.place(term)}) or {old}"
            case ("slide",):
                if mover:
                    self.movers.add(mover)
                return f"{self.use('slide')}(state, {self.this}, step)"
        raise AssertionError(effect)


def emit_transition(
    dynamics: Dynamics,
    chosen: dict[Any, DecisionList] | None = None,
    *,
    passages: Collection[tuple[str, Look]] = (),
) -> str:
    """The transition program that says what the dynamics learned.

    chosen: for some targets, another list of the ensemble than the cheapest.
    passages: pairs of a mover and what it is supposed to pass, though that was not seen.
    """
    vocabulary = dynamics.vocabulary
    writer = Writer(vocabulary.avatar)
    lists = {key: (chosen or {}).get(key, target.lists[0]) for key, target in dynamics.targets.items()}
    mine = [
        key for key in lists if vocabulary.avatar and (key[0] == (vocabulary.avatar,) or key[1] == CREATES)
    ]
    others = [key for key in lists if key not in mine and key[1] != CREATES]
    other_sections = [_section(dynamics, writer, dynamics.targets[key], lists[key]) for key in others]
    my_sections = [_section(dynamics, writer, dynamics.targets[key], lists[key], mine=True) for key in mine]
    body = [line for section in (*my_sections, *other_sections) for line in section]
    return _assemble(dynamics, writer, body, {*dynamics.vocabulary.together, *passages})


def _section(
    dynamics: Dynamics, writer: Writer, target: Target, decisions: DecisionList, *, mine: bool = False
) -> list[str]:
    """The lines for one target; none where nothing ever changes."""
    rules = list(decisions.rules)
    needs_variable = mine and target.attribute in writer.next_values
    if all(rule.effect in (KEEP, UNKNOWN) for rule in rules) and not needs_variable:
        return []
    counts = _evidence(target, decisions)
    what = {
        PLACE: "where it is next",
        EXISTS: "whether it goes on to exist",
        CREATES: "whether one appears",
    }.get(target.attribute, f"its next {target.attribute}")
    lines = [f"# {', '.join(target.pool)}: {what}"]
    indent = ""
    mover = target.pool[0] if len(target.pool) == 1 else None
    if mine:
        writer.this = writer.me
        mover = writer.avatar
    else:
        writer.this = variable(target.pool[0]) if mover else "obj"
        if writer.this == writer.me:
            writer.this = "other"
        writer.movers.update(target.pool if any(rule.effect == ("slide",) for rule in rules) else ())
        if mover:
            lines.append(f"for {writer.this} in state.all({mover!r}):")
        else:
            lines.append(f"for obj in ({', '.join(f'*state.all({k!r})' for k in target.pool)}):")
        indent = "    "
    if needs_variable:
        old = (
            f"{writer.use('place_of')}({writer.me})"
            if target.attribute == PLACE
            else f"{writer.me}.{target.attribute}"
        )
        lines.append(f"next_{target.attribute} = {old}")
    word = "if"
    for rule, count in zip(rules, counts, strict=True):
        # literals met last are often the farthest; the order of their bits is kept, so that text is stable
        conditions = [writer.literal(lit, mover) for lit in dynamics.literals.of(rule.condition)]
        last = not conditions
        if last and rule.effect in (KEEP, UNKNOWN):
            break
        statement = _statement(writer, target, rule, mover, needs_variable=needs_variable)
        seen = f"  # seen in {count} transition{'s' if count != 1 else ''}"
        if last and word == "if":
            lines.append(f"{indent}{statement}{seen}")
        elif last:
            lines += [f"{indent}else:", f"{indent}    {statement}{seen}"]
        else:
            lines += [f"{indent}{word} {_join(conditions)}:", f"{indent}    {statement}{seen}"]
        word = "elif"
    return lines


def _join(conditions: Sequence[str]) -> str:
    return " and ".join(conditions)


def _statement(writer: Writer, target: Target, rule: Rule, mover: str | None, *, needs_variable: bool) -> str:
    effect, attribute = rule.effect, target.attribute
    if attribute == CREATES and effect != KEEP:
        _, term, rest = effect
        values = ", ".join(f"{a!r}: {v!r}" for a, v in rest)
        place = "None" if term is None else writer.place(term)
        return f"made.append(({target.pool[0]!r}, {place}, {{{values}}}))"
    if effect in (KEEP, UNKNOWN):
        return "pass"
    if effect == DELETE:
        return f"gone.append({writer.this})"
    value = writer.effect(attribute, effect, mover)
    if needs_variable:
        return f"next_{attribute} = {value}"
    if attribute == PLACE:
        return f"moved.append(({writer.this}, {value}))"
    return f"changed.append(({writer.this}, {attribute!r}, {value}))"


def _evidence(target: Target, decisions: DecisionList) -> list[int]:
    """How many transitions each rule decided."""
    counts = dict.fromkeys(decisions.rules, 0)
    for row in target.rows.by_mask.values():
        counts[decisions.rule(row.mask)] += row.count
    return [counts[rule] for rule in decisions.rules]


def _assemble(dynamics: Dynamics, writer: Writer, body: list[str], together: set[tuple[str, Look]]) -> str:
    vocabulary = dynamics.vocabulary
    text = "\n".join(body)
    top: list[str] = []
    uses_step = "step" in text or writer.places
    if uses_step and vocabulary.facing:
        top.append(
            f"FACING = {table_text(vocabulary.facings)}  # where {vocabulary.avatar} heads, by its {vocabulary.facing}"
        )
    elif uses_step:
        top.append(f"STEPS = {steps_text(vocabulary.steps)[0]}  # where an action heads")
    if writer.helpers & {"free", "blocked", "slide"}:
        movers = sorted(writer.movers)
        shares = {mover: {look for kind, look in together if kind == mover} for mover in movers}
        looks: dict[str, tuple[str, ...]] = {}
        for kind, attribute in sorted(vocabulary.changing):
            if attribute not in (PLACE, KIND):
                looks[kind] = (*looks.get(kind, ()), attribute)
        top.append("# What was seen in one place with each; anything else stops it.")
        top.append("PASSABLE = {")
        top += [f"    {mover!r}: {_set(shares[mover])}," for mover in movers]
        top.append("}")
        top.append(f"LOOKS = {looks!r}  # attributes that count there")
    start = [
        "def transition(state, action):",
        f'    """What was learned from {len(dynamics.transitions)} transitions."""',
    ]
    if vocabulary.avatar and (writer.me in text or uses_step):
        writer.use("only")
        start += [
            f"    {writer.me} = only(state, {vocabulary.avatar!r})",
            f"    if {writer.me} is None:",
            "        return state",
        ]
    if uses_step:
        source = (
            f"FACING.get({writer.me}.{vocabulary.facing})"
            if vocabulary.facing
            else steps_text(vocabulary.steps)[1]
        )
        start.append(f"    step = {source}")
    for name in sorted(writer.places, reverse=True):
        start.append(f"    {name} = ahead({writer.me}, step{'' if name == 'front' else ', 2'})")
    for index in sorted(writer.arguments):
        start.append(f"    arg{index} = argument(state, action, {index})")
    for kind, name in writer.singles.items():
        start.append(f"    {name} = only(state, {kind!r})")
    used = [name for name in ("moved", "changed", "gone", "made") if f"{name}.append" in text]
    next_lines = [f"    {_next_write(writer, attribute)}" for attribute in sorted(writer.next_values)]
    start += [f"    {name} = []" for name in used]
    end = {
        "moved": ["    for obj, place in moved:", "        obj.x, obj.y = place"],
        "changed": ["    for obj, attribute, value in changed:", "        setattr(obj, attribute, value)"],
        "gone": ["    for obj in gone:", "        state.remove(obj)"],
        "made": [
            "    for kind, place, values in made:",
            "        where = {} if place is None else {'x': place[0], 'y': place[1]}",
            "        state.add(kind, **where, **values)",
        ],
    }
    function = [*start, *(f"    {line}" for line in body), *next_lines]
    for name in used:
        function += end[name]
    function.append("    return state")
    constants = "\n".join(top) + "\n" if top else ""
    helpers = helper_text(writer.helpers)
    return "\n\n".join(part for part in (constants, helpers, "\n".join(function) + "\n") if part).lstrip("\n")


def _next_write(writer: Writer, attribute: str) -> str:
    if attribute == PLACE:
        return f"{writer.me}.x, {writer.me}.y = next_place"
    return f"{writer.me}.{attribute} = next_{attribute}"


def table_text(table: Mapping[Any, Any]) -> str:
    """A dict in a fixed order."""
    rows = sorted(table.items(), key=lambda item: repr(item[0]))
    return "{" + ", ".join(f"{key!r}: {value!r}" for key, value in rows) + "}"


def steps_text(steps: Mapping[Verb, Vector]) -> tuple[str, str]:
    """The table of where actions head, and the expression that looks an action up in it."""
    if all(isinstance(verb, str) for verb in steps):
        return table_text(steps), "STEPS.get(action.name)"
    keys = {(verb,) if isinstance(verb, str) else verb: vector for verb, vector in steps.items()}
    return table_text(keys), "STEPS.get((action.name, *action.args))"


def _set(values: set[tuple[Any, ...]]) -> str:
    return "{" + ", ".join(repr(v) for v in sorted(values, key=repr)) + "}" if values else "set()"
