"""The commands and their options. What a command does is in the modules that it imports when it runs."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Annotated

import typer

from worldcoder.cli.learn_command import learn_command
from worldcoder.cli.library import models_app
from worldcoder.cli.options import (
    DebugOption,
    EnvironmentArgument,
    JsonOption,
    ModelArgument,
    OptionOption,
    QuietOption,
    SeedsOption,
    UnsafeOption,
    ignore,
    warn,
    write,
    write_json,
)

app = typer.Typer(
    name="worldcoder",
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Learns how a world works by acting in it, and writes what it learned as a Python program.",
    epilog="Begin with: worldcoder learn sokoban",
)


def _print_version(wanted: bool) -> None:
    if wanted:
        try:
            write(f"worldcoder {version('worldcoder')}")
        except PackageNotFoundError:
            write("worldcoder (not installed)")
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """What all commands share."""


app.command("learn")(learn_command)
app.add_typer(models_app)


@app.command("play")
def play_command(
    model: ModelArgument,
    environment: EnvironmentArgument,
    seeds: SeedsOption = "1-20",
    option: OptionOption = None,
    max_steps: Annotated[int, typer.Option(metavar="N", min=1, help="Actions in an episode at most.")] = 500,
    nodes: Annotated[
        int, typer.Option(metavar="N", min=1, help="Steps that one search may look at.")
    ] = 1_000_000,
    seconds: Annotated[
        float, typer.Option(metavar="S", min=0, help="Seconds that one search may take.")
    ] = 60.0,
    watch: Annotated[
        bool | None,
        typer.Option(
            "--watch/--no-watch",
            help="Draw the level after each action. (default in a terminal)",
            show_default=False,
        ),
    ] = None,
    unsafe: UnsafeOption = False,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
    debug: DebugOption = False,
) -> None:
    """Solve levels with a model that was learned or written, planning in it.

    The programs are read from the model's folder as they stand: edit one, and play uses the change.

    `worldcoder play runs/sokoban-0 sokoban --seeds 1-20`
    """
    from worldcoder.cli.arguments import parse_options, parse_seeds
    from worldcoder.cli.using import play

    result, sandbox = play(
        model,
        environment,
        parse_seeds(seeds),
        parse_options(option or ()),
        max_steps=max_steps,
        nodes=nodes,
        seconds=seconds,
        watch=watch,
        unsafe=unsafe,
        quiet=quiet or as_json,
        write=write,
        warn=ignore if quiet else warn,
    )
    if as_json:
        write_json({**result.to_json(), "sandbox": sandbox})
    if result.interrupted:
        raise typer.Exit(130)


@app.command("compare")
def compare_command(
    model: ModelArgument,
    environment: EnvironmentArgument,
    seeds: SeedsOption = "1-20",
    option: OptionOption = None,
    tests: Annotated[int, typer.Option(metavar="N", min=1, help="Tests at most.")] = 2000,
    seconds: Annotated[
        float | None, typer.Option(metavar="S", min=0, help="Seconds at most; fewer tests are made then.")
    ] = None,
    unsafe: UnsafeOption = False,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
    debug: DebugOption = False,
) -> None:
    """Hold a model against the real environment, exactly.

    Tests are drawn evenly over actions and what surrounds the objects they touch, so that rare situations
    count as much as common ones. A test is passed when next state, reward and end are all as in the world.

    `worldcoder compare runs/sokoban-0 sokoban --seeds 1-20`
    """
    from worldcoder.cli.arguments import parse_options, parse_seeds
    from worldcoder.cli.using import compare

    result, sandbox = compare(
        model,
        environment,
        parse_seeds(seeds),
        parse_options(option or ()),
        tests=tests,
        seconds=seconds,
        unsafe=unsafe,
        quiet=quiet or as_json,
        write=write,
        warn=ignore if quiet else warn,
    )
    if as_json:
        write_json({**result.to_json(), "sandbox": sandbox})


@app.command("envs")
def envs_command(
    name: Annotated[
        str | None,
        typer.Argument(metavar="NAME", help="An environment, for its options.", show_default=False),
    ] = None,
    as_json: JsonOption = False,
    debug: DebugOption = False,
) -> None:
    """List the environments, or tell about one."""
    from worldcoder.cli.showing import environments, environments_text

    entries = environments(name)
    if as_json:
        write_json(entries)
    else:
        for line in environments_text(entries, details=name is not None):
            write(line)


@app.command("show")
def show_command(
    path: Annotated[
        Path, typer.Argument(metavar="RUN|MODEL", help="The directory of a run, or a saved model's folder.")
    ],
    unsafe: UnsafeOption = False,
    as_json: JsonOption = False,
    debug: DebugOption = False,
) -> None:
    """Show the program that was learned, and the course of its run.

    The program of a run is held against what the run recorded, for which it is run. Where programs cannot be
    locked up, that is left out.
    """
    from worldcoder.cli.showing import shown, write_shown

    values = shown(path, unsafe=unsafe, warn=warn)
    if as_json:
        write_json(values)
    else:
        write_shown(values, write)


@app.command("doctor")
def doctor_command(
    attack: Annotated[
        bool,
        typer.Option("--attack", help="Let every attack loose that the package knows; takes half a minute."),
    ] = False,
    without: Annotated[
        list[str] | None,
        typer.Option(
            "--without",
            metavar="LAYER",
            help="Leave a layer off while attacking, to see what it is good for.",
        ),
    ] = None,
    as_json: JsonOption = False,
    debug: DebugOption = False,
) -> None:
    """Say what keeps programs from doing harm on this machine, and try whether it does.

    Programs are run by processes that are locked in several layers. This lists the layers, which of them are
    here and what each stops. With --attack it tries to break out, in ways that are harmless if they succeed.

    `worldcoder doctor --attack`
    """
    from worldcoder.cli.doctoring import attacked, examination_text, examination_values, examine, layers_named

    off = layers_named(without or ())
    if off and not attack:
        raise typer.BadParameter("--without is for --attack")
    found = examine()
    if attack and not found.trouble:
        found = attacked(found, off, quiet=as_json)
    if as_json:
        write_json(examination_values(found))
    else:
        for line in examination_text(found):
            write(line)
    raise typer.Exit(0 if found.well else 1)
