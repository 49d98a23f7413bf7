"""Building environments from a spec: names, files, options, and what is said when it cannot be done."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any, Literal

import pytest

from worldcoder import envs
from worldcoder.envs import Start, Step, registry
from worldcoder.errors import UnknownEnvironment, WorldError
from worldcoder.world.values import Action, Obj, State

WORLD = """
from worldcoder.envs import Start, Step
from worldcoder.world.values import Action, Obj, State

class World:
    def __init__(self, **options):
        self.options = options
    def reset(self, seed):
        return Start(State([Obj("Thing", x=0)]), "wait")
    def step(self, action):
        return Step(State([Obj("Thing", x=0)]), 0.0, False, False)
    def actions(self, state):
        return [Action("wait")]

def make_env(size: int = 3, *, speed: float = 1.5, loud: bool = False, limit: int | None = None, title="x"):
    "A world in a file."
    return World(size=size, speed=speed, loud=loud, limit=limit, title=title)

def broken():
    raise ValueError("first line\\nsecond line")

def incomplete():
    return object()

def demanding(*, needed: int):
    return World(needed=needed)

number = 3
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with a user's file in it."""
    (tmp_path / "their_file.py").write_text(WORLD)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def message(spec: str, error: type[WorldError] = WorldError, **options: Any) -> str:
    """What `make` says; always one line that names the environment."""
    with pytest.raises(error) as caught:
        envs.make(spec, **options)
    text = str(caught.value)
    assert text and "\n" not in text
    return text


# ── where a factory can be ───────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "spec",
    ["their_file:make_env", "their_file.py:make_env", "./their_file:make_env", "./their_file.py:make_env"],
)
def test_a_file_of_the_current_folder(folder: Path, spec: str) -> None:
    assert envs.make(spec).reset(0).goal == "wait"


def test_a_file_elsewhere_may_import_its_neighbours(
    folder: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    (elsewhere / "neighbour_of_theirs.py").write_text("GOAL = 'from the neighbour'\n")
    (elsewhere / "theirs.py").write_text(
        WORLD.replace('"wait")', "GOAL)").replace(
            "class World", "from neighbour_of_theirs import GOAL\nclass World"
        )
    )
    before = list(sys.path)
    assert envs.make(f"{elsewhere / 'theirs'}:make_env").reset(0).goal == "from the neighbour"
    assert sys.path == before


def test_a_module_of_a_package_in_the_current_folder(folder: Path) -> None:
    package = folder / "their_package"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "base.py").write_text(WORLD)
    (package / "world.py").write_text("from .base import make_env\n")
    assert envs.make("their_package.world:make_env", size=9).options["size"] == 9


def test_an_installed_module() -> None:
    assert envs.make("worldcoder.envs.sokoban:make_env").reset(0).goal == "win the game"


def test_a_bare_name_is_a_file_of_the_folder_before_an_installed_module(folder: Path) -> None:
    (folder / "statistics.py").write_text(WORLD)
    assert envs.make("statistics:make_env").reset(0).goal == "wait"


def test_an_edited_file_is_read_again(folder: Path) -> None:
    envs.make("their_file:make_env")
    (folder / "their_file.py").write_text(WORLD.replace('"wait")', '"edited")'))
    assert envs.make("their_file:make_env").reset(0).goal == "edited"


def test_two_files_of_one_name_do_not_meet(folder: Path) -> None:
    (folder / "other").mkdir()
    (folder / "other/their_file.py").write_text(WORLD.replace('"wait")', '"other")'))
    assert envs.make("their_file:make_env").reset(0).goal == "wait"
    assert envs.make("other/their_file.py:make_env").reset(0).goal == "other"


def test_a_description_of_a_factory_of_ones_own(folder: Path) -> None:
    entry = envs.describe("their_file:make_env")
    assert entry.description == "A world in a file."
    assert [(o.name, o.type, o.default) for o in entry.options] == [
        ("size", "int", 3),
        ("speed", "float", 1.5),
        ("loud", "bool", False),
        ("limit", "int | None", None),
        ("title", "str", "x"),
    ]


