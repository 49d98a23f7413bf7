"""What a request to a model costs, by a price list that comes with a package: nothing is looked up in a network.

A price that is not in the list is unknown, and stays unknown: it is never taken for nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from worldcoder.llm.values import UNKNOWN, Cost, Usage

_FREE = ":free"
"""How OpenRouter marks the models that cost nothing."""


@dataclass(frozen=True)
class Price:
    """What the tokens of one model cost, if that is known.

    model: as the price list knows it. provider: its name in the list; without one, whoever has `address`.
    """

    model: str
    provider: str | None = None
    address: str | None = field(default=None, repr=False)

    @property
    def known(self) -> bool:
        return self.of(Usage(1, 1)).known

    def of(self, usage: Usage) -> Cost:
        """What these tokens cost."""
        try:
            import genai_prices
        except ImportError:  # it is part of the extra `llm`; without it nothing else is wrong
            return UNKNOWN
        where: dict[str, Any] = (
            {"provider_id": self.provider} if self.provider else {"provider_api_url": self.address or ""}
        )
        tokens: dict[str, Any] = {"input_tokens": usage.tokens_in, "output_tokens": usage.tokens_out}
        if usage.cached:
            tokens["cache_read_tokens"] = usage.cached
        try:
            found = genai_prices.calc_price(genai_prices.Usage(**tokens), self.model, **where)
        except (LookupError, ValueError):
            return UNKNOWN
        listed = found.model_price
        stated = listed.input_mtok is not None and listed.output_mtok is not None
        if not stated and not self.model.endswith(_FREE):  # the list knows the model, but not what it costs
            return UNKNOWN
        return Cost(float(found.total_price))


NO_PRICE = Price("", address="")
"""The price of what is not in any list."""
