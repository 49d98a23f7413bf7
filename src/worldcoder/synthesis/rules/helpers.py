"""The small functions that emitted programs are written with; each program carries those it uses."""

from worldcoder.synthesis.rules.helpers_relations import RELATIONS

HELPERS: dict[str, str] = {
    "only": '''
def only(state, kind):
    """The one object of a kind, or None."""
    found = state.all(kind)
    return found[0] if len(found) == 1 else None
''',
    "argument": '''
def argument(state, action, index):
    """What an argument of the action names: an object, or the word itself."""
    word = action.args[index] if index < len(action.args) else None
    found = state.named(word) if isinstance(word, str) else None
    return word if found is None else found
''',
    "get": '''
def get(obj, attribute):
    """An attribute, or ... where there is no such object or attribute."""
    return getattr(obj, attribute, ...)
''',
    "place_of": '''
def place_of(obj):
    """Where an object is."""
    return (obj.x, obj.y)
''',
    "place_or": '''
def place_or(obj, old):
    """Where an object is; another place if there is none."""
    return (obj.x, obj.y) if hasattr(obj, "x") else old
''',
    "spot": '''
def spot(obj):
    """Where an object is; None where it is nowhere."""
    return None if obj is None or obj.x is None else (obj.x, obj.y)
''',
    "ahead": '''
def ahead(obj, step, times=1):
    """The place so many steps from an object; None where there is no step or no place."""
    if obj is None or obj.x is None or step is None:
        return None
    return (obj.x + times * step[0], obj.y + times * step[1])
''',
    "beside": '''
def beside(obj, dx, dy):
    """The place a fixed way from an object."""
    return None if obj.x is None else (obj.x + dx, obj.y + dy)
''',
    "wrapped": '''
def wrapped(obj, x, y):
    """A place that something goes to, where it comes in again on the other side."""
    (x0, y0, x1, y1), (along_x, along_y) = FRAME, ROUND.get(obj.kind, (False, False))
    return (x0 + (x - x0) % (x1 - x0 + 1) if along_x else x, y0 + (y - y0) % (y1 - y0 + 1) if along_y else y)
''',
    "things": '''
def things(state, place, kind, *but):
    """The objects of a kind at a place, without some."""
    return [] if place is None else [o for o in state.at(*place, kind) if not any(o is b for b in but)]
''',
    "absent": '''
def absent(state, place, kind, *but):
    """Whether there is no object of a kind at a place."""
    return place is not None and not any(all(o is not b for b in but) for o in state.at(*place, kind))
''',
    "empty": '''
def empty(state, place, *but):
    """Whether there is nothing at a place."""
    return place is not None and not any(all(o is not b for b in but) for o in state.at(*place))
''',
    "occupied": '''
def occupied(state, place, *but):
    """Whether there is anything at a place."""
    return place is not None and any(all(o is not b for b in but) for o in state.at(*place))
''',
    "look": '''
def look(obj):
    """A kind, with the values of those of its attributes that count."""
    values = [getattr(obj, attribute, None) for attribute in LOOKS.get(obj.kind, ())]
    return (obj.kind, *[value for value in values if isinstance(value, (bool, str))])
''',
    "passable": '''
def passable(obj, mover):
    """Whether something that looks like this was ever in one place with the mover."""
    return look(obj) in PASSABLE[mover]
''',
    "free": '''
def free(state, place, mover, *but):
    """Whether nothing at a place stops a mover."""
    return place is not None and all(passable(o, mover) for o in state.at(*place) if all(o is not b for b in but))
''',
    "blocked": '''
def blocked(state, place, mover, *but):
    """Whether something at a place stops a mover."""
    return place is not None and not all(
        passable(o, mover) for o in state.at(*place) if all(o is not b for b in but)
    )
''',
    "unhindered": '''
def unhindered(state, place, mover, *but):
    """Whether all at a place is of kinds that were seen in one place with the mover."""
    kinds = {kind for kind, *_ in PASSABLE[mover]}
    return place is not None and all(o.kind in kinds for o in state.at(*place) if all(o is not b for b in but))
''',
    "hindered": '''
def hindered(state, place, mover, *but):
    """Whether there is something of another kind at a place."""
    return place is not None and not unhindered(state, place, mover, *but)
''',
    "comes": '''
def comes(state, action, place, kind, but):
    """Whether another object of a kind heads for a place by itself, with nothing in the way."""
    return any(
        o is not but and place is not None and ahead(o, way_of(state, action, o)) == place
        for o in state.all(kind)
    ) and unhindered(state, place, kind)
''',
    "bounds": '''
def bounds(state):
    """The box that all objects stand in."""
    places = [(o.x, o.y) for o in state if getattr(o, "x", None) is not None]
    xs, ys = [x for x, _ in places], [y for _, y in places]
    return min(xs), min(ys), max(xs), max(ys)
''',
    "inside": '''
def inside(state, place):
    """Whether a place lies in the box that all objects stand in."""
    if place is None:
        return False
    x0, y0, x1, y1 = bounds(state)
    return x0 <= place[0] <= x1 and y0 <= place[1] <= y1
''',
    "outside": '''
def outside(state, place):
    """Whether a place lies outside the box that all objects stand in."""
    return place is not None and not inside(state, place)
''',
    "slide": '''
def slide(state, obj, step):
    """How far an object gets when it moves on until something stops it."""
    place = place_of(obj)
    while step is not None:
        onward = (place[0] + step[0], place[1] + step[1])
        if not free(state, onward, obj.kind, obj) or not inside(state, onward):
            break
        place = onward
        if any(look(o) in STOPS for o in state.at(*place) if o is not obj):
            break
    return place
''',
    "partner": '''
def partner(state, kind, place):
    """The place of the other object of a kind than the one at a place; None if there is no such pair."""
    if place is None or not state.at(*place, kind):
        return None
    others = [o for o in state.all(kind) if o.x is not None and (o.x, o.y) != place]
    return (others[0].x, others[0].y) if len(others) == 1 else None
''',
    "the_one": '''
def the_one(state, place, otherwise, *but):
    """The only object at a place, without some; or the other value."""
    found = [] if place is None else [o for o in state.at(*place) if not any(o is b for b in but)]
    return found[0] if len(found) == 1 else otherwise
''',
    "first": '''
def first(found, otherwise):
    """The first object found, or the other value."""
    return found[0] if found else otherwise
''',
    "is_object": '''
def is_object(value):
    """Whether a value is an object of the state."""
    return hasattr(value, "kind")
''',
    "identical": '''
def identical(a, b):
    """Whether both are the same object."""
    return is_object(a) and a is b
''',
    "distinct": '''
def distinct(a, b):
    """Whether both are objects, and not the same one."""
    return is_object(a) and is_object(b) and a is not b
''',
    "alike": '''
def alike(a, b, attribute):
    """Whether two objects have one value of an attribute."""
    return distinct(a, b) and get(a, attribute) is not ... and get(a, attribute) == get(b, attribute)
''',
    "unlike": '''
def unlike(a, b, attribute):
    """Whether two objects have different values of an attribute."""
    return (
        distinct(a, b) and ... not in (get(a, attribute), get(b, attribute))
        and get(a, attribute) != get(b, attribute)
    )
''',
    "differs": '''
def differs(obj, attribute, value):
    """Whether an object has the attribute, with another value."""
    return get(obj, attribute) is not ... and get(obj, attribute) != value
''',
    "distance": '''
def distance(a, b):
    """How many steps two objects are apart; None where one of them has no place."""
    if None in (getattr(a, "x", None), getattr(b, "x", None)):
        return None
    return abs(a.x - b.x) + abs(a.y - b.y)
''',
    "near": '''
def near(a, b):
    """Whether two objects are one step apart."""
    return distance(a, b) == 1
''',
    "together": '''
def together(a, b):
    """Whether two objects are in one place."""
    return distance(a, b) == 0
''',
    "apart": '''
def apart(a, b):
    """Whether two objects are more than one step apart."""
    return (distance(a, b) or 0) > 1
''',
    "at_least": '''
def at_least(value, bound):
    """Whether a value is a number that reaches a bound."""
    return isinstance(value, (int, float)) and value >= bound
''',
    "below": '''
def below(value, bound):
    """Whether a value is a number under a bound."""
    return isinstance(value, (int, float)) and value < bound
''',
    "plus": '''
def plus(value, amount):
    """A number so much larger; anything else as it is."""
    return value + amount if isinstance(value, (int, float)) else value
''',
    "row": '''
def row(state, obj, step):
    """What can be pushed, one thing behind the other, ahead of an object, nearest first."""
    found = []
    while place := ahead(obj, step, len(found) + 1):
        here = [o for o in state.at(*place) if o.kind in PUSHED]
        if not here:
            break
        found.append(here[0])
    return found
''',
    "row_free": '''
def row_free(state, obj, step):
    """Whether there is a row ahead, with room behind it."""
    found = row(state, obj, step)
    return bool(found) and free(state, ahead(obj, step, len(found) + 1), found[-1].kind)
''',
    "row_blocked": '''
def row_blocked(state, obj, step):
    """Whether there is a row ahead, without room behind it."""
    found = row(state, obj, step)
    return bool(found) and blocked(state, ahead(obj, step, len(found) + 1), found[-1].kind)
''',
    "linked": '''
def linked(state, kind, attributes, *focus):
    """The only object of a kind that refers to nothing but these, or None."""
    focus = [f for f in focus if f is not None]
    found = [o for o in state.all(kind) if all(any(getattr(o, a) is f for f in focus) for a in attributes)]
    return found[0] if len(found) == 1 else None
''',
    "is_number": '''
def is_number(value):
    """Whether a value can be calculated with."""
    return isinstance(value, (int, float)) and not isinstance(value, bool)
''',
    "total": '''
def total(state, kind, attribute):
    """The sum of an attribute over all objects of a kind; None where there are none."""
    values = [getattr(o, attribute) for o in state.all(kind)]
    return sum(values) if values and all(map(is_number, values)) else None
''',
    "larger": '''
def larger(a, b):
    """Whether both are numbers, and the first is the larger one."""
    return is_number(a) and is_number(b) and a > b
''',
    "at_most": '''
def at_most(a, b):
    """Whether both are numbers, and the first is not the larger one."""
    return is_number(a) and is_number(b) and a <= b
''',
    "changed_by": '''
def changed_by(value, amount, rest=0):
    """A number and what is added to it; as it is where there is nothing to add."""
    return value + amount + rest if is_number(value) and is_number(amount) else value
''',
    "negative": '''
def negative(value):
    """A number with the other sign."""
    return -value if is_number(value) else value
''',
    "others_alike": '''
def others_alike(state, kind, obj, attribute):
    """The other objects of a kind that have the same value of an attribute as this one."""
    mine = getattr(obj, attribute, None)
    return [o for o in state.all(kind) if o is not obj and getattr(o, attribute, ...) == mine]
''',
    "foremost": '''
def foremost(objects, way):
    """The objects in order, those first that are farthest ahead."""
    return sorted(objects, key=lambda o: 0 if o.x is None else -(o.x * way[0] + o.y * way[1]))
''',
    "covered": '''
def covered(state, kind, other):
    """The objects of a kind that share their place with another one."""
    return [
        o for o in state.all(kind) if o.x is not None and any(p is not o for p in state.at(o.x, o.y, other))
    ]
''',
    "sum_of": '''
def sum_of(state, kind, attribute):
    """The sum of an attribute over all objects of a kind."""
    return sum(getattr(o, attribute) for o in state.all(kind))
''',
    "how_much_more": '''
def how_much_more(state, next_state, kind, attribute):
    """How much the sum of an attribute has grown; 0 where there is nothing to add up."""
    if not state.all(kind) or not next_state.all(kind):
        return 0
    return sum_of(next_state, kind, attribute) - sum_of(state, kind, attribute)
''',
    "enough": '''
def enough(state, kind, attribute, other):
    """Of how many objects of a kind one number is at least the other."""
    return sum(getattr(o, attribute) >= getattr(o, other) for o in state.all(kind))
''',
    "referring": '''
def referring(state, kind, attribute, target):
    """How many objects of a kind refer to something of another kind."""
    return sum(getattr(getattr(o, attribute), 'kind', None) == target for o in state.all(kind))
''',
    "matched": '''
def matched(state, kind, other, attribute):
    """How many objects of a kind share their place with one of another kind that has the same attribute."""
    return sum(
        o.x is not None and any(getattr(p, attribute) == getattr(o, attribute) for p in state.at(o.x, o.y, other))
        for o in state.all(kind)
    )
''',
    "equal": '''
def equal(a, b):
    """Whether there are both values, and they are the same."""
    return a is not ... and type(a) is type(b) and a == b
''',
    "unequal": '''
def unequal(a, b):
    """Whether there are both values, of one type, and they differ."""
    return a is not ... and type(a) is type(b) and a != b
''',
    "within": '''
def within(place, frame):
    """Whether a place lies in a frame: least x and y, greatest x and y."""
    return place is not None and frame[0] <= place[0] <= frame[2] and frame[1] <= place[1] <= frame[3]
''',
    "beyond_frame": '''
def beyond_frame(place, frame):
    """Whether there is a place, outside a frame."""
    return place is not None and not within(place, frame)
''',
    "count_on": '''
def count_on(state, kind, other):
    """How many objects of a kind share a place with one of another kind."""
    return sum(bool(state.at(o.x, o.y, other)) for o in state.all(kind))
''',
    "count": '''
def count(state, kind, attribute, value):
    """How many objects of a kind have this value of an attribute."""
    return sum(getattr(o, attribute) == value for o in state.all(kind))
''',
}  # fmt: skip
HELPERS |= RELATIONS

