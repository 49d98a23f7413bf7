"""The prompts, as letters: golden files, templates of one's own, and how many tokens they have.

`REWRITE_GOLDEN=1 pytest tests/synthesis/llm/test_llm_prompts.py` writes the golden files anew; read the difference.
"""

from __future__ import annotations

import os
import random
import re
from pathlib import Path

import pytest
from small_world_of_lamps import GOAL, experience, lamps

from worldcoder.envs import make
from worldcoder.errors import UsageError
from worldcoder.llm.tokens import count_tokens
from worldcoder.llm.values import Message
from worldcoder.planning import Plan, Status
from worldcoder.programs import Mismatch, Program
from worldcoder.sandbox.modules import ALLOWED
from worldcoder.synthesis.llm.experience import Experience
from worldcoder.synthesis.llm.prompting import MODULES, Messages, Prompter, Wrong
from worldcoder.synthesis.llm.showing import changes
from worldcoder.synthesis.llm.templates import VALUES, Templates
from worldcoder.synthesis.proposer import Counterexample
from worldcoder.world import Action, Obj, Ref, State, Transition

GOLDEN = Path(__file__).parent / "golden"
PROGRAM = Program("def transition(state, action):\n    return state\n", "transition")
REWARD = Program("def reward(state, action, next_state):\n    return 0.0, False\n", "reward", GOAL)
OTHER = Program(
    "def reward(state, action, next_state):\n    return 0.0, not next_state.all('Lamp')\n",
    "reward",
    "no lamp",
)


def unreachable(nodes: int = 1_234, status: Status = Status.UNREACHABLE) -> Plan:
    return Plan(status, (), (), nodes, 0.1, "bfs")


def missed(seen: Experience, program: str) -> list[Mismatch]:
    """What a program that says "nothing changes", or no reward, gets wrong."""
    found = []
    for i, t in enumerate(seen.check.transitions):
        if program == "transition" and t.next_state != t.state:
            found.append(Mismatch(i, "state", t.state, t.next_state))
        if program == "reward" and (t.reward or t.done):
            found.append(Mismatch(i, "reward", 0.0, t.reward))
    return found


def letters(seen: Experience, goal: str, tokens: int) -> dict[str, Messages]:
    """Every kind of prompt."""
    write = Prompter(Templates(), tokens)
    start = seen.starts[goal][-1]
    reward = Program(REWARD.source, "reward", goal)
    wrong = missed(seen, "transition")
    imagined = Counterexample("timeout", start, next(iter(seen.actions)), goal, error="it took too long")
    failing = [Mismatch(wrong[0].index, "error", None, None, "KeyError: 'east' (line 3)"), *wrong[1:]]
    found = {
        "transition": write.transition(seen, ""),
        "reward": write.reward(seen, goal, [], ""),
        "goal": write.reward(seen, goal, [("no lamp", OTHER)], "Your reply held no Python code."),
        "repair-transition": write.repair(seen, PROGRAM, Wrong(wrong), "Your reply was cut off."),
        "repair-again": write.repair(seen, PROGRAM, Wrong(wrong), "Your reply was cut off.", 1),
        "repair-failing": write.repair(seen, PROGRAM, Wrong(failing, [imagined]), ""),
        "repair-reward": write.repair(seen, reward, Wrong(missed(seen, "reward")), ""),
        "plan": write.plan(seen, goal, (PROGRAM, reward), unreachable(), start, ""),
        "plan-budget": write.plan(
            seen, goal, (PROGRAM, reward), unreachable(20_000, Status.BUDGET), start, ""
        ),
        "simplify": write.simplify(seen, PROGRAM),
    }
    write.hints = (
        "Rules were induced from the steps before you were asked: if a Lamp is lit, nothing changes."
    )
    write.first = (3,)
    found["transition-with-rules"] = write.transition(seen, "")
    return found


LETTERS = letters(experience(), GOAL, 6_000)


def as_text(messages: Messages) -> str:
    """The last message; the first one is the same in all of them."""
    return messages[-1].content


@pytest.mark.parametrize("name", [*LETTERS, "system"])
def test_the_letters_are_as_they_were(name: str) -> None:
    text = LETTERS["transition"][0].content if name == "system" else as_text(LETTERS[name])
    path = GOLDEN / f"{name}.txt"
    if os.environ.get("REWRITE_GOLDEN"):
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8")


