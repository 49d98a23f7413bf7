"""The environments that have a name, and `make`, which builds any environment from a spec."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar, overload

from worldcoder.envs import factories
from worldcoder.envs.contract import Environment
from worldcoder.envs.factories import Factory, Option
from worldcoder.errors import UnknownEnvironment, WorldError

F = TypeVar("F", bound=Factory)


@dataclass(frozen=True, slots=True)
class Entry:
    """What can be said about an environment without building it.

    name: as `make` takes it. description: one line. usage: the forms of a spec, `sokoban[:FILE[#LEVEL]]`.
    example: a spec that works as it stands. options: the keyword arguments of `make`.
    """

    name: str
    description: str
    usage: str
    example: str
    options: tuple[Option, ...]


@dataclass(frozen=True, slots=True)
class _Registered:
    factory: Factory | str  # "module:name" is imported when it is asked for
    usage: str
    example: str
    family: str = ""  # "module:name" of a mapping, from what may stand after the colon to its factory


_registered: dict[str, _Registered] = {}


@overload
def register(name: str, factory: Factory | str, *, usage: str = "", example: str = "") -> None: ...
@overload
def register(name: str, *, usage: str = "", example: str = "") -> Callable[[F], F]: ...
def register(name: str, factory: Factory | str | None = None, *, usage: str = "", example: str = "") -> Any:
    """Give an environment a name: `register("mine", make_env)`, or `@register("mine")` above the factory.

    factory: a callable that returns an Environment, or "module:name" to import it only when it is needed.
    Its docstring's first line is the description, its keyword parameters are the options; a positional-only
    first parameter receives the text of `mine:text`, or None.

    Raises WorldError when the name is taken or holds a colon.
    """
    if factory is None:

        def decorate(function: F) -> F:
            register(name, function, usage=usage, example=example)
            return function

        return decorate
    if not name or ":" in name:
        raise WorldError(f"an environment's name has no colon and is not empty, got {name!r}")
    known = _registered.get(name)
    if known is not None and known.factory != factory:
        raise WorldError(f"the name {name!r} is taken by another environment; choose another")
    _registered[name] = _Registered(factory, usage or name, example or name)
    return None


def names() -> tuple[str, ...]:
    """The names of the registered environments, in alphabetical order; of a family also its members'."""
    found = list(_registered)
    for name, known in _registered.items():
        found += [f"{name}:{member}" for member in _family(known)]
    return tuple(sorted(found))


def entries() -> tuple[Entry, ...]:
    """What there is to say about every registered environment, in the order of `names`."""
    return tuple(describe(name) for name in names())


def describe(spec: str) -> Entry:
    """What can be said about the environment of a spec without building it.

    Raises UnknownEnvironment as `make` does.
    """
    name, _, member = spec.partition(":")
    known = _registered.get(name)
    factory, _ = _find(spec)
    if known is not None and member and known.family:
        make(spec)  # for what it raises where there is no such member
        factory, known = _load(_family(known)[member]), None
    description = (inspect.getdoc(factory) or "").partition("\n")[0].strip()
    if known is None:
        return Entry(spec, description, spec, spec, factories.options(factory))
    return Entry(name, description, known.usage, known.example, factories.options(factory))


def make(spec: str, /, **options: Any) -> Environment:
    """Build an environment.

    spec: a registered name (`sokoban`), a name and what it takes (`sokoban:levels.xsb#7`,
    `minigrid:DoorKey-8x8`), or a factory of yours: `package.module:factory`, `path/to/file.py:factory`, or
    `file:factory` for a file of the current folder. A registered name comes first; write `./name.py:factory`
    for a file that shares one.
    options: keyword arguments of the factory; text is converted to the type that the factory declares.

    Raises UnknownEnvironment when nothing has this name, WorldError when it cannot be built or an option does
    not fit. Both name what there is instead.
    """
    factory, folder = _find(spec)
    name, colon, text = spec.partition(":")
    if name in _registered and colon and not text:
        raise WorldError(f"{spec}: nothing after the colon; expected {_registered[name].usage}")
    with factories.importable(folder):
        return factories.call(spec, factory, text if colon and name in _registered else None, options)


def _find(spec: str) -> tuple[Factory, Any]:
    if not isinstance(spec, str) or not spec.strip():
        raise UnknownEnvironment(f"expected an environment such as {names()[0]!r}, got {spec!r}")
    name = spec.partition(":")[0]
    known = _registered.get(name)
    if known is None:
        guess = factories.suggestion(name, names())
        if not spec.partition(":")[2] and (said := factories.without_factory(spec)):
            raise UnknownEnvironment(said)
        if ":" not in spec:
            raise UnknownEnvironment(
                f"no environment is called {spec!r}{guess}; there are: {', '.join(names())};"
                " your own is given as FILE.py:FACTORY or module:factory"
            )
        try:
            return factories.load(spec)
        except UnknownEnvironment as error:
            if guess:
                raise UnknownEnvironment(f"no environment is called {name!r}{guess}") from error
            raise
    return _load(known.factory) if isinstance(known.factory, str) else known.factory, None


def _load(place: str) -> Any:
    """What "module:name" names."""
    module, _, attribute = place.partition(":")
    return getattr(importlib.import_module(module), attribute)


def _family(known: _Registered) -> Mapping[str, str]:
    """The factories of the members of a family, by what stands after the colon; empty where it is none."""
    return _load(known.family) if known.family else {}


register("sokoban", "worldcoder.envs.sokoban:make_env", usage="sokoban[:FILE[#LEVEL]]")
register("minigrid", "worldcoder.envs.minigrid:make_env", usage="minigrid:ID", example="minigrid:DoorKey-8x8")

# A family: its members are named, listed and tested as environments of their own.
_LAB = "worldcoder.envs.lab"
_registered["lab"] = _Registered(f"{_LAB}:make_env", "lab:NAME", "lab:teleport", family=f"{_LAB}:WORLDS")