NEEDS: dict[str, tuple[str, ...]] = {
    "beyond_frame": ("within",),
    "passable": ("look",),
    "free": ("passable", "look"),
    "blocked": ("passable", "look"),
    "row": ("ahead",),
    "hindered": ("unhindered",),
    "comes": ("unhindered", "ahead"),
    "row_free": ("row", "ahead", "free", "passable", "look"),
    "row_blocked": ("row", "ahead", "blocked", "passable", "look"),
    "total": ("is_number",),
    "how_much_more": ("sum_of",),
    "larger": ("is_number",),
    "at_most": ("is_number",),
    "changed_by": ("is_number",),
    "negative": ("is_number",),
    "inside": ("bounds",),
    "outside": ("inside", "bounds"),
    "slide": ("free", "passable", "look", "inside", "bounds", "place_of"),
    "near": ("distance",),
    "together": ("distance",),
    "apart": ("distance",),
    "distinct": ("is_object",),
    "identical": ("is_object",),
    "alike": ("distinct", "is_object", "get"),
    "unlike": ("distinct", "is_object", "get"),
    "differs": ("get",),
    "sees": ("toward", "blocked", "passable", "look"),
    "does_not_see": ("sees", "toward", "blocked", "passable", "look"),
    "none_around": ("around",),
    "none_with": ("some_with",),
    "joined": ("is_object",),
    "not_joined": ("joined", "is_object"),
    "before_all": ("numbers_there", "is_number", "is_object"),
    "after_all": ("numbers_there", "is_number", "is_object"),
}


