"""Rules mend a program of somebody else: a guarded special case in front of it.

    if special(state, action):
        return by_rules(state, action)
    return written(state, action)

What is special is found by the rules' own search for the shortest decision list (see `rules.lists`), on all that
was seen: it has to hold where only the rules are right, and not where only the written program is. It is said in
the rules' language, and so generalises as they do.
"""

from __future__ import annotations

import ast
import io
import tokenize
from collections.abc import Collection, Iterable, Mapping, Sequence

from worldcoder.programs import Program
from worldcoder.synthesis.llm.trimming import Module, bound_by, parse, text_of
from worldcoder.synthesis.rules.dynamics import Dynamics
from worldcoder.synthesis.rules.emit import Block, assemble
from worldcoder.synthesis.rules.expressions import Writer
from worldcoder.synthesis.rules.language import Context
from worldcoder.synthesis.rules.lists import DecisionList, search
from worldcoder.synthesis.rules.literals import literals
from worldcoder.synthesis.rules.rows import Rows
from worldcoder.synthesis.rules.scene import scene_of

_WRITTEN = ("written",)
_RULES = ("by rules",)
_COST = {_WRITTEN: 0.4, _RULES: 1.2}
MOST_RULES = 6
"""Conditions of a special case; what needs more is learned by heart."""

_JOINED = '''
def transition(state, action):
    """What was written, but where the rules are known to be right and it is not."""
    if special(state, action):
        return by_rules(state, action)
    return written(state, action)
'''


def patched(
    dynamics: Dynamics, rules: Program, program: Program, rules_wrong: Collection[int], wrong: Collection[int]
) -> Program | None:
    """The program with a special case in front that leaves to the rules what it gets wrong.

    rules_wrong, wrong: the transitions that the two programs do not reproduce, by index in the dynamics.
    None where the rules have no more to say, or no words for where that is.
    """
    if not set(wrong) - set(rules_wrong):
        return None
    when = _when(dynamics, set(rules_wrong), set(wrong))
    guard = None if when is None else _guard(dynamics, when)
    if guard is None:
        return None
    parts = [guard, (rules.source, "by_rules"), (program.source, "written")]
    modules = [parse(source)[0] for source, _ in parts]
    if any(module is None for module in modules):
        return None
    texts = _apart([(m, name) for m, (_, name) in zip(modules, parts, strict=True) if m is not None])
    source = "\n\n".join([*texts, _JOINED.lstrip("\n")])
    return Program(source, "transition", origin=f"{program.origin} and rules", parent=program.id)


def _when(dynamics: Dynamics, rules_wrong: set[int], wrong: set[int]) -> DecisionList | None:
    """In which contexts of the avatar the rules should speak, and in which the program; None: not known."""
    rows = Rows()
    for index, transition in enumerate(dynamics.transitions):
        scene = scene_of(transition.state)
        avatar = dynamics.avatar_of(scene)
        if avatar is None or (index in wrong and index in rules_wrong):
            continue
        direction = dynamics.vocabulary.direction(avatar, transition.action)
        context = Context(scene, transition.action, avatar, avatar, direction, dynamics.vocabulary)
        right = [
            effect for effect, not_by in ((_WRITTEN, wrong), (_RULES, rules_wrong)) if index not in not_by
        ]
        mask = dynamics.literals.mask(literals(context))
        rows.add(mask, {effect: _COST[effect] for effect in right}, index)
    if not rows.by_mask:
        return None
    best = search(rows, dynamics.literals, most_rules=MOST_RULES, keep=1)[0]
    return best if len(best.rules) > 1 else None


def _guard(dynamics: Dynamics, when: DecisionList) -> tuple[str, str] | None:
    """The program that says whether a step is special, and the name that its function gets."""
    writer = Writer(dynamics.vocabulary)
    body = []
    for rule in when.rules:
        answer = f"return {rule.effect == _RULES}"
        conditions = [writer.literal(lit, None) for lit in dynamics.literals.of(rule.condition)]
        body += [f"if {' and '.join(conditions)}:", f"    {answer}"] if conditions else [answer]
    if writer.next_values:
        return None
    source = assemble(dynamics, [Block(writer, body)], set(dynamics.vocabulary.together))
    head, function = source.split("def transition(", 1)
    lines = [
        "def transition(" + function.splitlines()[0],
        '    """Whether this is a step of which rules know more."""',
    ]
    lines += [line.replace("return state", "return False") for line in function.splitlines()[2:]]
    while lines[-1].strip() in ("return False", "") and lines[-2].startswith("    return "):
        del lines[-1]
    return head + "\n".join(lines) + "\n", "special"


def _apart(parts: Sequence[tuple[Module, str]]) -> list[str]:
    """The texts of programs with their names at the margin kept apart, `transition` by a name of its own for each.

    What is the same in two of them, such as a helper of the rules, is written once.
    """
    taken = {"transition", "special", "by_rules", "written"}
    before: dict[str, str] = {}
    texts = []
    for module, name in parts:
        shared = _shared(module, before)
        names = {}
        for own in module.names.keys() - shared:
            new = name if own == "transition" else own
            while own != "transition" and new in taken:
                new = f"{new}_of_{name}" if new == own else f"{new}_"
            names[own] = new
        kept = [i for i, statement in enumerate(module.body) if not shared.issuperset(bound_by(statement))]
        text = text_of(module, kept)
        before.update(_definitions(module, module.names.keys() - shared))
        taken |= {*names.values(), *shared}
        texts.append(_renamed(text, {old: new for old, new in names.items() if old != new}))
    return texts


def _definitions(module: Module, names: Iterable[str]) -> dict[str, str]:
    return {name: ast.dump(module.body[module.names[name]]) for name in names}


def _shared(module: Module, before: Mapping[str, str]) -> set[str]:
    """The names that mean the same as before, and need nothing that does not."""
    shared = {name for name, text in _definitions(module, module.names).items() if before.get(name) == text}
    while True:
        differs = module.names.keys() - shared
        left = {name for name in shared if not module.uses[module.names[name]] & differs}
        if left == shared:
            return shared
        shared = left


def _renamed(text: str, names: dict[str, str]) -> str:
    """A text with names exchanged, where they stand for themselves and are no attribute of something."""
    lines = text.splitlines(keepends=True)
    before = ""
    edits = []
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.NAME and token.string in names and before != ".":
            edits.append((token.start, token.end, names[token.string]))
        if token.type not in (tokenize.NL, tokenize.COMMENT):
            before = token.string
    for (row, start), (_, end), new in reversed(edits):
        line = lines[row - 1]
        lines[row - 1] = line[:start] + new + line[end:]
    return "".join(lines).rstrip("\n") + "\n"
