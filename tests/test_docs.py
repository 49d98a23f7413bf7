"""Every code block of the README and the docs does what it says.

sh        command lines to install: checked against pyproject.toml, not run
console   `$ command` and what it prints: run; each line shown must begin as one that is printed
python    run, all of a page together; with a file's name in its first comment it is that file
xsb       a level file
toml      a curriculum; with a file's name in its first comment, as of Python
text      something to look at
"""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")), *sorted((ROOT / "design").glob("*.md"))]
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.M | re.S)

SHORTER = {
    "learn": ["--no-pictures", "--no-check", "--polish", "20"],
    "compare": ["--tests", "200"],
}
"""Options that make a command of the docs quick; they come last, and so count."""


def blocks(page: Path) -> list[tuple[str, str]]:
    return BLOCK.findall(page.read_text(encoding="utf-8"))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_blocks_of_a_page(page: Path, tmp_path: Path) -> None:
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    program = ""  # the Python blocks of a page are one program, which runs at the end
    for language, text in blocks(page):
        match language:
            case "python" | "xsb" | "toml" if name := re.match(r"[#;] (\S+\.\w+)\n", text):
                (tmp_path / name[1]).parent.mkdir(parents=True, exist_ok=True)
                (tmp_path / name[1]).write_text(text, encoding="utf-8")
            case "python":
                program += text
            case "console":
                for command, shown in commands(text):
                    check_output(shown, run(command, tmp_path))
            case "sh" | "text":
                pass  # the first is looked at below
            case _:
                pytest.fail(f"{page.name}: a block of an unknown language: {language!r}")
    run([sys.executable, "-W", "error", "-c", program], tmp_path)


def commands(text: str) -> list[tuple[list[str], list[str]]]:
    """Each command of a console block, as it is run here, with the lines that are shown under it."""
    found: list[tuple[list[str], list[str]]] = []
    for line in text.splitlines():
        if line.startswith("$ "):
            name, command, *arguments = shlex.split(line[2:])
            assert name == "worldcoder", f"only worldcoder is run here: {line}"
            arguments += SHORTER.get(command, [])
            found.append(([sys.executable, "-m", "worldcoder", command, *arguments], []))
        else:
            found[-1][1].append(line)
    return found


def run(command: list[str], folder: Path) -> str:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def check_output(shown: list[str], printed: str) -> None:
    """Numbers differ from machine to machine; how a line begins does not."""

    def beginning(line: str) -> list[str]:
        return [word for word in line.split() if not re.search(r"\d", word)][:1]

    beginnings = [beginning(line) for line in printed.splitlines()]
    for line in shown:
        if line.startswith("  wrong"):
            continue  # only where the shortened comparison meets a mistake
        assert beginning(line) in beginnings, f"not printed: {line}\n{printed}"


def test_the_command_lines_to_install() -> None:
    (first, second) = [text.strip() for language, text in blocks(ROOT / "README.md") if language == "sh"]
    for line in (first, second):
        assert "\n" not in line
        subprocess.run(["bash", "-n", "-c", line], check=True)
        assert line.startswith("python3 -m venv .venv && .venv/bin/pip install ")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert first.endswith("&& .venv/bin/worldcoder learn sokoban")
    assert "worldcoder" in project["scripts"]
    assert ".[test]" in second and "test" in project["optional-dependencies"]
    assert "pytest-xdist" in " ".join(project["optional-dependencies"]["test"]) and "-n auto" in second
    assert second in (ROOT / "README.md").read_text(encoding="utf-8").splitlines()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)]+)\)", page.read_text(encoding="utf-8")):
        if not target.startswith("http"):
            assert (page.parent / target.partition("#")[0]).exists(), f"{page.name}: {target}"
