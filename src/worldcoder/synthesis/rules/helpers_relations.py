"""The small functions that tell what relates an object to others; see `helpers.py`."""

RELATIONS: dict[str, str] = {
    "far": '''
def far(obj, other):
    """Whether an object is more than three steps from another one."""
    x, y = getattr(obj, "x", None), getattr(other, "x", None)
    return type(x) is type(y) is int and abs(x - y) + abs(obj.y - other.y) > 3
''',
    "differ": '''
def differ(values):
    """Whether not all values are the same."""
    values = list(values)
    return any(value is not values[0] and value != values[0] for value in values)
''',
    "toward": '''
def toward(obj, other):
    """One step from an object to another in its row or column; None where it is in neither, or in its place."""
    if obj.x is None or other is None or other.x is None or (obj.x == other.x) == (obj.y == other.y):
        return None
    dx, dy = other.x - obj.x, other.y - obj.y
    return (obj.x + (dx > 0) - (dx < 0), obj.y + (dy > 0) - (dy < 0))
''',
    "nearer": '''
def nearer(obj, other, axes, sign=1):
    """One step nearer to another object along each of some axes, or, with -1, farther; None where they are level."""
    if obj.x is None or other is None or other.x is None:
        return None
    dx, dy = other.x - obj.x, other.y - obj.y
    dx, dy = ((dx > 0) - (dx < 0)) * ("x" in axes), ((dy > 0) - (dy < 0)) * ("y" in axes)
    return (obj.x + sign * dx, obj.y + sign * dy) if abs(dx) + abs(dy) == len(axes) else None
''',
    "gap": '''
def gap(obj, other):
    """How far it is from an object to another, along x and along y."""
    there = obj.x is not None and other is not None and other.x is not None
    return (abs(other.x - obj.x), abs(other.y - obj.y)) if there else (None, None)
''',
    "steps_between": '''
def steps_between(obj, other):
    """How many steps it is from an object to another; None where one of them is nowhere."""
    there = obj.x is not None and other is not None and other.x is not None
    return abs(other.x - obj.x) + abs(other.y - obj.y) if there else None
''',
    "sees": '''
def sees(state, obj, other):
    """Whether another object is in the same row or column, with nothing between that stops this one."""
    place = toward(obj, other)
    if place is None:
        return False
    dx, dy = place[0] - obj.x, place[1] - obj.y
    while place != (other.x, other.y):
        if blocked(state, place, obj.kind):
            return False
        place = (place[0] + dx, place[1] + dy)
    return True
''',
    "does_not_see": '''
def does_not_see(state, obj, other):
    """Whether an object stands somewhere where it does not see another."""
    return obj.x is not None and not sees(state, obj, other)
''',
    "around": '''
def around(state, obj, kind):
    """The objects of a kind in the four cells beside an object."""
    if obj.x is None:
        return []
    return [o for dx, dy in ((1, 0), (0, 1), (-1, 0), (0, -1)) for o in state.at(obj.x + dx, obj.y + dy, kind)]
''',
    "none_around": '''
def none_around(state, obj, kind):
    """Whether an object stands somewhere without an object of a kind beside it."""
    return obj.x is not None and not around(state, obj, kind)
''',
    "some_with": '''
def some_with(state, kind, obj, attribute, *but):
    """The objects of a kind that have the value that an object has, without that one and some others."""
    value = getattr(obj, attribute, None)
    there = [o for o in state.all(kind) if o is not obj and not any(o is b for b in but)]
    return [] if value is None else [o for o in there if getattr(o, attribute, None) == value]
''',
    "none_with": '''
def none_with(state, kind, obj, attribute, *but):
    """Whether an object has a value that no other of a kind has."""
    return getattr(obj, attribute, None) is not None and not some_with(state, kind, obj, attribute, *but)
''',
    "the_only": '''
def the_only(found, old):
    """The one that was found; the old value where it is none, or several."""
    return found[0] if len(found) == 1 else old
''',
    "all_covered": '''
def all_covered(objects, kinds, state):
    """Whether there are some, and something of some kinds is in the place of each."""
    return bool(objects) and all(o.x is not None and any(p.kind in kinds for p in state.at(o.x, o.y)) for o in objects)
''',
    "one_has": '''
def one_has(objects, attribute, value):
    """Whether one of some objects has a value."""
    values = [getattr(o, attribute, None) for o in objects]
    return any(v == value and type(v) is type(value) for v in values)
''',
    "one_has_not": '''
def one_has_not(objects, attribute, value):
    """Whether one of some objects has another value of that sort."""
    values = [getattr(o, attribute, None) for o in objects]
    return any(v != value and type(v) is type(value) for v in values)
''',
    "numbered": '''
def numbered(state, kind, obj, attribute, more=0):
    """The only other object of a kind that has the same number as an object, or so much more; None if there is none."""
    number = getattr(obj, attribute, None)
    if more:
        number = number + more if type(number) is int else ...
    found = [o for o in state.all(kind) if o is not obj and getattr(o, attribute, None) == number]
    return found[0] if len(found) == 1 else None
''',
    "joined": '''
def joined(state, kind, attributes, a, b):
    """Whether an object of a kind refers to both of two objects."""
    both = is_object(a) and is_object(b) and a is not b
    return both and any(all(any(getattr(o, n) is x for n in attributes) for x in (a, b)) for o in state.all(kind))
''',
    "not_joined": '''
def not_joined(state, kind, attributes, a, b):
    """Whether two are objects, and none of a kind refers to both."""
    return is_object(a) and is_object(b) and a is not b and not joined(state, kind, attributes, a, b)
''',
    "numbers_there": '''
def numbers_there(state, obj, attribute, target, number):
    """A number of all other objects of the same kind that refer to something."""
    there = [o for o in state.all(obj.kind) if o is not obj and getattr(o, attribute, ...) is target]
    return [value for o in there if is_number(value := getattr(o, number, None))]
''',
    "before_all": '''
def before_all(state, obj, attribute, target, number):
    """Whether a number of an object is less than those of all others that refer to something."""
    mine = getattr(obj, number)
    return is_object(target) and all(mine < v for v in numbers_there(state, obj, attribute, target, number))
''',
    "after_all": '''
def after_all(state, obj, attribute, target, number):
    """Whether a number of an object is greater than those of all others that refer to something."""
    mine = getattr(obj, number)
    return is_object(target) and all(mine > v for v in numbers_there(state, obj, attribute, target, number))
''',
    "on_the_way": '''
def on_the_way(state, start, mover, kind):
    """The objects of a kind on the straight way that a mover has gone from a place, the end included."""
    if start is None or mover is None or None in (start[0], mover.x) or (start[0] != mover.x and start[1] != mover.y):
        return []
    dx, dy = mover.x - start[0], mover.y - start[1]
    times = max(abs(dx), abs(dy))
    places = [(start[0] + k * dx // times, start[1] + k * dy // times) for k in range(1, times + 1)]
    return [o for x, y in places for o in state.at(x, y, kind) if o is not mover]
''',
}
