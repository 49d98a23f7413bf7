"""The command `worldcoder learn`: its options."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from worldcoder.cli.options import (
    DebugOption,
    JsonOption,
    OptionOption,
    QuietOption,
    UnsafeOption,
    ignore,
    warn,
    write,
    write_json,
)


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
    known: Annotated[
        Path | None,
        typer.Option(
            "--from",
            metavar="MODEL",
            help="Begin with what was learned before: a run, or a saved model with its data.",
        ),
    ] = None,
    curriculum: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Learn several environments, each with what the ones before taught; a TOML file, or `minigrid`.",
        ),
    ] = None,
    order: Annotated[
        str | None,
        typer.Option(
            metavar="given|progress",
            help="Of a curriculum: as in the file, or where most is being learned. (default: the file's)",
        ),
    ] = None,
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
    solve: Annotated[
        int | None,
        typer.Option(metavar="N", help="Episodes that have to be solved before it counts. (default 1)"),
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

    `worldcoder learn minigrid:Unlock --from runs/minigrid-DoorKey-5x5-0`

    `worldcoder learn --curriculum minigrid`

    `worldcoder learn sokoban --model openai/gpt-5-mini --max-usd 2 --dry-run`
    """
    from worldcoder.cli.arguments import parse_options
    from worldcoder.cli.courses import Named, is_curriculum, learn_curriculum
    from worldcoder.cli.learning import learn

    given = {
        "options": parse_options(option) if option else None,
        "seed": seed,
        "max_actions": max_actions,
        "max_seconds": max_seconds,
        "max_episodes": max_episodes,
        "epsilon": epsilon,
        "min_data": min_data,
        "solve": solve,
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

        lines = ignore if as_json else write
        run = resume or replay or out or curriculum
        found = show(environment, run, given, known=known, unsafe=unsafe, write=lines, warn=warn)
        if as_json:
            write_json(found.to_json())
        return
    summary: Any
    if is_curriculum(curriculum, order, resume):
        which = Named(curriculum, order, environment, resume, replay, out, known)
        summary = learn_curriculum(
            which,
            given,
            quiet=quiet or as_json,
            pictures=not no_pictures,
            unsafe=unsafe,
            write=write,
            warn=ignore if quiet else warn,
        )
    else:
        summary = learn(
            environment,
            resume,
            out,
            given,
            quiet=quiet or as_json,
            check=not no_check,
            pictures=not no_pictures,
            unsafe=unsafe,
            write=write,
            warn=ignore if quiet else warn,
            repeated=replay,
            known=known,
        )
    if as_json:
        write_json(summary.to_json())
    raise typer.Exit({"interrupted": 130, "terminated": 143}.get(summary.stopped or "", 0))