# ── options ──────────────────────────────────────────────────────────────────────────────────────────────


def test_text_is_converted_to_what_the_factory_declares(folder: Path) -> None:
    env = envs.make("their_file:make_env", size="7", speed="2", loud="yes", limit="12", title="12")
    assert env.options == {"size": 7, "speed": 2.0, "loud": True, "limit": 12, "title": "12"}
    assert type(env.options["speed"]) is float
    assert envs.make("their_file:make_env", limit="none", loud="0").options["limit"] is None


def test_values_that_are_no_text_are_left_alone(folder: Path) -> None:
    given = {"size": 7, "limit": None, "title": ("a", "b")}
    assert given.items() <= envs.make("their_file:make_env", **given).options.items()


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [("size", "seven", "int"), ("loud", "maybe", "bool (true or false)"), ("limit", "x", "int | None")],
)
def test_text_that_does_not_convert(folder: Path, name: str, value: str, expected: str) -> None:
    assert message("their_file:make_env", **{name: value}) == f"option {name}={value}: expected {expected}"


def test_an_unknown_option(folder: Path) -> None:
    assert message("their_file:make_env", sise=3) == (
        "their_file:make_env: no option 'sise' (did you mean 'size'?);"
        " it has: size, speed, loud, limit, title"
    )


def test_a_choice_that_does_not_exist() -> None:
    assert message("sokoban", actions="pull") == "option actions=pull: expected one of: push, all"


def test_an_option_without_default(folder: Path) -> None:
    assert "'needed' has no default" in message("their_file:demanding")
    assert envs.make("their_file:demanding", needed="4").options == {"needed": 4}


# ── what cannot be built ─────────────────────────────────────────────────────────────────────────────────


def test_an_unknown_name() -> None:
    assert message("sokobn", UnknownEnvironment) == (
        f"no environment is called 'sokobn' (did you mean 'sokoban'?); there are: {', '.join(envs.names())};"
        " your own is given as FILE.py:FACTORY or module:factory"
    )
    assert "did you mean 'minigrid'?" in message("mingrid:DoorKey-8x8", UnknownEnvironment)


@pytest.mark.parametrize("spec", ["", " ", None, 3])
def test_no_name_at_all(spec: Any) -> None:
    assert "expected an environment such as" in message(spec, UnknownEnvironment)


@pytest.mark.parametrize("spec", ["nothing:", ":make_env", ":"])
def test_half_a_spec(folder: Path, spec: str) -> None:
    assert "expected package.module:factory or path/to/file.py:factory" in message(spec, UnknownEnvironment)


@pytest.mark.parametrize("spec", ["their_file.py", "./their_file.py", "their_file", "their_file:"])
def test_a_file_without_a_factory(folder: Path, spec: str) -> None:
    assert message(spec, UnknownEnvironment) == (
        f"{spec}: expected FILE.py:FACTORY, as in {spec.rstrip(':')}:World;"
        " their_file.py has: World, make_env, broken, incomplete"
    )


def test_a_file_in_which_nothing_looks_like_a_factory(folder: Path) -> None:
    (folder / "names.py").write_text(
        "from pathlib import Path\nfrom their_file import make_env\n"
        "def needs(size): ...\ndef _hidden(): ...\nclass Helper: ...\nnumber = 3\n"
    )
    assert "no function without required parameters is in names.py; add one" in message("names.py")
    (folder / "faulty.py").write_text("1 / 0\n")
    assert "faulty.py does not load: ZeroDivisionError" in message("faulty.py")
    assert "No such file" in message("missing.py", UnknownEnvironment)


def test_missing_files_and_modules(folder: Path) -> None:
    assert "No such file" in message("no/such/file.py:make_env", UnknownEnvironment)
    assert "no module 'nosuch'" in message("nosuch.module:make_env", UnknownEnvironment)
    assert "did you mean 'make_env'?" in message("their_file:make_enw", UnknownEnvironment)


