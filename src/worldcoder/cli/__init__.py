"""The command line: parses, calls, and shows. `main` is what the command `worldcoder` runs."""

from worldcoder.cli.entry import main

__all__ = ["main"]
