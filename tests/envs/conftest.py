from __future__ import annotations

from pathlib import Path

import pytest

from worldcoder.envs import sokoban_generator


@pytest.fixture(autouse=True)
def level_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A level cache of the test's own, empty in memory and on disk."""
    folder = tmp_path / "level-cache"
    monkeypatch.setenv("WORLDCODER_CACHE_DIR", str(folder))
    sokoban_generator.forget_levels()
    return folder
