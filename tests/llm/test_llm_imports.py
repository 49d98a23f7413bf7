"""The libraries that talk to servers are loaded when a client is opened, and are missed in one clear line."""

from __future__ import annotations

import subprocess
import sys

import pytest

import worldcoder.llm
from worldcoder.llm import MissingExtra, open_client

HEAVY = {"openai", "anthropic", "genai_prices", "httpx2", "anyio"}


def loaded_by(code: str) -> set[str]:
    """The top modules that are loaded after some code."""
    run = subprocess.run(
        [sys.executable, "-c", f"{code}\nimport sys; print(*sys.modules)"],
        capture_output=True,
        text=True,
        check=True,
    )
    return {name.split(".")[0] for name in run.stdout.splitlines()[-1].split()}


def test_nothing_heavy_is_loaded_without_a_model() -> None:
    code = "import worldcoder, worldcoder.cli.app; from worldcoder.llm import *; "
    assert not loaded_by(code + "Budget(); LanguageModel(Replaying(MemoryStore())).close()") & HEAVY


def test_learning_without_a_model_loads_nothing_of_it() -> None:
    code = """
import sys, tempfile
from worldcoder.cli import main
with tempfile.TemporaryDirectory() as folder:
    assert main(["learn", "sokoban", "--max-actions", "2", "--out", folder + "/run"]) == 0
"""
    loaded = loaded_by(code)
    assert "sqlite3" in loaded
    assert not loaded & HEAVY


def test_a_client_loads_its_own_library_only() -> None:
    opening = "open_client('openai/x', base_url='http://127.0.0.1:9')"
    loaded = loaded_by(f"from worldcoder.llm import open_client; {opening}")
    assert loaded & {"openai", "anthropic"} == {"openai"}


@pytest.mark.parametrize(
    ("name", "module", "extra"),
    [("openai/x", "openai", "llm"), ("openai/x", "httpx2", "llm"), ("anthropic/x", "anthropic", "anthropic")],
)
def test_a_missing_extra_is_one_clear_line(
    name: str, module: str, extra: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingExtra) as missing:
        open_client(name, base_url="http://127.0.0.1:9")
    assert str(missing.value).endswith(f"install it with: pip install 'worldcoder[{extra}]'")
    assert "\n" not in str(missing.value)


def test_what_the_package_offers() -> None:
    assert dir(worldcoder.llm) == sorted(worldcoder.llm.__all__)
    for name in worldcoder.llm.__all__:
        assert getattr(worldcoder.llm, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        worldcoder.llm.nothing  # noqa: B018
