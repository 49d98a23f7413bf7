"""`worldcoder models`: lists, shows, compares and merges what was learned."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from worldcoder.cli.options import DebugOption, JsonOption, UnsafeOption, warn, write, write_json

models_app = typer.Typer(
    name="models",
    help="List, show, compare and merge saved models.",
    invoke_without_command=True,
    rich_markup_mode="markdown",
    context_settings={"help_option_names": ["-h", "--help"]},
)

ModelArgument = Annotated[
    Path, typer.Argument(metavar="MODEL", help="A saved model's folder, or the directory of a run.")
]


@models_app.callback()
def without_command(context: typer.Context) -> None:
    """List, show, compare and merge saved models. Without a command, list those of `runs`."""
    if context.invoked_subcommand is None:
        list_command()


@models_app.command("list")
def list_command(
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help="Where to look, and in the folders below.")
    ] = Path("runs"),
    as_json: JsonOption = False,
    debug: DebugOption = False,
) -> None:
    """List the saved models, of runs and others.

    `worldcoder models list runs`
    """
    from worldcoder.errors import ModelFormatError
    from worldcoder.library import find, summary_of

    found = []
    for path in find(folder):
        try:
            found.append(summary_of(path))
        except ModelFormatError as error:  # one that cannot be read hides no other
            warn(f"caution: {error}")
    if as_json:
        write_json(found)
        return
    if not found:
        write(f"no models in {folder}")
    width = max((len(model["path"]) for model in found), default=0)
    for model in found:
        write(f"{model['path']:<{width}}  {_in_short(model)}")


@models_app.command("show")
def show_command(model: ModelArgument, as_json: JsonOption = False, debug: DebugOption = False) -> None:
    """Show what a model was learned from, what it is about, and its programs.

    `worldcoder models show runs/sokoban-0`
    """
    from worldcoder.cli.showing import model_values, write_programs
    from worldcoder.library import summary_of
    from worldcoder.programs.saving import load_model

    values = summary_of(model)
    programs = model_values(load_model(model))
    if as_json:
        write_json({**values, **programs})
        return
    write(f"{values['path']}  {_in_short(values)}")
    for world in values["worlds"]:
        write(f"  world       {world}")
    for kind, attributes in values["kinds"].items():
        write(f"  kind        {kind}({', '.join(attributes)})")
    if values["actions"]:
        write(f"  actions     {', '.join(values['actions'])}")
    for goal, counts in values["goals"].items():
        solved = "reached" if counts["solved"] else "never reached"
        write(f'  goal        "{goal}": {counts["transitions"]:,} transitions, {solved}')
    write_programs(programs, write)


@models_app.command("compare")
def compare_command(
    first: ModelArgument,
    second: ModelArgument,
    unsafe: UnsafeOption = False,
    as_json: JsonOption = False,
    debug: DebugOption = False,
) -> None:
    """Compare two models: their code, and what each says of the data of both.

    `worldcoder models compare runs/sokoban-0 runs/sokoban-1`
    """
    from worldcoder.cli.running import running
    from worldcoder.library import compare_models
    from worldcoder.programs.saving import load_knowledge

    known = load_knowledge(first), load_knowledge(second)
    with running(unsafe=unsafe, warn=warn) as runner:
        found = compare_models(*known, runner)
    if as_json:
        write_json(found.to_json())
        return
    total = found.both + found.only_first + found.only_second + found.neither
    write(f"transition  {'the same code' if found.same_transition else 'different code'}")
    for goal, how in found.goals.items():
        said = {"first": f"only in {first}", "second": f"only in {second}"}.get(how, f"{how} code")
        write(f'goal        "{goal}": {said}')
    if not total:
        write("data        none: neither model carries what it was learned from")
        return
    write(f"data        of {total:,} transitions both reproduce {found.both:,}, neither {found.neither:,}")
    for count, path in ((found.only_first, first), (found.only_second, second)):
        if count:
            write(f"            only {path} reproduces {count:,}")
    if found.difference is not None:
        write(f"difference  {found.difference}")
    elif found.agree:
        write("agree       nothing recorded tells them apart")


@models_app.command("merge")
def merge_command(
    models: Annotated[
        list[Path], typer.Argument(metavar="MODEL...", help="Two or more saved models, or runs.")
    ],
    out: Annotated[Path, typer.Option(metavar="DIR", help="The folder of the merged model.")],
    unsafe: UnsafeOption = False,
    as_json: JsonOption = False,
    debug: DebugOption = False,
) -> None:
    """Merge models of one world whose data agree, into one with the data of all.

    Programs of theirs that explain everything are kept; else the rules write new ones.

    `worldcoder models merge runs/sokoban-0 runs/sokoban-1 --out models/sokoban`
    """
    values = _merge(models, out, unsafe, warn)
    if as_json:
        write_json(values)
        return
    explained = values["transitions"] - values["unexplained"]
    write(f"{out}: explains {explained:,} of {values['transitions']:,} transitions of {len(models)} models")
    write(f"  transition  {'of ' + values['transition_of'] if values['transition_of'] else 'written anew'}")
    for goal in values["goals"]:
        write(f'  goal        "{goal}"')


def _merge(models: Sequence[Path], out: Path, unsafe: bool, warn: Callable[[str], None]) -> dict[str, Any]:
    from worldcoder.cli.running import running
    from worldcoder.errors import UsageError
    from worldcoder.library import merge
    from worldcoder.programs.saving import load_knowledge

    names = [str(path) for path in models]
    if len(set(names)) < 2:
        raise UsageError("merge: expected two models or more, as in: worldcoder models merge A B --out DIR")
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise UsageError(f"--out {out} exists already; choose another folder")
    known = {name: load_knowledge(name) for name in names}
    with running(unsafe=unsafe, warn=warn) as runner:
        merged = merge(known, runner)
    model = merged.known.model
    assert model is not None
    model.save(out, {"merged": names, "worlds": list(merged.known.worlds)}, episodes=merged.known.episodes)
    return {
        "path": str(out),
        "merged": names,
        "transitions": len(merged.known.transitions),
        "unexplained": merged.unexplained,
        "transition_of": None if merged.transition_of is None else names[merged.transition_of],
        "goals": list(model.rewards),
    }


def _in_short(model: dict[str, Any]) -> str:
    worlds = ", ".join(model["worlds"][:3]) + (", …" if len(model["worlds"]) > 3 else "")
    data = f"{model['transitions']:,} transitions" if model["transitions"] else "no data"
    goals = f"{len(model['goals'])} goal{'' if len(model['goals']) == 1 else 's'}"
    return f"{worlds or 'of no recorded world'} · {goals} · {model['lines']:,} lines · {data}"
