"""Keys: taken from the environment, sent to the server they are for, and shown to nobody."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping
from ipaddress import ip_address
from typing import NoReturn
from urllib.parse import urlsplit

from worldcoder.llm.errors import WrongKey

Hide = Callable[[str], str]
"""Takes out of a text what must not be seen in it."""

_SHORTEST = 6  # a shorter "secret" would be found in every text
_MASK = "***"


class Key:
    """A key that does not show itself: not when printed, not in a traceback, not when pickled."""

    __slots__ = ("_secret", "variable")

    def __init__(self, secret: str, variable: str) -> None:
        self._secret = secret
        self.variable = variable

    def reveal(self) -> str:
        """The key itself, for the library that sends it."""
        return self._secret

    def __repr__(self) -> str:
        return f"Key({self.variable})"

    def __reduce__(self) -> NoReturn:
        raise TypeError("a key is not copied to where it could be read")


def find_key(variables: Iterable[str], environment: Mapping[str, str]) -> Key | None:
    """The key in the first of these variables that has one.

    Raises WrongKey where it holds what cannot be sent as a key; a line end at its end is forgiven.
    """
    for variable in variables:
        secret = environment.get(variable, "").strip()
        if secret:
            if not re.fullmatch(r"[!-~]+", secret):
                raise WrongKey(f"{variable} does not hold a key: there are spaces or other characters in it")
            return Key(secret, variable)
    return None


def headers_of_environment(variable: str) -> list[str]:
    """The names of the headers that a library takes from a variable and would send to any server."""
    lines = os.environ.get(variable, "").splitlines()
    return [line.partition(":")[0].strip() for line in lines if ":" in line]


def hiding(key: Key | None, base_url: str | None = None) -> Hide:
    """What takes the key, and a password in an address, out of any text."""
    secrets = [] if key is None else [key.reveal()]
    if base_url is not None:
        password = urlsplit(base_url).password
        secrets += [password] if password else []
    long = sorted((s for s in secrets if len(s) >= _SHORTEST), key=len, reverse=True)
    if not long:
        return lambda text: text
    pattern = re.compile("|".join(map(re.escape, long)))
    return lambda text: pattern.sub(_MASK, text)


def shown(base_url: str) -> str:
    """An address without name, password and query."""
    parts = urlsplit(base_url)
    host = parts.hostname or ""
    host = f"[{host}]" if ":" in host else host
    port = f":{parts.port}" if parts.port else ""
    return f"{parts.scheme}://{host}{port}{parts.path}".rstrip("/")


def is_loopback(base_url: str) -> bool:
    """Whether a server is on this machine."""
    host = urlsplit(base_url).hostname or ""
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False
