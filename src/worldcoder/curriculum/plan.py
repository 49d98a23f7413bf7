"""What is learned in a curriculum: environments in an order, each with the rules by which it ends.

A curriculum is a TOML file, or the name of one that comes with the package:

    order = "given"                        # or "progress": see `teacher.py`

    [every]                                # for every stage that does not say otherwise
    max_actions = 400

    [[stage]]
    environment = "minigrid:Empty-5x5"

    [[stage]]
    environment = "minigrid:Fetch-8x8-N3"
    levels = "next"
    solve = 5
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any

from worldcoder.configuration import Experiment
from worldcoder.envs import make
from worldcoder.envs.factories import suggestion
from worldcoder.envs.guarded import GuardedWorld
from worldcoder.errors import UsageError, WorldcoderError

ORDERS = ("given", "progress")
"""In the order of the file, each once; or again and again where most is being learned."""

SETTINGS = ("seed", "levels", "solve", "polish", "max_actions", "max_seconds", "max_episodes")
"""What a stage may set of an `Experiment`, besides its environment and options."""


@dataclass(frozen=True)
class Stage:
    """One environment of a curriculum. settings: of its `Experiment`, those of `SETTINGS`."""

    environment: str
    options: Mapping[str, Any]
    settings: Mapping[str, Any]

    def experiment(self, base: Experiment) -> Experiment:
        """What is run, with all that the stage leaves open as in another experiment. Raises UsageError."""
        return replace(base, environment=self.environment, options=self.options, **self.settings)


@dataclass(frozen=True)
class Curriculum:
    """Environments to learn, one after the other, with one model.

    name: of the file, or as it comes with the package. order: one of `ORDERS`.
    practice: where the order is by progress, the actions of one visit at most. visits: so many visits at most.
    """

    name: str
    stages: tuple[Stage, ...]
    order: str = "given"
    practice: int = 60
    visits: int = 60

    def to_json(self) -> dict[str, Any]:
        """Plain values; undone by `from_json`."""
        return asdict(self)

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Curriculum:
        """The curriculum that `to_json` wrote."""
        return cls(**{**values, "stages": tuple(Stage(**stage) for stage in values["stages"])})


def shipped() -> tuple[str, ...]:
    """The names of the curricula that come with the package."""
    return tuple(sorted(path.stem for path in Path(__file__).parent.glob("*.toml")))


def read(name: str | Path) -> Curriculum:
    """A curriculum from a file, or by the name of one that comes with the package.

    Raises UsageError for a file that is missing or is none, saying what is wrong and where.
    """
    path = Path(name)
    if not path.is_file() and str(name) in shipped():
        path = Path(__file__).with_name(f"{name}.toml")
    try:
        values = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        guess = suggestion(str(name), shipped())
        raise UsageError(
            f"no file and no curriculum is called {str(name)!r}{guess}; there are: {', '.join(shipped())}"
        ) from None
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{name} cannot be read: {error}") from None
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{name} is no curriculum in TOML: {error}") from None
    return _curriculum(str(name), path.stem, values)


def _curriculum(file: str, name: str, values: Mapping[str, Any]) -> Curriculum:
    _only(file, values, ("order", "practice", "visits", "every", "stage"))
    order, stages, every = values.get("order", "given"), values.get("stage"), values.get("every", {})
    if order not in ORDERS:
        raise UsageError(f"{file}: order: expected {' or '.join(ORDERS)}, got {order!r}")
    if not isinstance(stages, list) or not stages or not all(isinstance(s, dict) for s in stages):
        raise UsageError(f"{file}: there is no stage; write [[stage]] and, below it, environment = ...")
    if not isinstance(every, dict):
        raise UsageError(f"{file}: [every] is a table of settings, got {every!r}")
    _only(f"{file}: [every]", every, SETTINGS)
    numbers = {k: values[k] for k in ("practice", "visits") if k in values}
    for key, value in numbers.items():
        if type(value) is not int or value < 1:
            raise UsageError(f"{file}: {key}: expected 1 or more, got {value!r}")
    read = [_stage(f"{file}: stage {n}", stage, every) for n, stage in enumerate(stages, 1)]
    return Curriculum(name, tuple(read), order, **numbers)


def _stage(where: str, values: Mapping[str, Any], every: Mapping[str, Any]) -> Stage:
    _only(where, values, ("environment", "options", *SETTINGS))
    environment, options = values.get("environment"), values.get("options", {})
    if not isinstance(environment, str) or not isinstance(options, dict):
        raise UsageError(f'{where}: expected environment = "NAME", and options as a table if there are any')
    settings = {name: value for name, value in {**every, **values}.items() if name in SETTINGS}
    types = {f.name: f.type for f in fields(Experiment)}
    for name, value in settings.items():
        fits = isinstance(value, str) if name == "levels" else type(value) in (int, float)
        if not fits or (isinstance(value, float) and "float" not in str(types[name])):
            raise UsageError(f"{where}: {name}: got {value!r}, which does not fit")
    stage = Stage(environment, options, settings)
    try:
        stage.experiment(Experiment(environment))
    except UsageError as error:
        raise UsageError(f"{where}: {error}") from None
    return stage


def _only(where: str, values: Mapping[str, Any], known: Sequence[str]) -> None:
    for name in values:
        if name not in known:
            guess = suggestion(name, known)
            raise UsageError(f"{where}: nothing is called {name!r}{guess}; there are: {', '.join(known)}")


def check(curriculum: Curriculum, base: Experiment) -> None:
    """See that every environment starts, before the first is learned. Raises what is wrong, naming the stage."""
    for number, stage in enumerate(curriculum.stages, 1):
        try:
            experiment = stage.experiment(base)
            world = GuardedWorld(make(stage.environment, **stage.options), stage.environment)
            world.actions(world.reset(experiment.level(0)).state)
        except WorldcoderError as error:
            raise type(error)(f"{curriculum.name}: stage {number}: {error}") from None
