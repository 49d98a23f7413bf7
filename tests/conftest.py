"""What all tests share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings

from worldcoder.programs import Runner

# How long things take says nothing on a busy machine, and less on one where hypothesis prepares its tables first.
settings.register_profile("any machine", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("any machine")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The pages, each of them one long test, go first: else one process waits for the other in the end."""
    items.sort(key=lambda item: item.path.name != "test_docs.py")


@pytest.fixture(scope="session")
def runner() -> Iterator[Runner]:
    """Locked workers, as everybody gets them."""
    with Runner() as runner:
        yield runner