def test_there_is_a_golden_letter_for_every_template_and_no_other() -> None:
    names = {path.stem for path in GOLDEN.glob("*.txt")}
    assert names == {*LETTERS, "system"}
    assert {name.split("-")[0] for name in names} == set(VALUES)


@pytest.mark.parametrize("name", LETTERS)
def test_a_letter_has_a_system_message_and_one_question(name: str) -> None:
    assert [m.role for m in LETTERS[name]] == ["system", "user"]
    assert not re.search(r"\{\{|\}\}|\n\n\n(?!def |class )", as_text(LETTERS[name]))


def test_modules_that_are_recommended_can_be_imported() -> None:
    assert set(MODULES) <= set(ALLOWED)


def test_prompts_speak_of_no_world_of_ours() -> None:
    """Their examples are of an invented one: no name with a capital is one of a registered world's."""
    from test_structure import names_of_worlds

    text = "".join(Templates()._texts.values())
    assert not set(re.findall(r"\b[A-Z]\w+\b", text)) & {n for n in names_of_worlds() if n[:1].isupper()}


# ── tokens ───────────────────────────────────────────────────────────────────────────────────────────────


def large() -> Experience:
    """300 steps on a large level."""
    world, rng, seen = make("sokoban", size=13, boxes=4), random.Random(0), Experience()
    state, goal = world.reset(0)
    seen.begin(state, goal, world.actions(state))
    while len(seen.check) < 300:
        action = rng.choice(list(world.actions(state)))
        step = world.step(action)
        seen.observe(Transition(state, goal, action, step.state, step.reward, step.done))
        state = step.state
        if step.done or step.truncated:
            state, _ = world.reset(len(seen.check))
            seen.begin(state, goal, world.actions(state))
    return seen


@pytest.fixture(scope="module")
def large_experience() -> Experience:
    return large()


@pytest.mark.parametrize("tokens", [3_000, 8_000])
def test_each_letter_is_under_its_budget_of_tokens(large_experience: Experience, tokens: int) -> None:
    goal = next(iter(large_experience.starts))
    for name, messages in letters(large_experience, goal, tokens).items():
        assert sum(count_tokens(m.content) for m in messages) <= tokens, name
        if name != "simplify" and (tokens > 3_000 or name.startswith("repair")):
            assert "Step 1," in as_text(messages), name


def test_a_scene_is_written_once_and_steps_are_different(large_experience: Experience) -> None:
    text = as_text(Prompter(Templates(), 8_000).transition(large_experience, ""))
    scenes = re.findall(r"^Scene (\w+):", text, re.MULTILINE)
    assert len(scenes) == len(set(scenes)) >= 1
    shown = re.findall(r"^Step \d+, (.*?)^What", text, re.MULTILINE | re.DOTALL)
    assert len(shown) == len(set(shown)) > 8
    changes = re.findall(r"^What happened: (.*)$", text, re.MULTILINE)
    sorts = {re.sub(r"\d+", "#", change) for change in changes}
    assert {"nothing changes"} < sorts and any("Box" in sort for sort in sorts)


def test_what_is_too_large_is_shown_near_what_changes() -> None:
    seen = Experience()
    ground = [Obj("Tile", x=x, y=y) for x in range(60) for y in range(60)]
    before, after = (State([*ground, Obj("Snail", x=x, y=5)]) for x in (5, 6))
    seen.begin(before, "", [Action("creep")])
    seen.observe(Transition(before, "", Action("creep"), after, 0.0, False))
    messages = Prompter(Templates(), 4_000).transition(seen, "")
    assert "in a large scene of which only what is near is shown" in as_text(messages)
    assert sum(count_tokens(m.content) for m in messages) <= 4_000
    assert "(7, 5)" in as_text(messages) and "(40, 40)" not in as_text(messages)


def test_counterexamples_come_first_and_different_ones_before_alike_ones() -> None:
    seen = lamps(40)
    wrong = missed(seen, "transition")
    text = as_text(Prompter(Templates(), 8_000).repair(seen, PROGRAM, Wrong(wrong), ""))
    said = [
        bool("Your program says" in part)
        for part in re.findall(r"^Step .*?(?=\n\n)", text, re.DOTALL | re.MULTILINE)
    ]
    assert said == sorted(said, reverse=True) and 1 < sum(said) <= 6 and not all(said)


