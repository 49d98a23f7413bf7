"""Factories: finding the one a spec names, reading its options, calling it.

A factory is any callable that returns an Environment. Its keyword parameters are its options; a
positional-only first parameter, if it has one, receives the text after the colon of `name:text`.
"""

from __future__ import annotations

import difflib
import hashlib
import importlib
import inspect
import sys
import types
import typing
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from worldcoder.envs.contract import Environment
from worldcoder.errors import UnknownEnvironment, WorldcoderError, WorldError

Factory = Callable[..., Environment]

_YES, _NO = {"true", "yes", "on", "1"}, {"false", "no", "off", "0"}


@dataclass(frozen=True, slots=True)
class Option:
    """A keyword argument of a factory.

    type: as it is written, or "" where the factory does not say. default: None too where there is none;
    required tells the two apart. choices: the values there are, if only some are allowed.
    """

    name: str
    type: str
    default: Any
    required: bool
    choices: tuple[Any, ...]
    _annotation: Any = field(repr=False, compare=False)

    def convert(self, value: Any) -> Any:
        """A value for this option: text is read as the option's type, all else is left as it is.

        Raises WorldError for text that cannot be read, and for a value that is none of the choices.
        """
        if isinstance(value, str) and not isinstance(self.default, str):
            value = self._read(value)
        if self.choices and value not in self.choices:
            expected = ", ".join(map(str, self.choices))
            raise WorldError(f"option {self.name}={value}: expected one of: {expected}")
        return value

    def _read(self, text: str) -> Any:
        kinds = _alternatives(self._annotation)
        if self.choices or not kinds or str in kinds:
            return text
        for kind in kinds:
            try:
                if kind is type(None) and text.lower() == "none":
                    return None
                if kind is bool and text.lower() in _YES | _NO:
                    return text.lower() in _YES
                if kind in (int, float):
                    return kind(text)
            except ValueError:
                continue
        example = " (true or false)" if bool in kinds else ""
        raise WorldError(f"option {self.name}={text}: expected {self.type}{example}")


def _alternatives(annotation: Any) -> tuple[Any, ...]:
    if annotation is inspect.Parameter.empty:
        return ()
    if typing.get_origin(annotation) in (typing.Union, types.UnionType):
        return typing.get_args(annotation)
    return (annotation,)


def options(factory: Factory) -> tuple[Option, ...]:
    """The options of a factory, in the order in which it declares them."""
    hints = _hints(factory)
    return tuple(
        _option(p, hints.get(p.name, inspect.Parameter.empty))
        for p in _parameters(factory)
        if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)
    )


def _option(parameter: inspect.Parameter, annotation: Any) -> Option:
    required = parameter.default is parameter.empty
    default = None if required else parameter.default
    if annotation is parameter.empty and default is not None:
        annotation = type(default)
    choices = typing.get_args(annotation) if typing.get_origin(annotation) is typing.Literal else ()
    if annotation is parameter.empty:
        written = ""
    elif choices:
        written = " | ".join(map(repr, choices))
    else:
        written = annotation.__name__ if isinstance(annotation, type) else str(annotation)
    return Option(parameter.name, written, default, required, choices, annotation)


def _hints(factory: Factory) -> Mapping[str, Any]:
    owner = factory.__init__ if isinstance(factory, type) else factory  # type: ignore[misc]
    try:
        return typing.get_type_hints(owner)
    except (NameError, TypeError, AttributeError):  # annotations that only a type checker can read
        return {}


def _parameters(factory: Factory) -> tuple[inspect.Parameter, ...]:
    try:
        return tuple(inspect.signature(factory).parameters.values())
    except (TypeError, ValueError):  # some callables written in C have no signature
        return ()


def takes_text(factory: Factory) -> bool:
    """Whether the factory receives the text after the colon."""
    return any(p.kind is p.POSITIONAL_ONLY for p in _parameters(factory))


def call(spec: str, factory: Factory, text: str | None, given: Mapping[str, Any]) -> Environment:
    """Call a factory; raises WorldError when that fails or gives no environment."""
    known = {o.name: o for o in options(factory)}
    open_ended = any(p.kind is p.VAR_KEYWORD for p in _parameters(factory))
    for name in given:
        if name not in known and not open_ended:
            there_are = ", ".join(known) or "none"
            raise WorldError(f"{spec}: no option {name!r}{suggestion(name, known)}; it has: {there_are}")
    missing = [name for name, o in known.items() if o.required and name not in given]
    if missing:
        raise WorldError(f"{spec}: option {missing[0]!r} has no default; give it, as {missing[0]}=...")
    values = {name: known[name].convert(value) if name in known else value for name, value in given.items()}
    if text is not None and not takes_text(factory):
        name = spec.partition(":")[0]
        raise WorldError(f"{spec}: {name} takes nothing after the colon, got {text!r}; write {name}")
    try:
        environment = factory(text, **values) if takes_text(factory) else factory(**values)
    except WorldcoderError:
        raise
    except Exception as error:
        raise WorldError(f"{spec}: the factory raised {one_line(error)}") from error
    lacking = [m for m in ("reset", "step", "actions") if not callable(getattr(environment, m, None))]
    if lacking:
        raise WorldError(
            f"{spec}: expected an environment with reset, step and actions, got {type(environment).__name__}"
            f" without {', '.join(lacking)}"
        )
    return environment


# ── finding a factory outside the registry ───────────────────────────────────────────────────────────────


