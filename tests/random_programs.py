"""Programs and states made at random, for tests that must hold for all of them."""

from __future__ import annotations

from hypothesis import strategies as st

from worldcoder.world import Action, Obj, State

ACTIONS = [Action("left", ()), Action("right", ()), Action("use", ())]

STATEMENTS = [
    # what a program may be made of: local questions, questions about all, writes, creation, removal, kinds
    "for o in state.at(me.x + d, 0):\n        o.x += d",
    'for o in state.at(me.x + d, 0, "Box"):\n        o.x -= d',
    'for o in state.at(me.x + d, 0):\n        if o.kind != "Me": state.remove(o)',
    'if action.name == "use" and not state.at(me.x + 1, 0): state.add("Box", x=me.x + 1, y=0)',
    'if action.name == "use" and len(state.all("Box")) < 4: state.add("Box", x=me.x, y=0)',
    'for o in state.all("Box"):\n        o.x = (o.x + d) % 5',
    'for o in state.all("Door"):\n        o.open = not o.open',
    'for o in state.at(me.x, 0, "Door"):\n        if o.open: me.x = 0',
    'for o in state.at(me.x, 0, "Box"):\n        o.kind = "Door"; o.open = True',
    'for o in state.at(me.x, 0, "Door"):\n        o.kind = "Box"; del o.open',
    'key = state.named("key")\n    if key is not None and key.x == me.x: me.held = True; state.remove(key)',
    'if action.name == "use" and state.named("key") is None: state.add("Key", name="key", x=2, y=0)',
    "me.x = max(0, min(4, me.x + d))",
    "me.x = (me.x + d) % 5",
    "if len(state) > 5: me.x = 0",
    'for o in state:\n        if o.kind == "Box" and o.x == me.x: o.x = 4',
    'if d and me.x == 3: raise ValueError("no")',
    'if me.x == 4 and d > 0: return [o for o in state if o.kind != "Box"]',
    "me.near = len(state.at(me.x, 0))",
    'for o in state.at(me.x + d, 0, "Box"):\n        me.carries = o',
    "if me.x == 2: me.carries = None",
    # through references: what another object is, and what becomes of it
    'load = getattr(me, "carries", None)\n    if load is not None: load.x = (load.x + d) % 5',
    'load = getattr(me, "carries", None)\n    if load is not None and load.x > 2: me.x = load.x',
    'load = getattr(me, "carries", None)\n    if load is not None and getattr(load, "open", False): me.x = 0',
    'load = getattr(me, "carries", None)\n    if load is not None: state.remove(load); me.carries = None',
    'for o in state.all("Door"):\n        o.near = me if o.x == me.x + 1 else None',
    'for o in state.at(me.x, 0, "Door"):\n        if getattr(o, "near", None): o.near.x = 0',
]
REWARDS = [
    'won = any(b.x == 4 for b in next_state.all("Box")); return float(won), won',
    'me = next_state.one("Me"); won = bool(next_state.at(me.x, 0)[1:]); return me.x / 2, False',
    'a, b = state.all("Box"), next_state.all("Box"); return len(b) - len(a), len(b) == 4',
    "return len(next_state) - len(state), False",
    'return (1, True) if action.name == "use" and next_state.one("Me").x == 4 else (0, False)',
    'me = state.one("Me"); return len(state.at(me.x, 0)) - len(next_state.at(me.x, 0)), False',
    'return 1 / (next_state.one("Me").x - 3), False',
    'load = getattr(next_state.one("Me"), "carries", None); return (load.x if load else -1), False',
    'load = getattr(state.one("Me"), "carries", None)\n'
    "    if load is None: return -1, False\n"
    "    return len(next_state.at(load.x, 0)) + 10 * (load in next_state.all(load.kind)), False",
    'won = all(getattr(getattr(d, "near", d), "x", 3) == 3 for d in next_state.all("Door")); return won, won',
    "return sum(x.x for o in next_state for x in vars(o).values() if hasattr(x, 'kind')), False",
]


@st.composite
def programs(draw: st.DrawFn) -> tuple[str, str]:
    body = draw(st.lists(st.sampled_from(STATEMENTS), min_size=1, max_size=4, unique=True))
    lines = [
        "def transition(state, action):",
        '    me = state.one("Me")',
        '    d = {"left": -1, "right": 1}.get(action.name, 0)',
        *[f"    {statement}" for statement in body],
        "    return state",
    ]
    reward = f"def reward(state, action, next_state):\n    {draw(st.sampled_from(REWARDS))}\n"
    return "\n".join(lines), reward


@st.composite
def states(draw: st.DrawFn) -> State:
    place = st.integers(0, 4)
    boxes = [Obj("Box", x=x, y=0) for x in draw(st.lists(place, max_size=3))]
    carries = {"carries": draw(st.sampled_from([None, *boxes]))} if draw(st.booleans()) else {}
    objects = [Obj("Me", x=draw(place), y=0, held=False, **carries), *boxes]
    objects += [Obj("Door", x=x, y=0, open=draw(st.booleans())) for x in draw(st.lists(place, max_size=2))]
    if draw(st.booleans()):
        objects.append(Obj("Key", name="key", x=draw(place), y=0))
    return State(objects)
