"""Terms, literals and effects as Python expressions."""

from __future__ import annotations

import builtins
import keyword
import re
from typing import Any

from worldcoder.synthesis.rules.effects import Effect, compass, rotations, told
from worldcoder.synthesis.rules.helpers import HELPERS
from worldcoder.synthesis.rules.language import NEARER, Literal, PlaceTerm, Quantity, numbered
from worldcoder.synthesis.rules.quantities import covers
from worldcoder.synthesis.rules.scene import PLACE
from worldcoder.synthesis.rules.tables import steps_text, table_text
from worldcoder.synthesis.rules.vocabulary import Vocabulary


def variable(kind: str) -> str:
    """A Python name for objects of a kind: "BlueDoor" gives blue_door."""
    words = re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z0-9]+", kind) or ["thing"]
    name = "_".join(words).lower()
    if not name.isidentifier() or keyword.iskeyword(name) or name in _TAKEN or name in HELPERS:
        name = f"a_{name}"
    if name.startswith(("next_", "the_", "arg")):  # names that programs use for other things
        name = f"a_{name}"
    return name if name.isidentifier() else "thing"


def read(code: str, attribute: str) -> str:
    """An expression that reads an attribute, whatever it is called."""
    plain = attribute.isidentifier() and not keyword.iskeyword(attribute)
    return f"{code}.{attribute}" if plain else f"getattr({code}, {attribute!r})"


def in_one_line(text: str) -> str:
    """For a comment: names of kinds and values may hold anything."""
    return " ".join(text.split())


def next_variable(attribute: str) -> str:
    """The variable for what an attribute of the avatar will be."""
    if attribute == PLACE:
        return "next_place"
    name = f"next_{attribute}"
    return (
        name
        if name.isidentifier() and name != "next_place"
        else "next_" + "_".join(str(ord(c)) for c in attribute)
    )


_TAKEN = set(dir(builtins)) | {
    "state", "action", "next_state", "step", "front", "beyond", "onward", "origin", "way_of", "moved", "changed",
    "gone", "made", "obj", "other", "place", "reward", "transition", "kind", "values", "where", "value",
    "attribute", "o",
}  # fmt: skip