def load(spec: str) -> tuple[Factory, Path | None]:
    """The factory that `module:name`, `file.py:name` or `file:name` names, and its file's folder, if any.

    Raises UnknownEnvironment where there is no such module, file or name, WorldError where it fails to load.
    """
    place, _, name = spec.rpartition(":")
    if not place or not name:
        raise UnknownEnvironment(f"{spec}: expected package.module:factory or path/to/file.py:factory")
    path = _file(place)
    module = _from_file(spec, path) if path else _from_package(spec, place)
    if not hasattr(module, name):
        offered = [n for n, v in vars(module).items() if callable(v) and not n.startswith("_")]
        there_are = ", ".join(offered[:8]) or "no function"
        guess = suggestion(name, offered)
        raise UnknownEnvironment(f"{spec}: {place} has no {name!r}{guess}; it has: {there_are}")
    factory = getattr(module, name)
    if not callable(factory):
        raise WorldError(f"{spec}: expected {name} to be a function, got {type(factory).__name__}")
    return factory, path.parent if path else None


def without_factory(spec: str) -> str | None:
    """What to say of a spec that is a Python file and names no factory in it; None for any other spec.

    Raises UnknownEnvironment where the file is missing, WorldError where it fails to load.
    """
    place = spec.removesuffix(":")
    path = _file(place)
    if path is None:
        return None
    module = _from_file(spec, path)
    found = [name for name, value in vars(module).items() if _looks_like_factory(value, module.__name__)]
    if not found:
        return (
            f"{spec}: expected FILE.py:FACTORY, and no function without required parameters is in {path.name};"
            " add one that returns an environment"
        )
    there_are = ", ".join(found[:8])
    return f"{spec}: expected FILE.py:FACTORY, as in {place}:{found[0]}; {path.name} has: {there_are}"


def _looks_like_factory(value: Any, module: str) -> bool:
    """Whether something was defined in a module and can be called without arguments to build a world."""
    if not callable(value) or getattr(value, "__module__", None) != module:
        return False
    name = getattr(value, "__name__", "_")
    if name.startswith("_") or not isinstance(value, type | types.FunctionType):
        return False
    if isinstance(value, type) and not all(hasattr(value, m) for m in ("reset", "step", "actions")):
        return False
    variable = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    return all(p.default is not p.empty or p.kind in variable for p in _parameters(value))


def _file(place: str) -> Path | None:
    """The Python file that is meant, or None when it is a module's name.

    A bare name is a file of the current folder before it is an installed module, as for `python name.py`.
    """
    path = Path(place).expanduser()
    for candidate in (path, path.with_name(path.name + ".py")) if path.name else ():
        if candidate.suffix == ".py" and candidate.is_file():
            return candidate.resolve()
    looks_like_path = path.suffix == ".py" or "/" in place or "\\" in place
    return path if looks_like_path else None


def _from_file(spec: str, path: Path) -> types.ModuleType:
    try:
        source = path.read_bytes()
    except OSError as error:
        raise UnknownEnvironment(f"{spec}: cannot read {path}: {error.strerror}; check the path") from error
    # The name holds the text's digest: an edited file is a new module, an unchanged one is loaded once.
    digest = hashlib.sha256(str(path).encode() + source).hexdigest()[:12]
    name = f"{path.stem}_{digest}"
    if name in sys.modules:
        return sys.modules[name]
    module = types.ModuleType(name)
    module.__file__ = str(path)
    sys.modules[name] = module  # dataclasses and pickle look the module up while it loads
    try:
        with importable(path.parent):
            exec(compile(source, str(path), "exec"), module.__dict__)
    except BaseException as error:
        del sys.modules[name]
        if isinstance(error, Exception):
            raise WorldError(f"{spec}: {path.name} does not load: {one_line(error)}") from error
        raise
    return module


def _from_package(spec: str, place: str) -> types.ModuleType:
    try:
        with importable(Path.cwd()):
            return importlib.import_module(place)
    except ModuleNotFoundError as error:
        if error.name and (place == error.name or place.startswith(error.name + ".")):
            raise UnknownEnvironment(
                f"{spec}: no module {error.name!r} and no file {place.replace('.', '/')}.py in this folder;"
                " check the spelling, or give the path as path/to/file.py:factory"
            ) from error
        raise WorldError(f"{spec}: {place} does not load: {one_line(error)}") from error
    except Exception as error:
        raise WorldError(f"{spec}: {place} does not load: {one_line(error)}") from error


@contextmanager
def importable(folder: Path | None) -> Iterator[None]:
    """Let a user's file import its neighbours while it loads and builds its environment."""
    entry = str(folder)
    if folder is None or entry in sys.path:
        yield
        return
    sys.path.insert(0, entry)
    try:
        yield
    finally:
        if entry in sys.path:
            sys.path.remove(entry)


# ── words for messages ───────────────────────────────────────────────────────────────────────────────────


def suggestion(name: str, known: Iterable[str]) -> str:
    """` (did you mean 'that'?)` when something like it is known, else nothing."""
    by_lower = {k.lower(): k for k in known}
    close = difflib.get_close_matches(name.lower(), by_lower, n=1, cutoff=0.6)
    return f" (did you mean {by_lower[close[0]]!r}?)" if close else ""


def one_line(error: BaseException) -> str:
    """An exception as one line: its type, its message's first line, and the line of a syntax error."""
    if isinstance(error, SyntaxError):
        return f"{type(error).__name__} on line {error.lineno}: {error.msg}"
    first = (str(error).strip().splitlines() or [""])[0]
    return f"{type(error).__name__}: {first}" if first else type(error).__name__