def helper_text(used: set[str], *, goes_round: bool = False) -> str:
    """The source of the helpers used and of those that they use, in a fixed order.

    goes_round: what leaves on one side comes in on the other.
    """
    wanted = used | {other for name in used for other in NEEDS.get(name, ())}
    goes_round = goes_round and not wanted.isdisjoint(_GOING)
    wanted |= {"wrapped"} if goes_round else set()
    texts = ((_round(name, text) if goes_round else text) for name, text in HELPERS.items() if name in wanted)
    return "\n\n".join(text.strip("\n") + "\n" for text in texts)


def _round(name: str, text: str) -> str:
    """A helper that says where something goes, on a grid that goes round."""
    plain, round_ = _GOING.get(name, ("", ""))
    return text.replace(plain, round_) if plain else text


_GOING = {
    "ahead": ("(obj.x + times * step[0], ", "wrapped(obj, obj.x + times * step[0], "),
    "beside": ("(obj.x + dx, obj.y + dy)", "wrapped(obj, obj.x + dx, obj.y + dy)"),
    "around": (
        "state.at(obj.x + dx, obj.y + dy, kind)",
        "state.at(*wrapped(obj, obj.x + dx, obj.y + dy), kind)",
    ),
}
"""Helpers that say where something goes: what they say of it, and what they say on a grid that goes round."""