class Writer:
    """Turns terms, literals and effects into expressions, and remembers which helpers they need."""

    def __init__(self, vocabulary: Vocabulary, *, after: Writer | None = None) -> None:
        """after: the writer of the phase before, in the same program."""
        self.vocabulary = vocabulary
        self.avatar = vocabulary.avatar
        self.me = variable(self.avatar) if self.avatar else "None"
        self.this = self.me
        self.helpers: set[str] = set() if after is None else after.helpers
        self.movers: set[str] = set() if after is None else after.movers
        self.places: set[str] = set()
        self.arguments: set[int] = set()
        self.singles: dict[str, str] = {}
        self.next_values: set[str] = set()
        self.careful = False  # whether what is asked may not be there
        self.links: dict[str, tuple[str, str]] = {}  # variables, and what they stand for

    def use(self, helper: str) -> str:
        self.helpers.add(helper)
        return helper

    def place(self, term: PlaceTerm) -> str:
        anchor, k = term
        if anchor == "origin":
            return "origin"
        if anchor == "own":
            return f"{self.use('ahead')}({self.this}, {self.heading()}{'' if k == 1 else f', {k}'})"
        if anchor == "toward":
            return f"{self.use('toward')}({self.this}, {self.me})"
        if anchor in NEARER:
            axes, sign = NEARER[anchor]
            return f"{self.use('nearer')}({self.this}, {self.me}, {axes!r}{'' if sign > 0 else ', -1'})"
        if anchor == "off":
            return f"{self.use('beside')}({self.this}, {k[0]}, {k[1]})"
        obj = self.this if anchor == "self" else self.me
        if k == 0:
            return f"{self.use('spot')}({obj})"
        if obj == self.me and k in (1, 2):
            self.use("ahead")
            name = "front" if k == 1 else "beyond"
            self.places.add(name)
            return name
        return f"{self.use('ahead')}({obj}, step{'' if k == 1 else f', {k}'})"

    def heading(self) -> str:
        """Where the object heads by itself."""
        return f"way_of(state, action, {self.this})"

    def link(self, kind: str) -> str:
        """The object of a kind that links what the step is about: a variable."""
        if kind not in self.links:
            vocabulary = self.vocabulary
            focus = [f"arg{i}" for i in range(vocabulary.most_arguments)]
            self.arguments.update(range(vocabulary.most_arguments))
            if self.arguments:
                self.use("argument")
            if self.avatar:
                focus += [self.me, *(read(self.me, a) for k, a in vocabulary.references if k == self.avatar)]
            names = ", ".join(repr(a) for a in vocabulary.links[kind])
            code = f"{self.use('linked')}(state, {kind!r}, ({names}), {', '.join(focus)})"
            self.links[kind] = f"linked_{variable(kind)}", code
        return self.links[kind][0]

    def same(self, kind: str, attribute: str, more: int) -> str:
        """The only object of a kind that has the same number as this one or so much more; of the avatar, a variable."""
        rest = f", {more}" if more else ""
        code = f"{self.use('numbered')}(state, {kind!r}, {self.this}, {attribute!r}{rest})"
        if self.this != self.me:
            return code
        at = {0: "at", 1: "after", -1: "before"}[more]
        name = f"{variable(kind)}_{at}_{variable(attribute)}"
        return self.links.setdefault(f"{kind}:{attribute}:{more}", (name, code))[0]

    def quantity(self, quantity: Quantity) -> str:
        """A number."""
        if quantity[0] == "sum":
            return f"{self.use('total')}(state, {quantity[1]!r}, {quantity[2]!r})"
        return self.value(quantity[1], quantity[2])

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
        elif head.startswith("link:"):
            code = self.link(head.removeprefix("link:"))
        elif head.startswith("same:"):
            code = self.same(*numbered(head))
        else:
            self.arguments.add(int(head[3:]))
            self.use("argument")
            code = head
        for i, attribute in enumerate(path):
            code = (
                read(code, attribute)
                if i == 0 and head in ("self", "me") and not self.careful
                else f"{self.use('get')}({code}, {attribute!r})"
            )
        return code

    def value(self, term: str, attribute: str) -> str:
        if term in ("self", "me") and not self.careful:
            return read(self.object(term), attribute)
        return f"{self.use('get')}({self.object(term)}, {attribute!r})"

    def made(self, value: Any) -> str:
        """A value of an attribute of what appears; see `effects.Made`."""
        if not isinstance(value, tuple):
            return repr(value)
        _, term, attribute, more = value
        code = self.value(term, attribute)
        return f"{self.use('plus')}({code}, {more})" if more else code

    def _but(self, term: PlaceTerm) -> str:
        return f"{self.this}, {self.me}" if term == ("me", 0) and self.this != self.me else self.this

    def literal(self, literal: Literal, mover: str | None) -> str:
        """An expression that is true where the literal is."""
        match literal:
            case ("action" | "this step", name):
                return f"action.name == {name!r}"
            case (("heads" | "heads not") as form,):
                remembers = self.vocabulary.remembers is not None
                step = steps_text(self.vocabulary.steps)[1] if remembers else "step"
                return f"{step} is {'not ' if form == 'heads' else ''}None"
            case (("goes on" | "turns") as form,):
                step, facing = (
                    steps_text(self.vocabulary.steps)[1],
                    read(self.me, self.vocabulary.remembers or ""),
                )
                if form == "goes on":
                    return f"FACING.get({facing}, ...) == {step}"
                return f"{step} not in (None, FACING.get({facing}))"
            case (("row free" | "row blocked") as form,):
                self.movers.update(self.vocabulary.pushed)
                return f"{self.use(form.replace(' ', '_'))}(state, {self.me}, step)"
            case ("in row",):
                return f"any(o is {self.this} for o in {self.use('row')}(state, {self.me}, step))"
            case (("referred" | "unreferred") as form, term, kind, attribute):
                code = self.object(term)
                there = "" if term == "self" else f"{self.use('is_object')}({code}) and "
                sign = "" if form == "referred" else "not "
                return f"{there}{sign}any({read('o', attribute)} is {code} for o in state.all({kind!r}))"
            case (("more" | "at most") as form, one, other):
                helper = self.use("larger" if form == "more" else "at_most")
                return f"{helper}({self.quantity(one)}, {self.quantity(other)})"
            case (("some" | "no") as form, kind):
                return f"{'' if form == 'some' else 'not '}state.all({kind!r})"
            case ("some on", kind, other):
                return f"{self.use('covered')}(state, {kind!r}, {other!r})"
            case ("none on", kind, other):
                return f"not {self.use('covered')}(state, {kind!r}, {other!r})"
            case ("all on", kind, other):
                covered = f"len({self.use('covered')}(state, {kind!r}, {other!r}))"
                return f"0 < len(state.all({kind!r})) == {covered}"
            case (("all covered" | "not all covered") as form, kind):
                found = f"{self.use('all_covered')}(state.all({kind!r}), {covers(self.vocabulary, kind)!r}, state)"
                return found if form == "all covered" else f"state.all({kind!r}) and not {found}"
            case (("all like covered" | "not all like covered") as form, kind, shared):
                alike = f"{self.use('some_with')}(state, {kind!r}, {self.this}, {shared!r})"
                found = f"{self.use('all_covered')}({alike}, {covers(self.vocabulary, kind)!r}, state)"
                return found if form == "all like covered" else f"{alike} and not {found}"
            case (("count least" | "count below") as form, kind, attribute, value, n):
                sign = ">=" if form == "count least" else "<"
                return f"{self.use('count')}(state, {kind!r}, {attribute!r}, {value!r}) {sign} {n}"
            case (("every" | "not every") as form, kind, attribute, value):
                sign = "" if form == "every" else "not "
                return f"{sign}all({read('o', attribute)} == {value!r} for o in state.all({kind!r}))"
            case (("any like" | "none like") as form, kind, shared, attribute, value):
                sign = "" if form == "any like" else "not "
                alike = f"{self.use('others_alike')}(state, {kind!r}, {self.this}, {shared!r})"
                return f"{sign}any({read('o', attribute)} == {value!r} for o in {alike})"
            case (("moved" | "not moved") as form,):
                return f"{self.use('spot')}({self.me}) {'!=' if form == 'moved' else '=='} origin"
            case (("passed" | "not passed") as form, kind):
                way = f"{self.use('on_the_way')}(state, origin, {self.me}, {kind!r})"
                return way if form == "passed" else f"not {way}"
            case (("passed like" | "not passed like") as form, kind, attribute):
                way = f"{self.use('on_the_way')}(state, origin, {self.me}, {kind!r})"
                alike = f"{self.use('alike')}(o, {self.this}, {attribute!r})"
                return f"{'' if form == 'passed like' else 'not '}any({alike} for o in {way})"
            case ("here", term):
                return f"{self.use('place_of')}({self.this}) == {self.place(term)}"
            case (("comes" | "none comes") as form, term, kind):
                self.movers.add(kind)
                self.use("comes")
                negated = "" if form == "comes" else f"{self.place(term)} is not None and not "
                return f"{negated}comes(state, action, {self.place(term)}, {kind!r}, {self.this})"
            case (("free" | "blocked" | "unhindered" | "hindered") as form, term, kind):
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
            case ("off frame", term):
                return f"{self.use('beyond_frame')}({self.place(term)}, FRAME)"
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
                return f"any({read('o', attribute)} {sign} {value!r} for o in {found})"
            case (("at=" | "not at=") as form, term, kind, attribute, other):
                than = self.object(other)
                found = (
                    f"{self.use('things')}(state, {self.place(term)}, {kind!r}, {self._but(term)}, {than})"
                )
                helper = self.use("alike" if form == "at=" else "unlike")
                return f"any({helper}(o, {than}, {attribute!r}) for o in {found})"
            case (("at matched" | "not at matched") as form, term, kind, attribute, other, its):
                found = f"{self.use('things')}(state, {self.place(term)}, {kind!r}, {self._but(term)})"
                helper = self.use("one_has" if form == "at matched" else "one_has_not")
                return f"{helper}({found}, {attribute!r}, {self.value(other, its)})"
            case (("value" | "not value") as form, term, "@place", None):  # PLACE
                place = self.value(term, "x")
                if form == "value":
                    return f"{place} is None"
                return f"{place} is not None" if term in ("self", "me") else f"{place} not in (None, ...)"
            case ("value" | "headed", term, attribute, value):
                sign = "is" if value is None or isinstance(value, bool) else "=="
                return f"{self.value(term, attribute)} {sign} {value!r}"
            case ("not value" | "not headed", term, attribute, value):
                if term in ("self", "me") and not self.careful:
                    sign = "is not" if value is None else "!="
                    return f"{self.value(term, attribute)} {sign} {value!r}"
                return f"{self.use('differs')}({self.object(term)}, {attribute!r}, {value!r})"
            case (("least" | "most") as form, term, attribute, value):
                # "most" is true of values below the bound
                helper = self.use("at_least" if form == "least" else "below")
                return f"{helper}({self.value(term, attribute)}, {value!r})"
            case ("kind", term, kind):
                return f"{self.value(term, 'kind')} == {kind!r}"
            case ("arg" | "this way", term, value):
                return f"{self.object(term)} == {value!r}"
            case ("is", first, second):
                if first in ("self", "me") or second in ("self", "me"):
                    return f"{self.object(first)} is {self.object(second)}"
                return f"{self.use('identical')}({self.object(first)}, {self.object(second)})"
            case ("not is", first, second):
                return f"{self.use('distinct')}({self.object(first)}, {self.object(second)})"
            case (("equal" | "not equal") as form, first, attribute, second, other):
                helper = self.use("equal" if form == "equal" else "unequal")
                return f"{helper}({self.value(first, attribute)}, {self.value(second, other)})"
            case (("same" | "not same") as form, first, second, attribute):
                helper = self.use("alike" if form == "same" else "unlike")
                return f"{helper}({self.object(first)}, {self.object(second)}, {attribute!r})"
            case (("any" | "none") as form, kind, attribute, value):
                sign = "" if form == "any" else "not "
                return f"{sign}any({read('o', attribute)} == {value!r} for o in state.all({kind!r}))"
            case (("moves" | "stays") as form,):
                self.next_values.add(PLACE)
                return f"next_place {'!=' if form == 'moves' else '=='} {self.use('place_of')}({self.me})"
            case ("becomes", attribute):
                self.next_values.add(attribute)
                return f"{next_variable(attribute)} is {self.this}"
            case ("with", term):
                return f"{self.use('together')}({self.me}, {self.object(term)})"
            case ("beside", term):
                return f"{self.use('near')}({self.me}, {self.object(term)})"
            case ("apart", term):
                return f"{self.use('apart')}({self.me}, {self.object(term)})"
            case ("neighbour", kind):
                return f"{self.use('around')}(state, {self.this}, {kind!r})"
            case ("no neighbour", kind):
                return f"{self.use('none_around')}(state, {self.this}, {kind!r})"
            case ("neighbour.", kind, attribute, value):
                found = f"{self.use('around')}(state, {self.this}, {kind!r})"
                return f"any({read('o', attribute)} == {value!r} for o in {found})"
            case ("next", kind, (dx, dy)):
                return f"{self.use('things')}(state, {self.use('beside')}({self.this}, {dx}, {dy}), {kind!r})"
            case (("sees" | "not sees") as form,):
                self.movers.add(mover or "")
                helper = self.use("sees" if form == "sees" else "does_not_see")
                return f"{helper}(state, {self.this}, {self.me})"
            case (("wider" | "not wider" | "taller" | "not taller") as form,):
                gap = f"{self.use('gap')}({self.this}, {self.me}){'' if form.endswith('wider') else '[::-1]'}"
                return f"{self.use('at_most' if form.startswith('not') else 'larger')}(*{gap})"
            case (("some with" | "none with") as form, kind, term, attribute):
                helper = self.use(form.replace(" ", "_"))
                return f"{helper}(state, {kind!r}, {self.object(term)}, {attribute!r}, {self.this})"
            case (("within" | "not within") as form, steps):
                helper = self.use("at_most" if form == "within" else "larger")
                return f"{helper}({self.use('steps_between')}({self.this}, {self.me}), {steps})"
            case (("level" | "not level") as form, axis):
                gap = f"{self.use('gap')}({self.this}, {self.me})[{'xy'.index(axis)}]"
                return f"{gap} == 0" if form == "level" else f"{gap} not in (0, None)"
            case (("joined" | "not joined") as form, kind, first, second):
                names = ", ".join(repr(a) for a in self.vocabulary.links[kind])
                helper = self.use("joined" if form == "joined" else "not_joined")
                return f"{helper}(state, {kind!r}, ({names}), {self.object(first)}, {self.object(second)})"
            case (
                ("before all" | "after all" | "not before all" | "not after all") as form,
                reference,
                term,
                number,
            ):
                helper = self.use("before_all" if form.endswith("before all") else "after_all")
                there = f"state, {self.this}, {reference!r}, {self.object(term)}, {number!r}"
                asked = (
                    ""
                    if not form.startswith("not")
                    else f"{self.use('is_object')}({self.object(term)}) and not "
                )
                return f"{asked}{helper}({there})"
            case ("near",):
                return f"{self.use('near')}({self.me}, {self.this})"
        raise AssertionError(literal)

    def effect(self, attribute: str, effect: Effect, mover: str | None) -> str:
        """An expression for the new value of an attribute."""
        old = f"{self.use('place_of')}({self.this})" if attribute == PLACE else read(self.this, attribute)
        match effect:
            case ("set", value):
                return repr(value)
            case ("add", amount):
                return f"{self.use('plus')}({old}, {amount!r})"
            case ("turn", k, n):
                return f"({old} {'-' if k < 0 else '+'} {abs(k)}) % {n}"
            case ("flip",):
                return f"not {old}"
            case ("plus", sign, quantity, rest):
                much = self.quantity(quantity)
                much = much if sign > 0 else f"{self.use('negative')}({much})"
                return f"{self.use('changed_by')}({old}, {much}{f', {rest!r}' if rest else ''})"
            case ("rotate", quarters):
                table = rotations(compass(self.vocabulary, mover or ""), quarters)
                return f"{{{', '.join(f'{k!r}: {v!r}' for k, v in table.items())}}}.get({old}, {old})"
            case ("as headed",):
                return f"{table_text(told(self.vocabulary.remembered))}.get(step, {old})"
            case ("copy", term, other):
                return self.value(term, other)
            case ("object", term):
                return self.object(term)
            case ("object at", term):
                return f"{self.use('the_one')}(state, {self.place(term)}, {old}, {self._but(('me', 0))})"
            case ("kind at", term, kind):
                found = f"{self.use('things')}(state, {self.place(term)}, {kind!r}, {self._but(('me', 0))})"
                return f"{self.use('first')}({found}, {old})"
            case ("object with", kind, other):
                found = f"{self.use('some_with')}(state, {kind!r}, {self.this}, {other!r})"
                return f"{self.use('the_only')}({found}, {old})"
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
                return f"{self.use('place_or')}({self.object(term)}, {old})"
            case ("partner", kind, term):
                return f"{self.use('partner')}(state, {kind!r}, {self.place(term)}) or {old}"
            case ("slide",):
                if mover:
                    self.movers.add(mover)
                way = f"{self.heading()} or step" if mover in self.vocabulary.headings else "step"
                return f"{self.use('slide')}(state, {self.this}, {way})"
        raise AssertionError(effect)


def seen_in(right: int, decided: int) -> str:
    """The evidence for a rule, in words: how often it came true, and how likely it is where that was not always."""
    if right < decided:
        return f"with probability {right / decided:.2f}: seen in {right} of {decided} transitions"
    return f"seen in {decided} transition{'s' if decided != 1 else ''}"
