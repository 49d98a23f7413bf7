"""Opens the model that a name and an address mean.

    open_client("openai/gpt-5-mini")
    open_client("ollama/qwen3")
    open_client("my-model", base_url="http://127.0.0.1:8000/v1")

| name             | server                     | key                     |
|------------------|----------------------------|-------------------------|
| openai/NAME      | OpenAI                     | OPENAI_API_KEY          |
| anthropic/NAME   | Anthropic                  | ANTHROPIC_API_KEY       |
| openrouter/NAME  | OpenRouter                 | OPENROUTER_API_KEY      |
| gemini/NAME      | Google, in OpenAI's words  | GEMINI_API_KEY          |
| ollama/NAME      | Ollama on this machine     | none (OLLAMA_API_KEY)   |
| NAME             | the one at the base URL    | none (LLM_API_KEY)      |

A base URL puts another server in the place of the usual one. The key goes with the name: with `openai/` it is
OPENAI_API_KEY wherever the server is, but never unencrypted to another machine. A base URL of OpenRouter means
OpenRouter, with the whole name as it has it.
"""

from __future__ import annotations

import os
import random
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

from worldcoder.errors import UsageError
from worldcoder.llm.client import ServerClient
from worldcoder.llm.errors import WrongKey
from worldcoder.llm.extras import require
from worldcoder.llm.keys import find_key, is_loopback, shown
from worldcoder.llm.patience import Patience
from worldcoder.llm.prices import Price
from worldcoder.llm.server import Server


@dataclass(frozen=True)
class Provider:
    """Who serves models.

    base_url: where; None: it has to be told. address: the variable that may name another place.
    variables: those that may hold a key. keyless: whether it can do without. listed: its name in the price list.
    """

    base_url: str | None
    variables: tuple[str, ...]
    address: str | None = None
    keyless: bool = False
    listed: str | None = None


PROVIDERS = {
    "openai": Provider("https://api.openai.com/v1", ("OPENAI_API_KEY",), "OPENAI_BASE_URL", listed="openai"),
    "anthropic": Provider(
        "https://api.anthropic.com", ("ANTHROPIC_API_KEY",), "ANTHROPIC_BASE_URL", listed="anthropic"
    ),
    "openrouter": Provider("https://openrouter.ai/api/v1", ("OPENROUTER_API_KEY",), listed="openrouter"),
    "gemini": Provider(
        "https://generativelanguage.googleapis.com/v1beta/openai",
        ("GEMINI_API_KEY", "GOOGLE_API_KEY"),
        listed="google",
    ),
    "ollama": Provider("http://127.0.0.1:11434/v1", ("OLLAMA_API_KEY",), "OLLAMA_HOST", keyless=True),
}
_ANY = Provider(None, ("LLM_API_KEY",), keyless=True)


def open_client(
    name: str,
    *,
    base_url: str | None = None,
    patience: Patience = Patience(),  # noqa: B008 - frozen
    in_flight: int = 4,
    rng: random.Random | None = None,
    environment: Mapping[str, str] | None = None,
) -> ServerClient:
    """A client for a model; nothing is sent yet.

    Raises UsageError for a name or an address that means nothing, WrongKey where a key is needed and there is
    none, MissingExtra where a package is missing.
    """
    variables = os.environ if environment is None else environment
    prefix, provider, model = _read(name, base_url)
    url = _address(name, provider, base_url, variables)
    key = find_key(provider.variables, variables)
    if key is not None and provider is not _ANY and not is_loopback(url) and urlsplit(url).scheme != "https":
        key = None  # whoever is on the way could read it
        note = f"LLM_API_KEY, which is sent unencrypted too, and name the model without {prefix}/"
    else:
        note = provider.variables[0]
    if key is None and not provider.keyless and url == provider.base_url:
        raise WrongKey(f"there is no key for {name}: set {note} in the environment")
    price = _price(provider, model, url)
    server: Server
    if prefix == "anthropic":
        require("anthropic", extra="anthropic")
        from worldcoder.llm.anthropic import AnthropicServer

        server = AnthropicServer(name, model, url, key, note)
    else:
        for module in ("openai", "httpx2"):
            require(module, extra="llm")
        from worldcoder.llm.openai import OpenAIServer

        server = OpenAIServer(name, model, url, key, note)
    return ServerClient(server, price=price, patience=patience, in_flight=in_flight, rng=rng)


def price_of(
    name: str, *, base_url: str | None = None, environment: Mapping[str, str] | None = None
) -> Price:
    """What a model costs, without a key or a client; raises UsageError as `open_client` does."""
    _, provider, model = _read(name, base_url)
    return _price(provider, model, _address(name, provider, base_url, environment or os.environ))


def _price(provider: Provider, model: str, url: str) -> Price:
    usual = url == provider.base_url and provider.listed is not None
    return Price(model, provider.listed) if usual else Price(model, address=url)


def _read(name: str, base_url: str | None) -> tuple[str, Provider, str]:
    """Which provider a name means, and the model as that has it."""
    if not name or name != name.strip() or not name.isprintable():
        raise UsageError(f"{name!r} is no name of a model; examples: openai/gpt-5-mini, ollama/qwen3")
    prefix, slash, model = name.partition("/")
    for router in ("openrouter",):
        host = urlsplit(PROVIDERS[router].base_url or "").hostname
        if base_url is not None and urlsplit(base_url).hostname == host and prefix != router:
            return router, PROVIDERS[router], name
    if slash and prefix in PROVIDERS and model:
        return prefix, PROVIDERS[prefix], model
    if base_url is None:
        known = ", ".join(f"{p}/NAME" for p in PROVIDERS)
        raise UsageError(f"where is the model {name!r}? Name it as one of {known}, or give a base URL")
    return "", _ANY, name


def _address(name: str, provider: Provider, base_url: str | None, variables: Mapping[str, str]) -> str:
    """Where to ask."""
    url = base_url or (variables.get(provider.address, "") if provider.address else "") or provider.base_url
    assert url is not None  # a model without a provider has a base URL
    url = url.strip()
    if provider is PROVIDERS["ollama"] and base_url is None and url != provider.base_url:
        url = _ollama(url)
    url = url.rstrip("/")
    try:
        parts = urlsplit(url)
        fine = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        fine = False
    if not fine or not url.isprintable() or " " in url:
        raise UsageError(
            f"the base URL for {name} is not one: {_safe(url)!r}; example: http://127.0.0.1:8000/v1"
        )
    return url


def _ollama(host: str) -> str:
    """The address that OLLAMA_HOST means: host, host:port or a URL."""
    url = host if "//" in host else f"http://{host}"
    parts = urlsplit(url)
    port = "" if parts.port else ":11434"
    return f"{parts.scheme}://{parts.netloc.replace('0.0.0.0', '127.0.0.1')}{port}{parts.path.rstrip('/')}/v1"


def _safe(url: str) -> str:
    """An address that is none, without what may be a password in it."""
    try:
        return shown(url) if "@" in url else url
    except ValueError:
        return url.rpartition("@")[2]
