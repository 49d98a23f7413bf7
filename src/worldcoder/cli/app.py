"""The commands and their options. What a command does is in the modules that it imports when it runs."""

from __future__ import annotations

import json
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Annotated, Any

import typer

app = typer.Typer(
    name="worldcoder",
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Learns how a world works by acting in it, and writes what it learned as a Python program.",
    epilog="Begin with: worldcoder learn sokoban",
)

EnvironmentArgument = Annotated[
    str,
    typer.Argument(
        metavar="ENV", help="An environment: a name as in `worldcoder envs`, or your own, FILE.py:FACTORY."
    ),
]
ModelArgument = Annotated[
    Path, typer.Argument(metavar="MODEL", help="A saved model's folder, or the directory of a run.")
]
OptionOption = Annotated[
    list[str] | None,
    typer.Option("--option", "-o", metavar="NAME=VALUE", help="An option of the environment; repeatable."),
]
SeedsOption = Annotated[str, typer.Option("--seeds", metavar="SEEDS", help="Levels: 1-20, 3 or 1,4,7-9.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print the result as JSON, and nothing else.")]
UnsafeOption = Annotated[
    bool,
    typer.Option(
        "--unsafe-no-sandbox",
        help="Run programs even where they cannot be locked up. They can then do whatever you can.",
    ),
]
QuietOption = Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors.")]
DebugOption = Annotated[bool, typer.Option("--debug", help="Show where an error comes from.")]


def _write(line: str) -> None:
    typer.echo(line)


def _warn(line: str) -> None:
    typer.echo(line, err=True)


def _ignore(line: str) -> None:
    """Where nothing but errors is wanted."""


def _write_json(values: Any) -> None:
    typer.echo(json.dumps(values, indent=2, ensure_ascii=False))


def _print_version(wanted: bool) -> None:
    if wanted:
        try:
            _write(f"worldcoder {version('worldcoder')}")
        except PackageNotFoundError:
            _write("worldcoder (not installed)")
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """What all commands share."""


