"""A service for the tests of the sandbox: runs Python that it is sent."""

from __future__ import annotations

import os
from typing import Any

from worldcoder.sandbox.line import Line
from worldcoder.sandbox.watch import OUTSIDE, WATCH, CallTimeout


class Runner:
    """Runs the text that it is sent, which leaves its answer in `result`."""

    def __init__(self) -> None:
        self.prepared: list[Any] = []

    def prepare(self, data: Any) -> None:
        if data == "bad":
            raise ValueError("bad data")
        self.prepared.append(data)

    def handle(self, request: Any, line: Line) -> Any:
        if isinstance(request, str):
            namespace: dict[str, Any] = {"line": line, "service": self, "WATCH": WATCH}
            exec(request, namespace)
            return namespace.get("result")
        if "echo" in request:
            return request["echo"]
        return self.called(request["call"])

    def called(self, text: str) -> Any:
        """Runs a text as programs are run: the tick watches."""
        namespace: dict[str, Any] = {}
        WATCH.ticks = 0
        try:
            exec(text, namespace)
        except CallTimeout:
            namespace["result"] = "interrupted"
        finally:
            WATCH.ticks = OUTSIDE
        return [namespace.get("result"), WATCH.over, WATCH.overruns]


class Fatal(Runner):
    """Takes the process that it is made in with it."""

    def __init__(self) -> None:
        os._exit(1)
