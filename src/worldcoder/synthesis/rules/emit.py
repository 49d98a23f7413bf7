"""Write what was learned of the dynamics as a Python program."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from worldcoder.synthesis.rules.dynamics import Dynamics
from worldcoder.synthesis.rules.effects import DELETE, KEEP, UNKNOWN
from worldcoder.synthesis.rules.expressions import (
    Writer,
    in_one_line,
    next_variable,
    read,
    seen_in,
    variable,
)
from worldcoder.synthesis.rules.gaps import gaps
from worldcoder.synthesis.rules.helpers import helper_text
from worldcoder.synthesis.rules.lists import DecisionList, Rule
from worldcoder.synthesis.rules.scene import KIND, PLACE
from worldcoder.synthesis.rules.statistics import Verb
from worldcoder.synthesis.rules.tables import (
    heading_attribute,
    step_code,
    step_tables,
    table_text,
)
from worldcoder.synthesis.rules.targets import CREATES, EXISTS, Target, TargetKey, created
from worldcoder.synthesis.rules.vocabulary import Look, Vocabulary
from worldcoder.synthesis.rules.votes import MARK, vote_lines


def emit_transition(
    dynamics: Dynamics,
    chosen: dict[Any, DecisionList] | None = None,
    *,
    passages: Collection[tuple[str, Look]] = (),
    votes: bool = False,
) -> str:
    """The transition program that says what the dynamics learned.

    chosen: for some targets, another list of the ensemble than the cheapest.
    passages: pairs of a mover and what it is supposed to pass, though that was not seen.
    votes: whether it marks the steps that the lists dispute (`votes.py`).
    """
    lists = {key: (chosen or {}).get(key, target.lists[0]) for key, target in dynamics.targets.items()}
    blocks: list[Block] = []
    for phase in dynamics.phases:
        writer = Writer(dynamics.vocabulary, after=blocks[-1].writer if blocks else None)
        body = _phase(dynamics, writer, lists, phase, votes=votes)
        if body or not blocks:
            blocks.append(Block(writer, body))
    return assemble(dynamics, blocks, {*dynamics.vocabulary.together, *passages})


@dataclass(frozen=True)
class Block:
    """The lines of one phase, and the writer who knows what they use."""

    writer: Writer
    body: list[str]


def _phase(
    dynamics: Dynamics, writer: Writer, lists: Mapping[TargetKey, DecisionList], phase: float, *, votes: bool
) -> list[str]:
    """The lines of one phase, those about the avatar first."""
    keys = [key for key in lists if dynamics.targets[key].phase == phase]
    avatar = dynamics.vocabulary.avatar
    mine = [key for key in keys if avatar and (key[0] == (avatar,) or key[1] == CREATES)]
    others = [key for key in keys if key not in mine and key[1] != CREATES]
    # the others first, for they tell which of the avatar's next values are asked for
    targets = dynamics.targets
    other_sections = [_section(dynamics, writer, targets[key], lists[key], votes=votes) for key in others]
    my_sections = [
        _section(dynamics, writer, targets[key], lists[key], mine=True, votes=votes) for key in mine
    ]
    return [line for section in (*my_sections, *other_sections) for line in section]


def _section(
    dynamics: Dynamics,
    writer: Writer,
    target: Target,
    decisions: DecisionList,
    *,
    mine: bool = False,
    votes: bool = False,
) -> list[str]:
    """The lines for one target; none where nothing ever changes."""
    rules = list(decisions.rules)
    needs_variable = mine and target.attribute in writer.next_values
    nothing = all(rule.effect in (KEEP, UNKNOWN) for rule in rules) and not needs_variable
    if nothing and not votes:
        return []
    counts = _evidence(target, decisions)
    what = {
        PLACE: "where it is next",
        EXISTS: "whether it goes on to exist",
        CREATES: "whether one appears",
    }.get(target.attribute, f"its next {target.attribute}")
    if target.attribute != CREATES and created(target) is not None:
        what = f"whether {created(target)} appears there"
    lines = [f"# {in_one_line(', '.join(target.pool))}: {in_one_line(what)}"]
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
        every = f"state.all({mover!r})"
        if not mover:
            every = f"({', '.join(f'*state.all({k!r})' for k in target.pool)})"
        drift = dynamics.vocabulary.drift(target.pool[0]) if target.in_turn else None
        if drift is not None:
            every = f"{writer.use('foremost')}({every}, {drift!r})"
        lines.append(f"for {writer.this} in {every}:")
        indent = "    "
    if votes:
        lines += [f"{indent}{line}" for line in vote_lines(dynamics, target, writer, mover)]
        if nothing:
            return lines if any(MARK in line for line in lines) else []
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
        seen = f"  # {count}"
        if last and word == "if":
            lines.append(f"{indent}{statement}{seen}")
        elif last:
            lines += [f"{indent}else:", f"{indent}    {statement}{seen}"]
        else:
            lines += [f"{indent}{word} {_join(conditions)}:", f"{indent}    {statement}{seen}"]
        word = "elif"
    return lines if mine else _with_onward(lines, writer.this)


def _with_onward(lines: list[str], this: str) -> list[str]:
    """The lines of a loop, with a variable for where the object heads if that is asked more than once."""
    onward = f"ahead({this}, way_of(state, action, {this}))"
    if sum(line.count(onward) for line in lines) < 2:
        return lines
    start = next(i for i, line in enumerate(lines) if line.startswith("for ")) + 1
    body = [line.replace(onward, "onward") for line in lines[start:]]
    return [*lines[:start], f"    onward = {onward}", *body]


def _join(conditions: Sequence[str]) -> str:
    return " and ".join(conditions)


def _statement(writer: Writer, target: Target, rule: Rule, mover: str | None, *, needs_variable: bool) -> str:
    effect, attribute = rule.effect, target.attribute
    if effect in (KEEP, UNKNOWN):
        return "pass"
    if effect[0] == "create":
        _, term, rest = effect
        values = ", ".join(f"{a!r}: {writer.made(v)}" for a, v in rest)
        place = {None: "None", "nowhere": "(None, None)"}.get(term) or writer.place(term)
        return f"made.append(({created(target)!r}, {place}, {{{values}}}))"
    if effect == DELETE:
        return f"gone.append({writer.this})"
    value = writer.effect(attribute, effect, mover)
    if needs_variable:
        return f"{next_variable(attribute)} = {value}"
    if target.in_turn:
        return f"{writer.this}.x, {writer.this}.y = {value}"
    if attribute == PLACE:
        return f"moved.append(({writer.this}, {value}))"
    return f"changed.append(({writer.this}, {attribute!r}, {value}))"


def _evidence(target: Target, decisions: DecisionList) -> list[str]:
    """In how many transitions each rule came true, of those that it decided."""
    right, decided = dict.fromkeys(decisions.rules, 0), dict.fromkeys(decisions.rules, 0)
    for row in (*target.rows.by_mask.values(), *target.aside.by_mask.values()):
        rule = decisions.rule(row.mask)
        for side in row.sides:
            decided[rule] += len(side.transitions)
            right[rule] += len(side.transitions) if rule.effect in side.effects else 0
    return [seen_in(right[rule], decided[rule]) for rule in decisions.rules]


def assemble(dynamics: Dynamics, blocks: Sequence[Block], together: set[tuple[str, Look]]) -> str:
    """The program around its phases: the constants and helpers they use, and the writes at the end of each."""
    vocabulary, shared = dynamics.vocabulary, blocks[0].writer
    text = "\n".join(line for block in blocks for line in block.body)
    function = ["def transition(state, action):"]
    function.append(f'    """What was learned from {len(dynamics.transitions)} transitions."""')
    function += [f"    # {in_one_line(line)}." for line in gaps(dynamics)]
    if "origin" in text.replace("origin", " origin ").split():
        shared.use("spot")
        function += _find_avatar(shared)
        function.append(f"    origin = {shared.use('spot')}({shared.me})")
    known: set[str] = set()
    for i, block in enumerate(blocks):
        if i:
            function.append("    # Then, with all that has happened:")
        function += _block(vocabulary, block, known)
    if "made.append" in text:
        at = next(
            (i for i, line in enumerate(function) if i > 1 and not line.startswith("    #")), len(function)
        )
        function.insert(at, "    made = []")
        function += [
            "    for kind, place, values in made:",
            "        where = {} if place is None else {'x': place[0], 'y': place[1]}",
            "        state.add(kind, **where, **values)",
        ]
    function.append("    return state")
    text = "\n".join(function)
    helpers = helper_text(shared.helpers, goes_round=bool(vocabulary.rounds))
    top = _constants(vocabulary, shared, text, helpers, together)
    constants = "\n".join(top) + "\n" if top else ""
    heading = _heading(vocabulary) if "way_of(state, action, " in text + helpers else ""
    return "\n\n".join(
        part for part in (constants, helpers, heading, "\n".join(function) + "\n") if part
    ).lstrip("\n")


def _block(vocabulary: Vocabulary, block: Block, known: set[str]) -> list[str]:
    """The lines of one phase with what they need before, and what they change.

    known: the lines before of earlier phases that need not be said again; what stays so is added.
    """
    writer, body = block.writer, block.body
    text = "\n".join(body)
    uses_step = bool(re.search(r"\bstep\b", text)) or bool(writer.places)
    lines: list[str] = []
    if vocabulary.avatar and (writer.me in text or uses_step or writer.links):
        lines += _find_avatar(writer)
    if uses_step:
        lines.append(
            f"    step = {step_code(vocabulary, read(writer.me, heading_attribute(vocabulary) or ''))}"
        )
    for name in sorted(writer.places, reverse=True):
        lines.append(f"    {name} = ahead({writer.me}, step{'' if name == 'front' else ', 2'})")
    for index in sorted(writer.arguments):
        lines.append(f"    arg{index} = argument(state, action, {index})")
    for kind, name in writer.singles.items():
        lines.append(f"    {name} = only(state, {kind!r})")
    lines = [line for line in lines if line not in known]
    lasting = _lasting(vocabulary, block, [*known, *lines])
    known.clear()
    known.update(lasting)
    lines += [f"    {name} = {code}" for name, code in writer.links.values()]
    used = [name for name in ("moved", "changed", "gone") if f"{name}.append" in text]
    lines += [f"    {name} = []" for name in used]
    lines += [f"    {line}" for line in body]
    lines += [f"    {_next_write(writer, attribute)}" for attribute in sorted(writer.next_values)]
    for name in used:
        lines += _WRITES[name]
    return lines


def _lasting(vocabulary: Vocabulary, block: Block, lines: Sequence[str]) -> list[str]:
    """Those of the lines at the beginning of a phase, and of those before, that still say the same after it."""
    writer, text = block.writer, "\n".join(block.body)
    if vocabulary.vanishing or any(attribute == KIND for _, attribute in vocabulary.changing):
        return []
    moves = f"moved.append(({writer.me}, " in text or PLACE in writer.next_values
    turns = heading_attribute(vocabulary) is not None
    unsure = ["step =", "front =", "beyond ="] if turns else ["front =", "beyond ="] if moves else []
    return [line for line in lines if not line.strip().startswith(tuple(unsure))]


_WRITES = {
    "moved": ["    for obj, place in moved:", "        obj.x, obj.y = place"],
    "changed": ["    for obj, attribute, value in changed:", "        setattr(obj, attribute, value)"],
    "gone": ["    for obj in gone:", "        state.remove(obj)"],
}


def _find_avatar(writer: Writer) -> list[str]:
    return [
        f"    {writer.me} = {writer.use('only')}(state, {writer.avatar!r})",
        f"    if {writer.me} is None:",
        "        return state",
    ]


def _constants(
    vocabulary: Vocabulary, writer: Writer, text: str, helpers: str, together: set[tuple[str, Look]]
) -> list[str]:
    """The tables at the top."""
    top = step_tables(vocabulary, text)
    if "ROUND" in helpers:
        top.append(f"ROUND = {vocabulary.rounds!r}  # who comes in again on the other side, along x, along y")
    if "FRAME" in text + helpers:
        top.append(f"FRAME = {vocabulary.frame!r}  # least x and y, greatest x and y of any place seen")
    if "PUSHED" in helpers:
        top.append(
            f"PUSHED = {_set({(kind,) for kind in vocabulary.pushed}, flat=True)}  # moves when pushed"
        )
    movers = sorted(writer.movers)
    if "PASSABLE" in helpers:
        shares = {mover: {look for kind, look in together if kind == mover} for mover in movers}
        top.append("# What was seen in one place with each; anything else stops it.")
        top.append("PASSABLE = {")
        top += [f"    {mover!r}: {_set(shares[mover])}," for mover in movers]
        top.append("}")
    if "STOPS" in helpers:
        stops = set().union(*(vocabulary.stops(mover) for mover in movers if vocabulary.slides(mover)))
        top.append(f"STOPS = {_set(stops)}  # what ends a slide")
    if "LOOKS" in helpers:
        looks: dict[str, tuple[str, ...]] = {}
        for kind, attribute in sorted(vocabulary.changing):
            if attribute not in (PLACE, KIND):
                looks[kind] = (*looks.get(kind, ()), attribute)
        top.append(f"LOOKS = {looks!r}  # attributes that count there")
    return top


def _heading(vocabulary: Vocabulary) -> str:
    """The function that says where things head by themselves."""
    lines = [
        "def way_of(state, action, obj):",
        '    """Where an object heads by itself; None where it does not."""',
    ]
    for kind, heading in vocabulary.headings.items():
        lines.append(f"    if obj.kind == {kind!r}:")
        match heading.source:
            case ("own", attribute):
                lines.append(f"        return {table_text(heading.table)}.get({read('obj', attribute)})")
            case ("of", reference, attribute):
                value = f"getattr({read('obj', reference)}, {attribute!r}, None)"
                lines.append(f"        return {table_text(heading.table)}.get({value})")
            case ("under", other, attribute):
                lines.append(
                    f"        under = state.at(obj.x, obj.y, {other!r}) if obj.x is not None else []"
                )
                value = read("under[0]", attribute)
                lines.append(f"        return {table_text(heading.table)}.get({value}) if under else None")
            case ("action",):
                table = _by_words(heading.table)
                lines.append(f"        return {table_text(table)}.get({_words(vocabulary, table)})")
            case (_, attribute):
                words = _by_words(dict.fromkeys(verb for verb, _ in heading.table))
                tuples = not any(isinstance(verb, str) for verb in words)
                keyed = {
                    ((v,) if tuples and isinstance(v, str) else v, value): vector
                    for (v, value), vector in heading.table.items()
                }
                verb = _words(vocabulary, words)
                lines.append(f"        return {table_text(keyed)}.get(({verb}, {read('obj', attribute)}))")
    return "\n".join([*lines, "    return None", ""])


def _by_words(table: Mapping[Verb, Any]) -> dict[Verb, Any]:
    """The same by tuples, unless all actions are mere names."""
    if all(isinstance(verb, str) for verb in table):
        return dict(table)
    return {(verb,) if isinstance(verb, str) else verb: value for verb, value in table.items()}


def _words(vocabulary: Vocabulary, table: Mapping[Any, Any]) -> str:
    """The expression for what an action is called, without the objects that it names."""
    if all(isinstance(verb, str) for verb in table):
        return "action.name"
    if not vocabulary.with_objects:
        return "(action.name, *action.args)"
    return "(action.name, *(a for a in action.args if state.named(a) is None))"


def _next_write(writer: Writer, attribute: str) -> str:
    if attribute == PLACE:
        return f"{writer.me}.x, {writer.me}.y = next_place"
    if read("", attribute).startswith("."):
        return f"{writer.me}.{attribute} = {next_variable(attribute)}"
    return f"setattr({writer.me}, {attribute!r}, {next_variable(attribute)})"


def _set(values: set[tuple[Any, ...]], *, flat: bool = False) -> str:
    """flat: of tuples of one, what is in them."""
    items = [repr(v[0] if flat else v) for v in sorted(values, key=repr)]
    return "{" + ", ".join(items) + "}" if values else "set()"