@app.command("learn")
def learn_command(
    environment: Annotated[
        str | None,
        typer.Argument(
            metavar="ENV",
            help="An environment: a name as in `worldcoder envs`, or your own, FILE.py:FACTORY.",
            show_default=False,
        ),
    ] = None,
    seed: Annotated[
        int | None, typer.Option(metavar="N", help="The level, and everything random. (default 0)")
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="The run's directory, new or empty. (default runs/ENV-SEED)"),
    ] = None,
    resume: Annotated[
        Path | None,
        typer.Option(metavar="RUN", help="Go on with a run that was stopped or killed; needs no ENV."),
    ] = None,
    option: OptionOption = None,
    model: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="A language model that writes programs: openai/NAME, anthropic/NAME, openrouter/NAME, "
            "gemini/NAME, ollama/NAME. The key comes from the environment.",
        ),
    ] = None,
    base_url: Annotated[
        str | None,
        typer.Option(metavar="URL", help="Another server that speaks as OpenAI's does. It is recorded."),
    ] = None,
    synthesizer: Annotated[
        str | None,
        typer.Option(
            metavar="rules|llm|hybrid",
            help="Who writes programs; hybrid: rules, and the model for what they cannot explain. "
            "(default hybrid with --model, else rules)",
        ),
    ] = None,
    max_calls: Annotated[
        int | None, typer.Option(metavar="N", help="Calls of the model for one problem at most. (default 50)")
    ] = None,
    max_tokens: Annotated[
        int | None, typer.Option(metavar="N", help="Tokens at most, in and out, in the whole run.")
    ] = None,
    max_usd: Annotated[
        float | None, typer.Option(metavar="USD", help="Dollars at most, in the whole run.")
    ] = None,
    reply_tokens: Annotated[
        int | None, typer.Option(metavar="N", help="Tokens of one reply at most. (default 4096)")
    ] = None,
    temperature: Annotated[
        float | None, typer.Option(metavar="T", help="Of the model. (default: the server's)")
    ] = None,
    search: Annotated[
        str | None,
        typer.Option(
            metavar="rex|breadth-first|greedy|best-of-n", help="Which program is refined. (default rex)"
        ),
    ] = None,
    prompts: Annotated[
        Path | None, typer.Option(metavar="DIR", help="A folder of prompts in the place of the usual ones.")
    ] = None,
    replay: Annotated[
        Path | None,
        typer.Option(metavar="RUN", help="Do a run again with its recorded replies, without key or network."),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show the first prompt and what it costs; ask nothing.")
    ] = False,
    max_actions: Annotated[
        int | None, typer.Option(metavar="N", help="Actions in the world at most. (default 1000)")
    ] = None,
    max_seconds: Annotated[
        float | None,
        typer.Option(
            metavar="S", help="Seconds at most; where the run ends then depends on the machine's speed."
        ),
    ] = None,
    max_episodes: Annotated[int | None, typer.Option(metavar="N", help="Episodes at most.")] = None,
    epsilon: Annotated[
        float | None, typer.Option(metavar="SHARE", help="Share of random actions. (default 0.05)")
    ] = None,
    min_data: Annotated[
        int | None, typer.Option(metavar="N", help="Random actions before learning begins. (default 10)")
    ] = None,
    polish: Annotated[
        int | None,
        typer.Option(metavar="N", help="Actions to go on exploring for, once solved. (default 60)"),
    ] = None,
    levels: Annotated[
        str | None,
        typer.Option(
            metavar="same|next", help="Each episode on the same level, or on the next. (default same)"
        ),
    ] = None,
    no_optimism: Annotated[
        bool, typer.Option("--no-optimism", help="Do not invent rewards before one was seen.")
    ] = False,
    no_check: Annotated[
        bool, typer.Option("--no-check", help="Do not compare the model with the world at the end.")
    ] = False,
    no_pictures: Annotated[
        bool, typer.Option("--no-pictures", help="Do not draw the learning curve and the replay.")
    ] = False,
    unsafe: UnsafeOption = False,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
    debug: DebugOption = False,
) -> None:
    """Learn a world by acting in it.

    Acts, writes a world model as a Python program, plans in it, and acts on the plan, until the world is
    solved and nothing is left to learn. Everything is recorded in the run's directory: the model (model/),
    the results (summary.json), the whole course (log.sqlite). Ctrl-C ends in order, with the model saved.

    `worldcoder learn sokoban`

    `worldcoder learn minigrid:DoorKey-5x5 --seed 3 --out runs/keys`

    `worldcoder learn my_world.py:make_env --option size=9`

    `worldcoder learn sokoban --model openai/gpt-5-mini --max-usd 2 --dry-run`
    """
    from worldcoder.cli.arguments import parse_options
    from worldcoder.cli.learning import learn

    given = {
        "options": parse_options(option) if option else None,
        "seed": seed,
        "max_actions": max_actions,
        "max_seconds": max_seconds,
        "max_episodes": max_episodes,
        "epsilon": epsilon,
        "min_data": min_data,
        "polish": polish,
        "levels": levels,
        "optimism": False if no_optimism else None,
        "model": model,
        "base_url": base_url,
        "synthesizer": synthesizer,
        "max_calls": max_calls,
        "max_tokens": max_tokens,
        "max_usd": max_usd,
        "reply_tokens": reply_tokens,
        "temperature": temperature,
        "search": search,
        "prompts": None if prompts is None else str(prompts),
    }
    if dry_run:
        from worldcoder.cli.previewing import dry_run as show

        lines = _ignore if as_json else _write
        run = resume or replay or out
        found = show(environment, run, given, unsafe=unsafe, write=lines, warn=_warn)
        if as_json:
            _write_json(found.to_json())
        return
    summary = learn(
        environment,
        resume,
        out,
        given,
        quiet=quiet or as_json,
        check=not no_check,
        pictures=not no_pictures,
        unsafe=unsafe,
        write=_write,
        warn=_ignore if quiet else _warn,
        repeated=replay,
    )
    if as_json:
        _write_json(summary.to_json())
    raise typer.Exit({"interrupted": 130, "terminated": 143}.get(summary.stopped or "", 0))


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
        write=_write,
        warn=_ignore if quiet else _warn,
    )
    if as_json:
        _write_json({**result.to_json(), "sandbox": sandbox})
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
        write=_write,
        warn=_ignore if quiet else _warn,
    )
    if as_json:
        _write_json({**result.to_json(), "sandbox": sandbox})


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
        _write_json(entries)
    else:
        for line in environments_text(entries, details=name is not None):
            _write(line)


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

    values = shown(path, unsafe=unsafe, warn=_warn)
    if as_json:
        _write_json(values)
    else:
        write_shown(values, _write)


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
        _write_json(examination_values(found))
    else:
        for line in examination_text(found):
            _write(line)
    raise typer.Exit(0 if found.well else 1)
