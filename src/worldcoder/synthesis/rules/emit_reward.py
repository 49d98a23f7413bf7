"""Write what was learned, or guessed, of a reward as a Python program."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from worldcoder.synthesis.rules.expressions import read, seen_in, variable
from worldcoder.synthesis.rules.guesses import Guess
from worldcoder.synthesis.rules.helpers import helper_text
from worldcoder.synthesis.rules.language import Literal
from worldcoder.synthesis.rules.lists import DecisionList, Rule
from worldcoder.synthesis.rules.rewards import Rewards
from worldcoder.synthesis.rules.tables import heading_attribute, step_code, step_tables
from worldcoder.synthesis.rules.vocabulary import Vocabulary
from worldcoder.world.values import Goal


class _Writer:
    def __init__(self, vocabulary: Vocabulary) -> None:
        self.avatar = vocabulary.avatar
        self.me = variable(vocabulary.avatar) if vocabulary.avatar else "None"
        self.was = f"{self.me}_before"
        self.helpers: set[str] = set()

    def use(self, helper: str) -> str:
        self.helpers.add(helper)
        return helper

    def change(self, kind: str, attribute: str) -> str:
        """How much the sum of an attribute has grown; 0 where there is nothing to add up before or after."""
        return f"{self.use('how_much_more')}(state, next_state, {kind!r}, {attribute!r})"

    def literal(self, literal: Literal) -> str:
        """An expression that is true where the literal is."""
        me = self.me
        match literal:
            case ("did", name):
                return f"action.name == {name!r}"
            case (("rose" | "fell") as form, kind, attribute):
                return f"{self.change(kind, attribute)} {'>' if form == 'rose' else '<'} 0"
            case ("changed by", kind, attribute, amount):
                return f"{self.change(kind, attribute)} == {amount!r}"
            case ("sum least", kind, attribute, amount):
                return f"{self.use('sum_of')}(next_state, {kind!r}, {attribute!r}) >= {amount!r}"
            case ("sum below", kind, attribute, amount):
                code = f"{self.use('sum_of')}(next_state, {kind!r}, {attribute!r}) < {amount!r}"
                return f"next_state.all({kind!r}) and {code}"
            case ("all enough", kind, attribute, other):
                test = f"{read('o', attribute)} >= {read('o', other)}"
                every = f"next_state.all({kind!r})"
                return f"{every} and all({test} for o in {every})"
            case (("more enough" | "fewer enough") as form, kind, attribute, other):
                rest = f"{kind!r}, {attribute!r}, {other!r})"
                sign = ">" if form == "more enough" else "<"
                return f"{self.use('enough')}(next_state, {rest} {sign} enough(state, {rest}"
            case ("refers", kind, attribute, target):
                return f"{self.use('referring')}(next_state, {kind!r}, {attribute!r}, {target!r}) > 0"
            case ("now refers", kind, attribute, target):
                rest = f"{kind!r}, {attribute!r}, {target!r})"
                return f"{self.use('referring')}(next_state, {rest} > referring(state, {rest}"
            case ("meets", kind, attribute, other, its):
                self.use("is_object")
                one, two = read("o", attribute), read("p", its)
                loops = f"for o in next_state.all({kind!r}) for p in next_state.all({other!r})"
                return f"any(is_object({one}) and {one} is {two} {loops})"
            case ("lacks", kind, attribute, other):
                code = f"{self.use('get')}({read('o', attribute)}, {other!r}) is None"
                return f"any({code} for o in next_state.all({kind!r}))"
            case (("some on same" | "all on same") as form, kind, other, attribute):
                matched = f"{self.use('matched')}(next_state, {kind!r}, {other!r}, {attribute!r})"
                if form == "some on same":
                    return f"{matched} > 0"
                return f"0 < {matched} == len(next_state.all({kind!r}))"
            case ("toward", kind):
                return f"{self.use('things')}(state, {self.use('ahead')}({self.was}, step_before), {kind!r})"
            case ("gone",):
                return f"{me} is None"
            case ("moved",):
                self.use("place_of")
                return f"place_of({me}) != place_of({self.was})"
            case ("was on", kind):
                return (
                    f"{self.use('things')}(state, {self.use('place_of')}({self.was}), {kind!r}, {self.was})"
                )
            case (("on" | "facing") as form, kind):
                return self._there(form, kind)
            case (("on." | "facing.") as form, kind, attribute, value):
                return f"any({read('o', attribute)} == {value!r} for o in {self._there(form[:-1], kind)})"
            case ("near", kind):
                return f"any({self.use('near')}({me}, o) for o in next_state.all({kind!r}))"
            case ("near.", kind, attribute, value):
                self.use("near")
                return f"any({read('o', attribute)} == {value!r} and near({me}, o) for o in next_state.all({kind!r}))"
            case ("around", kind):
                return f"any({self.use('touching')}({me}, o) for o in next_state.all({kind!r}))"
            case ("around.", kind, attribute, value):
                test = f"{read('o', attribute)} == {value!r}"
                return f"any({test} and {self.use('touching')}({me}, o) for o in next_state.all({kind!r}))"
            case (("put by" | "put around") as form, kind, other):
                return f"any({self._put(form)} {self._came(kind, other)})"
            case (("put by." | "put around.") as form, kind, attribute, value, other, its, its_value):
                tests = f"{read('o', attribute)} == {value!r} and {read('p', its)} == {its_value!r}"
                return f"any({tests} and {self._put(form[:-1])} {self._came(kind, other)})"
            case ("had", attribute):
                return f"{self.use('is_object')}({self.use('get')}({self.was}, {attribute!r}))"
            case ("holds", attribute):
                return f"{self.use('is_object')}({read(me, attribute)})"
            case ("holds kind", attribute, kind):
                return f"{self.use('get')}({read(me, attribute)}, 'kind') == {kind!r}"
            case ("holds.", attribute, kind, other, value):
                self.use("get")
                held = read(me, attribute)
                return f"get({held}, 'kind') == {kind!r} and get({held}, {other!r}) == {value!r}"
            case ("least", attribute, value):
                return f"{self.use('at_least')}({read(me, attribute)}, {value!r})"
            case ("most", attribute, value):
                return f"{self.use('below')}({read(me, attribute)}, {value!r})"
            case ("fewer", kind):
                return f"len(next_state.all({kind!r})) < len(state.all({kind!r}))"
            case ("more", kind):
                return f"len(next_state.all({kind!r})) > len(state.all({kind!r}))"
            case ("no", kind):
                return f"not next_state.all({kind!r})"
            case ("turned", kind, attribute, value):
                self.use("count")
                rest = f"{kind!r}, {attribute!r}, {value!r})"
                return f"count(next_state, {rest} > count(state, {rest}"
            case ("is", kind, attribute, value):
                return f"any({read('o', attribute)} == {value!r} for o in next_state.all({kind!r}))"
            case ("all", kind, attribute, value):
                every = f"next_state.all({kind!r})"
                return f"{every} and all({read('o', attribute)} == {value!r} for o in {every})"
            case ("some on", kind, other):
                return f"any(next_state.at(o.x, o.y, {other!r}) for o in next_state.all({kind!r}))"
            case ("all on" | "all under", kind, other):
                every = f"next_state.all({kind!r})"
                return f"{every} and all(next_state.at(o.x, o.y, {other!r}) for o in {every})"
            case (("more on" | "fewer on") as form, kind, other):
                self.use("count_on")
                sign = ">" if form == "more on" else "<"
                return (
                    f"count_on(next_state, {kind!r}, {other!r}) {sign} count_on(state, {kind!r}, {other!r})"
                )
        raise AssertionError(literal)

    def _put(self, form: str) -> str:
        return f"{self.use('near' if form == 'put by' else 'touching')}(o, p)"

    def _came(self, kind: str, other: str) -> str:
        came = f"{self.use('came')}(state, next_state, {kind!r})"
        return f"for o in {came} for p in next_state.all({other!r})"

    def _there(self, form: str, kind: str) -> str:
        self.use("things")
        if form == "on":
            return f"things(next_state, {self.use('place_of')}({self.me}), {kind!r}, {self.me})"
        return f"things(next_state, {self.use('ahead')}({self.me}, step), {kind!r}, {self.me})"


HELPERS = {
    "touching": '''
def touching(a, b):
    """Whether two different objects are one step from each other, aslant as well."""
    return a is not b and None not in (a.x, b.x) and max(abs(a.x - b.x), abs(a.y - b.y)) == 1
''',
    "came": '''
def came(state, next_state, kind):
    """The objects of a kind that are where none of it was before."""
    return [o for o in next_state.all(kind) if o.x is not None and not state.at(o.x, o.y, kind)]
''',
}
"""Functions that only reward programs are written with; see `helpers.py` for the others."""

_ABOUT_AVATAR = frozenset({
    "on", "on.", "facing", "facing.", "near", "near.", "around", "around.", "holds", "holds kind", "holds.", "least",
    "most", "moved",
})  # fmt: skip


def emit_reward(
    rewards: Rewards,
    vocabulary: Vocabulary,
    decisions: DecisionList,
    *guesses: Guess,
    like: Sequence[Goal] = (),
) -> str:
    """The reward program of one goal: what was seen of it and, before the goal was ever reached, guesses.

    like: other goals, whose rewards the decisions rest on as well.
    """
    writer = _Writer(vocabulary)
    may_lack = vocabulary.avatar is not None and vocabulary.avatar in vocabulary.vanishing
    counts, right = dict.fromkeys(decisions.rules, 0), dict.fromkeys(decisions.rules, 0)
    for mask, label in rewards.steps:
        rule = decisions.rule(mask)
        counts[rule] += 1
        right[rule] += label == rule.effect
    lines: list[str] = []
    # What is known to end in failure comes before a guess: it may be what the guess lacked.
    failures = [i for i, rule in enumerate(decisions.rules) if rule.condition and fails(rule)]
    guess_at = failures[-1] + 1 if failures else 0
    for i, rule in enumerate(decisions.rules):
        for guess in guesses if i == guess_at else ():
            lines += [
                "    # Not seen yet: a guess.",
                f"    if {_conditions(writer, guess.literals, may_lack)}:",
                "        return 1.0, True",
            ]
        literals = tuple(rewards.literals.of(rule.condition))
        if not all(_can_hold(vocabulary, literal) for literal in literals):
            continue  # of other goals, whose things have what these do not have
        _, reward, done = rule.effect
        seen = f"  # {seen_in(right[rule], counts[rule])}"
        if like and not counts[rule]:
            seen = f"  # as for {len(like)} other goal{'s' if len(like) != 1 else ''}"
        if literals:
            lines += [
                f"    if {_conditions(writer, literals, may_lack)}:",
                f"        return {reward!r}, {done!r}{seen}",
            ]
        else:
            lines.append(f"    return {reward!r}, {done!r}{seen}")
    text = "\n".join(lines)
    start = ["def reward(state, action, next_state):", f"    {_quoted(rewards.goal)}"]
    if writer.me in text and vocabulary.avatar:
        writer.use("only")
        start.append(f"    {writer.me} = only(next_state, {vocabulary.avatar!r})")
    if writer.was in text:
        start.append(f"    {writer.was} = only(state, {vocabulary.avatar!r})")
    by = heading_attribute(vocabulary) or ""
    if ", step)" in text:
        start.append(f"    step = {step_code(vocabulary, f'getattr({writer.me}, {by!r}, None)')}")
    if "step_before" in text:
        start.append(f"    step_before = {step_code(vocabulary, f'getattr({writer.was}, {by!r}, None)')}")
    top = step_tables(vocabulary, "\n".join(start))
    constants = "\n".join(top) + "\n" if top else ""
    function = "\n".join([*start, *lines]) + "\n"
    own = [text.lstrip("\n") for name, text in HELPERS.items() if name in writer.helpers]
    parts = (constants, helper_text(writer.helpers), *own, function)
    return "\n\n".join(part for part in parts if part).lstrip("\n")


_OF_ATTRIBUTES = frozenset({
    "rose", "fell", "changed by", "sum least", "sum below", "all enough", "more enough", "fewer enough", "refers",
    "now refers", "meets", "lacks", "on.", "facing.", "near.", "around.", "put by.", "put around.", "turned", "is",
    "all",
})  # fmt: skip
"""Forms that speak of an attribute of a kind, which come second and first."""


def _can_hold(vocabulary: Vocabulary, literal: Literal) -> bool:
    """Whether things of the kinds that a literal speaks of have the attributes, as far as is known."""
    if literal[0] not in _OF_ATTRIBUTES:
        return True
    pairs = [literal[1:3]]
    if literal[0] in ("put by.", "put around."):
        pairs.append(literal[4:6])
    elif literal[0] == "meets":
        pairs.append(literal[3:5])
    known = ((vocabulary.attributes_of(kind), attribute) for kind, attribute in pairs)
    return all(not attributes or attribute in attributes for attributes, attribute in known)


def worthless(decisions: DecisionList) -> DecisionList:
    """The same list with nothing gained anywhere: what ends an episode still does."""
    rules = [Rule(rule.condition, ("reward", 0.0, rule.effect[2])) for rule in decisions.rules]
    return DecisionList(tuple(rules), decisions.cost)


def fails(rule: Rule) -> bool:
    """Whether a rule says that the episode ends without a reward."""
    _, reward, done = rule.effect
    return bool(done and reward <= 0)


def _conditions(writer: _Writer, literals: tuple[Literal, ...], may_lack: bool) -> str:
    parts = [writer.literal(literal) for literal in literals]
    if may_lack and any(literal[0] in _ABOUT_AVATAR for literal in literals):
        parts.insert(0, f"{writer.me} is not None")
    return " and ".join(parts)


def _quoted(goal: Any) -> str:
    text = str(goal).replace("\\", "\\\\").replace('"', "'").replace("\n", " ")
    return f'"""{text}"""'