def test_a_factory_that_is_no_function(folder: Path) -> None:
    assert message("their_file:number").endswith("expected number to be a function, got int")


def test_a_factory_that_raises(folder: Path) -> None:
    with pytest.raises(WorldError, match=r"the factory raised ValueError: first line$") as caught:
        envs.make("their_file:broken")
    assert isinstance(caught.value.__cause__, ValueError)


def test_a_factory_that_returns_something_else(folder: Path) -> None:
    assert message("their_file:incomplete").endswith(
        "expected an environment with reset, step and actions, got object without reset, step, actions"
    )


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("def f(:\n", "SyntaxError on line 1"),
        ("import not_installed_anywhere\n", "No module named 'not_installed_anywhere'"),
        ("1 / 0\n", "ZeroDivisionError: division by zero"),
    ],
)
def test_a_file_that_does_not_load(folder: Path, source: str, said: str) -> None:
    (folder / "faulty.py").write_text(source)
    assert said in message("faulty:make_env")
    assert said in message("faulty:make_env"), "a failure to load is not remembered as a success"


def test_text_after_the_colon_of_an_environment_that_takes_none(unregistered: None) -> None:
    envs.register("plain", Plain)
    assert (
        message("plain:level-3")
        == "plain:level-3: plain takes nothing after the colon, got 'level-3'; write plain"
    )


def test_nothing_after_the_colon() -> None:
    assert message("sokoban:") == "sokoban:: nothing after the colon; expected sokoban[:FILE[#LEVEL]]"


@pytest.mark.parametrize("package", ["gymnasium", "minigrid"])
def test_a_missing_package_says_how_to_install_it(package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [m for m in sys.modules if m.startswith(f"{package}.")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, package, None)  # as if it were not installed
    assert "pip install 'worldcoder[minigrid]'" in message("minigrid:DoorKey-8x8")


def test_nothing_heavy_is_imported_before_it_is_asked_for() -> None:
    heavy = "{'gymnasium', 'minigrid', 'numpy', 'pygame', 'matplotlib'}"
    code = f"import sys; from worldcoder import envs; envs.entries(); assert not {heavy} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)


# ── registering ──────────────────────────────────────────────────────────────────────────────────────────


class Plain:
    """A plain world."""

    def reset(self, seed: int) -> Start:
        return Start(State([Obj("Thing", seed=seed)]), "wait")

    def step(self, action: Action) -> Step:
        return Step(State([]), 0.0, False, False)

    def actions(self, state: State) -> list[Action]:
        return [Action("wait")]


@pytest.fixture
def unregistered(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a test registers is forgotten after it."""
    monkeypatch.setattr(registry, "_registered", dict(registry._registered))


def test_registering_by_one_line(unregistered: None) -> None:
    envs.register("plain", Plain)
    assert "plain" in envs.names()
    assert isinstance(envs.make("plain"), Plain)
    assert envs.describe("plain").description == "A plain world."


def test_registering_by_decorator_with_text_after_the_colon(unregistered: None) -> None:
    seen = []

    @envs.register("worded", usage="worded[:WORD]")
    def make_env(word: str | None = None, /, *, mood: Literal["calm", "wild"] = "calm") -> Plain:
        """A world with a word."""
        seen.append((word, mood))
        return Plain()

    envs.make("worded")
    envs.make("worded:a:b", mood="wild")
    assert seen == [(None, "calm"), ("a:b", "wild")]
    assert [o.name for o in envs.describe("worded").options] == ["mood"]
    assert make_env("direct")


def test_a_name_is_taken_once(unregistered: None) -> None:
    envs.register("plain", Plain)
    envs.register("plain", Plain)  # a module that is loaded twice does no harm
    with pytest.raises(WorldError, match="'plain' is taken"):
        envs.register("plain", lambda: Plain())
    with pytest.raises(WorldError, match="no colon"):
        envs.register("a:b", Plain)
