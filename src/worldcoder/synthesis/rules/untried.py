"""Hope in what was never tried.

Where nothing known leads to a goal, something that was never done may: to use a tool on what stands in the way, or
to take what was never taken. What was tried is kept coarsely, as what was done, what stood ahead of the avatar and
how the avatar was; so each of these is hoped for once, and the hopes come to an end. What is hoped for is what the
action did to other things; where it never did anything that fits, that it lets the avatar pass. An action that never
did anything at all must be good for something; one that is known to do something else is less likely to do that.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

from worldcoder.synthesis.rules.matching import becomes
from worldcoder.synthesis.rules.scene import KIND, PLACE, Scene, Thing, scene_of
from worldcoder.synthesis.rules.statistics import Verb, same_value
from worldcoder.synthesis.rules.tables import table_text
from worldcoder.synthesis.rules.vocabulary import Vocabulary
from worldcoder.world.values import Action, State, Transition

MANY = 8
"""Of a kind of which there are more, less is hoped for: that it leads on would be odd."""

Sign = tuple[Any, ...]
"""A kind, with the words and truth values that tell its things apart."""
_USELESS = 12
"""Things on which an action was tried, or ways to try it, in vain, after which it is thought to be good for nothing."""
NOTHING: Sign = ("",)
Touch = tuple[str, Sign, tuple[Sign, ...]]
"""What was done, what stood ahead, and how the avatar was: its own sign, and those of what it refers to."""
Change = tuple[Any, ...]
"""What was done to the thing ahead: ("refer", a), ("away",), ("gone",) or ("set", a, value)."""


class Untried:
    """Knows what was tried, and writes programs that hope for the rest."""

    def __init__(self) -> None:
        self._tried: dict[Touch, bool] = {}  # and whether it ever did anything
        self._changes: dict[str, dict[tuple[Change, ...], None]] = {}
        self._puts: dict[str, None] = {}  # actions that put down what was held
        self._read = 0
        self._structure: tuple[Any, ...] = ()
        self._many: set[str] = set()

    def read(self, vocabulary: Vocabulary, transitions: Sequence[Transition]) -> None:
        """Take in what was tried since the last time; everything where it is told apart otherwise now."""
        telling = tuple((kind, *_telling(vocabulary, kind)) for kind in vocabulary.kinds)
        heads = tuple(_table(vocabulary).items()), frozenset(vocabulary.assumed)
        structure = (vocabulary.avatar, vocabulary.facing, vocabulary.remembers, heads, telling)
        if structure != self._structure:
            self._structure, self._read = structure, 0
            self._tried.clear()
            self._changes.clear()
            self._puts.clear()
        for transition in transitions[self._read :]:
            scene = scene_of(transition.state)
            became = becomes(transition.state, transition.next_state, vocabulary.fleeting)
            for touch, me, thing in _touches(vocabulary, scene, transition.action):
                changes = _changes(me, thing, became)
                if touch[1] == NOTHING and _put_down(me, became):
                    self._puts.setdefault(touch[0])
                worked = any(became[t.index] is None or not _same(t, became) for t in (me, thing))
                self._tried[touch] = self._tried.get(touch, False) or worked
                if changes:
                    self._changes.setdefault(touch[0], {}).setdefault(changes)
            if self._read == 0:
                self._many.clear()
            self._many.update(kind for kind, things in scene.kinds.items() if len(things) > MANY)
        self._read = len(transitions)

    def hopeful(
        self, source: str, vocabulary: Vocabulary, boldness: int, without: Collection[Touch] = ()
    ) -> str | None:
        """The same transition program with hope; None where it is not known how anything could be ahead.

        boldness: 1: an action does to a thing what it did to others, puts down what it never put down, and one that
        never did anything lets the avatar pass, or puts down what was taken; 2: one that did other things lets it
        pass; 3: past kinds of which there are many, too. without: what not to hope for.
        """
        idle = [verb for verb in vocabulary.verbs if verb not in vocabulary.effective]
        constants = {
            "FRAME": repr(vocabulary.frame),
            "MANY": repr(tuple(sorted(self._many))),
            "TAKEN": repr(self._taken()),
            "BOLDNESS": repr(boldness),
            "USED": repr(self._names(vocabulary.effective)),
            "PUTS": repr(tuple(sorted(self._puts))),
            "USELESS": repr(self._names(verb for verb in idle if self._in_vain(verb) > _USELESS)),
            "DONE": table_text({verb: tuple(changes) for verb, changes in self._changes.items()}),
            "TRIED": _set_text({**self._tried, **dict.fromkeys(without)}),
            "FAILED": _set_text(self._failed(vocabulary) if boldness < 3 else ()),
        }
        return _written(source, vocabulary, constants, _HOPE)

    def cautious(
        self, source: str, vocabulary: Vocabulary, steps: Iterable[tuple[State, Action]]
    ) -> str | None:
        """The same transition program where nothing comes of what only failed so far.

        None where none of the steps is like something that did. A plan that needs such a step rests on a distinction
        that was made after it had failed; whoever can do without it should.
        """
        failed = self._failed(vocabulary)
        if not any(touch in failed for step in steps for touch in self.touched(vocabulary, *step)):
            return None
        return _written(source, vocabulary, {"FAILED": _set_text(failed)}, _CAUTION)

    def _failed(self, vocabulary: Vocabulary) -> dict[Touch, None]:
        """What only failed so far; nothing where other things move meanwhile, for that would be left out with it."""
        return {t: None for t, worked in self._tried.items() if not worked and not vocabulary.autonomous}

    def _in_vain(self, verb: Verb) -> int:
        """On how many things, or in how many ways, an action was tried that never did anything."""
        return sum(verb == touch[0] for touch in self._tried)

    def _names(self, verbs: Iterable[Verb]) -> tuple[str, ...]:
        return tuple(sorted({verb if isinstance(verb, str) else str(verb[0]) for verb in verbs}))

    @property
    def does(self) -> dict[str, tuple[Change, ...]]:
        """What each action was seen to do to things."""
        every = self._changes.items()
        return {verb: tuple(dict.fromkeys(c for done in changes for c in done)) for verb, changes in every}

    def touched(self, vocabulary: Vocabulary, state: State, action: Action) -> list[Touch]:
        """What an action in a state would touch."""
        return [touch for touch, _, _ in _touches(vocabulary, scene_of(state), action)]

    def like(self, vocabulary: Vocabulary, steps: Iterable[tuple[State, Action]]) -> tuple[Touch, ...]:
        """What these steps would touch, and other actions in their place."""
        touched = [touch for step in steps for touch in self.touched(vocabulary, *step)]
        verbs = tuple(vocabulary.actions)
        every = ((verb, ahead, mine) for own, ahead, mine in touched for verb in (verbs if own else ("",)))
        return tuple(dict.fromkeys(every))

    def _taken(self) -> tuple[str, ...]:
        """The attributes of the avatar that came to refer to what was ahead."""
        every = [change for done in self._changes.values() for changes in done for change in changes]
        return tuple(sorted({change[1] for change in every if change[0] == "refer"}))


def _written(source: str, vocabulary: Vocabulary, constants: Mapping[str, str], program: str) -> str | None:
    """A transition program that goes beyond another one; None where it is not known how anything could be ahead."""
    avatar, table = vocabulary.avatar, _table(vocabulary)
    plain = all(isinstance(verb, str) for verb in table)
    if avatar is None or not table or PLACE not in vocabulary.attributes_of(avatar):
        return None
    value = f"getattr(me, {vocabulary.facing!r}, None)" if vocabulary.facing else "None"
    step, verb = f"HEADS.get({value})", "action.name"
    if not vocabulary.facing:
        key = "action.name" if plain else "(action.name, *action.args)"
        table = {verb if plain or isinstance(verb, tuple) else (verb,): v for verb, v in table.items()}
        step, verb = f"HEADS.get({key})", "''"
        if vocabulary.remembers:  # what heads nowhere is done to what the avatar looks at
            looks = table_text(vocabulary.remembered)
            step = f"HEADS.get({key}, {looks}.get(getattr(me, {vocabulary.remembers!r}, None)))"
            verb = f"'' if {key} in HEADS else action.name"
    values = [a for a in vocabulary.attributes_of(avatar) if a not in (PLACE, KIND)]
    constants = {
        "HEADS": table_text(table),
        "ASSUMED": repr(tuple(sorted(vocabulary.assumed, key=repr))),
        "TELLING": table_text({kind: _telling(vocabulary, kind) for kind in vocabulary.kinds}),
        "MINE": repr((*values, "x", "y")),
        **constants,
    }
    head = "\n".join(f"{name} = {text}" for name, text in constants.items())
    known = source.replace("def transition(state, action):", "def foreseen(state, action):")
    body = (_BEGINNING + program).format(avatar=avatar, step=step, verb=verb, value=value)
    return f"{known}\n\n{head}\n\n\n{body}"


def _set_text(touches: Collection[Touch]) -> str:
    inside = "".join(f"    {touch!r},\n" for touch in sorted(touches, key=repr))
    return f"{{\n{inside}}}" if inside else "set()"


def _same(thing: Thing, became: Sequence[Thing | None]) -> bool:
    """Whether a thing stayed as it was."""
    new = became[thing.index]
    return new is not None and all(same_value(v, new.values.get(a), became) for a, v in thing.values.items())


def _table(vocabulary: Vocabulary) -> dict[Any, Any]:
    return dict(vocabulary.facings if vocabulary.facing else vocabulary.steps)


def _touches(vocabulary: Vocabulary, scene: Scene, action: Action) -> Iterator[tuple[Touch, Thing, Thing]]:
    """What an action touches, with the avatar and the thing."""
    me = scene.single(vocabulary.avatar) if vocabulary.avatar else None
    direction = vocabulary.looks_to(me, action)
    if me is None or me.place is None or direction is None or type(me.place[0]) is not int:
        return
    held = [value for a in sorted(me.values) if isinstance(value := me.values[a], Thing)]
    mine = (_sign(vocabulary, me), *(_sign(vocabulary, thing) for thing in held))
    walks = not vocabulary.facing and vocabulary.direction(me, action) is not None
    verb = "" if walks else action.name
    ways = [direction]
    value = me.values.get(vocabulary.facing) if vocabulary.facing else None
    if value in vocabulary.assumed:  # it may as well head the other way
        mine = (*mine, (value,))
        ways.append((-direction[0], -direction[1]))
    for n, (dx, dy) in enumerate(ways):
        there = scene.at((me.place[0] + dx, me.place[1] + dy))
        if held and not there and not n:
            yield (verb, NOTHING, mine), me, me
        for thing in there:
            yield (verb, _sign(vocabulary, thing), mine), me, thing


def _changes(me: Thing, thing: Thing, became: Sequence[Thing | None]) -> tuple[Change, ...]:
    """What was done to a thing by an avatar that stayed where it was."""
    mine, new = became[me.index], became[thing.index]
    if mine is None or mine.place != me.place:
        return ()
    if new is None:
        return (("gone",),)
    found: list[Change] = [
        ("refer", a) for a, v in sorted(mine.values.items()) if v is new and me.values.get(a) is not thing
    ]
    if thing.place is not None and new.place is None:
        found.append(("away",))
    for a, v in sorted(new.values.items()):
        if a not in (PLACE, KIND) and isinstance(v, str | bool) and v != thing.values.get(a):
            found.append(("set", a, v))
    return tuple(found)


def _put_down(me: Thing, became: Sequence[Thing | None]) -> bool:
    """Whether something that the avatar held, and that was nowhere, is somewhere now, and held no more."""
    mine = became[me.index]
    held = [(a, v) for a, v in me.values.items() if isinstance(v, Thing) and v.place is None]
    after = [(a, became[thing.index]) for a, thing in held]
    return mine is not None and any(new and new.place and mine.values.get(a) is not new for a, new in after)


def _sign(vocabulary: Vocabulary, thing: Thing) -> Sign:
    values = (thing.values.get(a) for a in _telling(vocabulary, thing.kind))
    return (thing.kind, *(v for v in values if isinstance(v, str | bool)))


def _telling(vocabulary: Vocabulary, kind: str) -> tuple[str, ...]:
    """The attributes of a kind that tell its things apart, other than where they are or where the avatar heads."""
    mine = kind == vocabulary.avatar
    return tuple(
        attribute
        for attribute in vocabulary.attributes_of(kind)
        if attribute not in (PLACE, KIND)
        and not (mine and attribute in (vocabulary.facing, vocabulary.remembers))
        and sum(isinstance(v, str | bool) for v in vocabulary.values.get((kind, attribute), ())) > 1
    )


_BEGINNING = '''
def sign(obj):
    """A kind, and the values that tell such things apart."""
    values = [getattr(obj, attribute, None) for attribute in TELLING.get(obj.kind, ())]
    return (obj.kind, *[value for value in values if isinstance(value, (bool, str))])


def touched(state, action):
    """The avatar, what it did, its values, how it was, and for each way that it may head, what was there."""
    found = state.all({avatar!r})
    me = found[0] if len(found) == 1 else None
    step = None if me is None or me.x is None else {step}
    if step is None:
        return None
    before = [getattr(me, attribute, None) for attribute in MINE]
    mine = (sign(me), *[sign(value) for value in before if hasattr(value, 'kind')])
    ways = [step]
    value = {value}
    if value in ASSUMED:  # it may as well head the other way
        mine = (*mine, (value,))
        ways.append((-step[0], -step[1]))
    places = [(me.x + dx, me.y + dy) for dx, dy in ways]
    return me, {verb}, before, mine, ways, [[(obj, sign(obj)) for obj in state.at(*place)] for place in places]


def only_failed(verb, before, mine, ways, seen):
    """Whether this was tried, and never did anything."""
    known = [sign for there in seen for _, sign in there]
    if not seen[0] and len(mine) > 1:
        known.append(('',))
    return bool(known) and all((verb, sign, mine) in FAILED for sign in known)


'''.lstrip("\n")

_CAUTION = '''
def transition(state, action):
    """What is known; but of what only failed so far nothing is supposed to come."""
    found = touched(state, action)
    if found is not None and only_failed(*found[1:]):
        return state
    return foreseen(state, action)
'''.lstrip("\n")

_HOPE = '''
def fits(obj, changes):
    """Whether this can be done to an object, and would make a difference."""
    values = [(getattr(obj, change[1], ...), change[2]) for change in changes if change[0] == 'set']
    return all(old is not ... and old != new for old, new in values)


def hope(state, me, obj, changes):
    """Do to an object what was done to others."""
    for what, *rest in changes:
        if what == 'gone':
            state.remove(obj)
        elif what == 'away':
            obj.x = obj.y = None
        elif what == 'refer':
            setattr(me, rest[0], obj)
        else:
            setattr(obj, rest[0], rest[1])


def boldness(verb, action, many):
    """How bold it is to hope that an action lets the avatar pass."""
    if verb and action.name in USELESS:
        return 3
    return 1 if verb and action.name not in USED and not many else 2 + many


def transition(state, action):
    """What is known; but what was never tried, and would do nothing, is supposed to lead on."""
    found = touched(state, action)
    if found is None:
        return foreseen(state, action)
    me, verb, before, mine, ways, seen = found
    x, y = me.x, me.y
    if only_failed(*found[1:]):
        return state
    foreseen(state, action)
    if before != [getattr(me, attribute, None) for attribute in MINE]:
        return state
    if not seen[0] and len(mine) > 1 and (verb, ('',), mine) not in TRIED and TAKEN:
        if BOLDNESS >= boldness(verb, action, False) or not verb or verb in PUTS:
            for attribute, held in zip(MINE, before):
                if attribute in TAKEN and hasattr(held, 'kind'):
                    setattr(me, attribute, None)
                    held.x, held.y = x + ways[0][0], y + ways[0][1]
                    return state
    for (dx, dy), there in zip(ways, seen):
        here = state.at(x + dx, y + dy)
        same = all(any(obj is other for other in here) and sign(obj) == known for obj, known in there)
        if same and any((verb, known, mine) not in TRIED for _, known in there):
            obj = there[0][0]
            many = obj.kind in MANY
            done = [] if many else [changes for changes in DONE.get(verb, ()) if fits(obj, changes)]
            if done:
                hope(state, me, obj, done[0])
                break
            inside = FRAME[0] <= x + 2 * dx <= FRAME[2] and FRAME[1] <= y + 2 * dy <= FRAME[3]
            if BOLDNESS >= boldness(verb, action, many) and inside:
                me.x, me.y = x + dx, y + dy
                break
    return state
'''.lstrip("\n")
