"""Write what was learned of the dynamics as a Python program."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from worldcoder.synthesis.rules.dynamics import CREATES, EXISTS, Dynamics, Target
from worldcoder.synthesis.rules.effects import DELETE, KEEP, UNKNOWN
from worldcoder.synthesis.rules.expressions import Writer, next_variable, read, variable
from worldcoder.synthesis.rules.helpers import helper_text
from worldcoder.synthesis.rules.lists import DecisionList, Rule
from worldcoder.synthesis.rules.scene import KIND, PLACE
from worldcoder.synthesis.rules.vocabulary import Look, Vector, Verb


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
    return assemble(dynamics, writer, body, {*dynamics.vocabulary.together, *passages})


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
            else read(writer.me, target.attribute)
        )
        lines.append(f"{next_variable(target.attribute)} = {old}")
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
        return f"{next_variable(attribute)} = {value}"
    if attribute == PLACE:
        return f"moved.append(({writer.this}, {value}))"
    return f"changed.append(({writer.this}, {attribute!r}, {value}))"


def _evidence(target: Target, decisions: DecisionList) -> list[int]:
    """How many transitions each rule decided."""
    counts = dict.fromkeys(decisions.rules, 0)
    for row in target.rows.by_mask.values():
        counts[decisions.rule(row.mask)] += row.count
    return [counts[rule] for rule in decisions.rules]


def assemble(dynamics: Dynamics, writer: Writer, body: list[str], together: set[tuple[str, Look]]) -> str:
    """The program around a body: the constants, helpers and variables that it uses, and the writes at the end."""
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
    if "FRAME" in text:
        top.append(f"FRAME = {vocabulary.frame!r}  # least x and y, greatest x and y of any place seen")
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
    if read("", attribute).startswith("."):
        return f"{writer.me}.{attribute} = {next_variable(attribute)}"
    return f"setattr({writer.me}, {attribute!r}, {next_variable(attribute)})"


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
