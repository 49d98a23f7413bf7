"""A language model that is a function from a prompt to an answer."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterable, Iterator

from worldcoder.errors import LLMError
from worldcoder.llm.values import Reply, Request


def without_steps(prompt: str) -> str:
    """A prompt in which no step is shown."""
    return re.sub(r"^Step \d+, .*\n(?:.+\n)*", "", prompt, flags=re.MULTILINE)


class Scripted:
    """Asks a function. Answers come in any order, as they do from a server.

    blank: whether the steps are taken out of the prompts. failing: errors that come first, one a request.
    """

    def __init__(
        self,
        write: Callable[[str], str],
        *,
        name: str = "scripted/writer",
        blank: bool = False,
        failing: Iterable[LLMError] = (),
        seed: int = 0,
    ) -> None:
        self.name = name
        self.requests: list[Request] = []
        self.at_once: list[int] = []
        self._write = write
        self._blank = blank
        self._failing = list(failing)
        self._rng = random.Random(seed)

    @property
    def calls(self) -> int:
        return sum(request.n for request in self.requests)

    def ask_all(self, requests: Iterable[Request]) -> Iterator[tuple[int, Reply | LLMError]]:
        asked = list(requests)
        self.requests += asked
        self.at_once.append(sum(request.n for request in asked))
        answers: list[tuple[int, Reply | LLMError]] = []
        for number, request in enumerate(asked):
            if self._failing:
                answers.append((number, self._failing.pop(0)))
                continue
            prompt = request.messages[-1].content
            if self._blank:
                prompt = without_steps(prompt)
            texts = tuple(self._write(prompt) for _ in range(request.n))
            answers.append((number, Reply(texts, ("stop",) * request.n)))
        self._rng.shuffle(answers)
        yield from answers