def test_a_prompt_that_is_sent_again_is_another_one(large_experience: Experience) -> None:
    """The same program, wrong about the same: other steps are shown each time, and all sorts of them."""
    seen, goal = large_experience, next(iter(large_experience.starts))
    write, wrong = Prompter(Templates(), 8_000), missed(large_experience, "transition")
    reward = Program(REWARD.source, "reward", goal)
    for ask in (
        lambda times: write.repair(seen, PROGRAM, Wrong(wrong), "", times),
        lambda times: write.transition(seen, "", times),
        lambda times: write.reward(seen, goal, [], "", times),
        lambda times: write.reward(seen, goal, [("no lamp", OTHER)], "", times),
        lambda times: write.plan(
            seen, goal, (PROGRAM, reward), unreachable(), seen.starts[goal][-1], "", times
        ),
    ):
        texts = [as_text(ask(times)) for times in range(10)]
        assert len(set(texts)) == 10 and texts == [as_text(ask(times)) for times in range(10)]
    shown = set[str]()
    for times in range(30):
        text = as_text(write.repair(seen, PROGRAM, Wrong(wrong), "", times))
        steps = re.findall(r"^What happened: (.*)\nYour program says", text, re.MULTILINE)
        assert 1 < len(steps) <= 6
        shown.update(steps)
    happened = [seen.check.transitions[m.index] for m in wrong]
    sorts = {re.sub(r"\d+", "#", changes(t.state, t.next_state)) for t in happened}
    assert len(shown) > 30 and {re.sub(r"\d+", "#", change) for change in shown} == sorts


# ── templates of one's own ───────────────────────────────────────────────────────────────────────────────


def test_a_folder_overrides_single_templates(tmp_path: Path) -> None:
    (tmp_path / "simplify.txt").write_text(
        "Shorter, please:\n{{program}}\n{{#goal}}\nfor {{goal}}\n{{/goal}}\n"
    )
    write = Prompter(Templates(tmp_path), 1_000)
    seen = experience()
    assert as_text(write.simplify(seen, PROGRAM)) == f"Shorter, please:\n{PROGRAM.source}"
    assert as_text(write.simplify(seen, REWARD)).endswith(f"for {GOAL}\n")
    assert write.simplify(seen, PROGRAM)[0] == Message("system", LETTERS["transition"][0].content)


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        (
            "repair",
            "Mend it.\n{{programm}}",
            r"repair.txt, line 2: unknown placeholder \{\{programm\}\}.*program",
        ),
        ("repair", "{{#goal}}\nFor {{goal}}.", r"the part \{\{#goal\}\} does not end"),
        ("repair", "{{/goal}}", "ends a part that did not begin"),
        ("repair", "Now {{#goal}} it", "on a line of its own"),
        ("reward", "{{program}}", "unknown placeholder"),
        ("rewards", "text", r"no prompt has this name; there are: system.txt, transition.txt"),
    ],
)
def test_what_is_wrong_with_a_template_is_said(tmp_path: Path, name: str, text: str, message: str) -> None:
    (tmp_path / f"{name}.txt").write_text(text)
    with pytest.raises(UsageError, match=message):
        Templates(tmp_path)


def test_a_folder_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no such folder"):
        Templates(tmp_path / "nowhere")


@pytest.mark.parametrize("name", VALUES)
def test_the_package_s_own_templates_are_well_formed(name: str) -> None:
    from worldcoder.synthesis.llm.templates import check

    check(Templates()._texts[name], name, name)
    for value in VALUES[name]:
        assert (
            f"{{{{{value}}}}}" in Templates()._texts[name] or f"{{{{#{value}}}}}" in Templates()._texts[name]
        )


def test_references_and_names_are_told_in_words() -> None:
    leaf = Obj("Leaf", x=1, y=2)
    before = State([Obj("Snail", name="ada", load=leaf), leaf])
    after = State([Obj("Snail", name="ada", load=None), Obj("Leaf", x=1, y=2)])
    seen = Experience()
    seen.begin(before, "", [Action("drop", ("ada", 1))])
    seen.observe(Transition(before, "", Action("drop", ("ada", 1)), after, 0.0, False))
    text = as_text(Prompter(Templates(), 4_000).transition(seen, ""))
    assert isinstance(before.named("ada").load, Ref)  # type: ignore[union-attr]
    assert "Snail (name, load): (ada, the Leaf at (1, 2))" in text
    assert "Action: drop(ada, 1)" in text and "Snail ada: load Leaf at (1, 2) → None" in text
