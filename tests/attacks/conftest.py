"""Attacks are made on Linux and macOS only."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pytest

if sys.platform == "win32":
    collect_ignore_glob = ["test_*"]
else:
    from attacked import controlled, controlled_as_user, everything, everything_as_user, remove_copies

    from worldcoder.attacks import Report

    @pytest.fixture(scope="session", autouse=True)
    def _no_copies_stay() -> Iterator[None]:
        yield
        remove_copies()

    @pytest.fixture(scope="session")
    def report(tmp_path_factory: pytest.TempPathFactory) -> Report:
        """All attacks, with every layer on."""
        return everything(tmp_path_factory)

    @pytest.fixture(scope="session")
    def user_report(tmp_path_factory: pytest.TempPathFactory) -> Report:
        """All attacks, as an ordinary user."""
        return everything_as_user(tmp_path_factory)

    @pytest.fixture(scope="session")
    def control_report(tmp_path_factory: pytest.TempPathFactory) -> Report:
        """All attacks, each with everything off that would hold it."""
        return controlled(tmp_path_factory)

    @pytest.fixture(scope="session")
    def user_control_report(tmp_path_factory: pytest.TempPathFactory) -> Report:
        """Some of these, as an ordinary user."""
        return controlled_as_user(tmp_path_factory)
