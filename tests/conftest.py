"""What all tests share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from worldcoder.programs import Runner


@pytest.fixture(scope="session")
def runner() -> Iterator[Runner]:
    """Locked workers, as everybody gets them."""
    with Runner() as runner:
        yield runner
