"""A trader with few coins, between stalls whose prices move with what she does.

There is no grid. The Trader stands at one `stall`. Every Offer is what one Stall asks for one Ware.

  go(stall)    costs a coin, and she is there; without a coin, or where she is already, nothing happens.
  buy(ware)    at the price of the Offer of the stall where she is: her `coins` fall by it, the ware's `owned`
               grows by one, and then the price there grows by one. Nothing happens if she has too few coins, or
               owns as many things already, of all wares together, as her `bag` holds.
  sell(ware)   if she owns one: she gets one coin less than the Offer asks, `owned` falls by one, and then the
               price there falls by one. What costs 1 there is worth nothing and cannot be sold.

So to buy and sell again at one stall changes nothing; between two stalls there is money to be made, less each
time. A Ware of which `wanted` is above 0 is on the list. A step gives 1 for each ware of the list of which
she owns enough now and did not before, and takes 1 for each of which it is the other way round. With enough of
all of them the episode ends, which gives 5 more. If she has no coin left and owns nothing, she is broke: the
episode ends in failure, with -1 more.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import ClassVar, NamedTuple

from worldcoder.envs.lab.base import LabWorld, Outcome, thing
from worldcoder.world.values import Action, Obj, Ref, State

_STALLS = ("castle", "harbor", "mill")
_WARES = ("salt", "tea", "wool")


class Market(NamedTuple):
    """What the trader has and what things cost: prices[stall][ware], by their places in the other tuples."""

    stalls: tuple[str, ...]
    wares: tuple[str, ...]
    wanted: tuple[int, ...]
    bag: int
    here: int
    coins: int
    owned: tuple[int, ...]
    prices: tuple[tuple[int, ...], ...]


class Shop(LabWorld[Market]):
    """Stalls and wares; see the module for the rules."""

    world = "shop"
    goal = "own all wares on the list"
    glyphs: ClassVar = {"Trader": "@", "Stall": "S", "Ware": "w", "Offer": "o"}
    lengths = range(6, 16)
    effort = 1000
    stages = True

    def actions(self, state: State) -> Sequence[Action]:
        """To go to each stall, to buy and to sell each ware."""
        names = ((o.name or "" for o in state.all(kind)) for kind in ("Stall", "Ware"))
        return _choices(*map(tuple, names))

    def offered(self, now: Market) -> Sequence[Action]:
        """The same, in a situation."""
        return _choices(now.stalls, now.wares)

    def after(self, now: Market, action: Action) -> Outcome[Market]:
        """The rules."""
        new = _traded(now, action.name, str(action.args[0]))
        before, enough = _enough(now), _enough(new)
        if all(enough):
            return Outcome(new, float(sum(enough) - sum(before) + 5), True)
        broke = new.coins == 0 and not any(new.owned)
        return Outcome(new, float(sum(enough) - sum(before) - broke), broke)

    def scenery(self, level: Market) -> Iterable[Obj]:
        """The stalls."""
        return [thing("Stall", name=stall) for stall in level.stalls]

    def objects(self, now: Market) -> Iterable[Obj]:
        """The trader, the wares and the offers."""
        yield thing("Trader", name="trader", coins=now.coins, bag=now.bag, stall=Ref(now.stalls[now.here]))
        for ware, owned, wanted in zip(now.wares, now.owned, now.wanted, strict=True):
            yield thing("Ware", name=ware, owned=owned, wanted=wanted)
        for stall, prices in zip(now.stalls, now.prices, strict=True):
            for ware, price in zip(now.wares, prices, strict=True):
                yield thing("Offer", name=f"{ware} at {stall}", stall=Ref(stall), ware=Ref(ware), price=price)

    def draft(self, rng: random.Random) -> Market | None:
        """Three stalls, each cheap for some wares; a list that costs more than there is."""
        wanted = [0] * len(_WARES)
        for place in rng.sample(range(len(_WARES)), 2):
            wanted[place] = rng.randint(1, 2)
        prices = [[rng.randint(2, 9) for _ in _WARES] for _ in _STALLS]
        cheapest = [min(row[i] for row in prices) for i in range(len(_WARES))]
        cost = sum(price * count for price, count in zip(cheapest, wanted, strict=True))
        coins = rng.randint(max(cheapest) + 1, 10)
        if cost <= coins:
            return None
        bag, here = sum(wanted) + rng.randint(0, 1), rng.randrange(len(_STALLS))
        owned = (0,) * len(_WARES)
        return Market(_STALLS, _WARES, tuple(wanted), bag, here, coins, owned, tuple(map(tuple, prices)))


@lru_cache
def _choices(stalls: tuple[str, ...], wares: tuple[str, ...]) -> tuple[Action, ...]:
    trades = (Action(name, (ware,)) for name in ("buy", "sell") for ware in sorted(wares))
    return *(Action("go", (stall,)) for stall in sorted(stalls)), *trades


def _enough(now: Market) -> list[bool]:
    """For each ware on the list, whether there is enough of it."""
    return [owned >= wanted for owned, wanted in zip(now.owned, now.wanted, strict=True) if wanted]


def _traded(now: Market, name: str, what: str) -> Market:
    """What an action makes of the market."""
    if name == "go":
        there = now.stalls.index(what)
        return now if there == now.here or now.coins < 1 else now._replace(here=there, coins=now.coins - 1)
    ware = now.wares.index(what)
    price = now.prices[now.here][ware]
    if name == "buy":
        if price > now.coins or sum(now.owned) >= now.bag:
            return now
        change, paid = 1, price
    else:
        if price == 1 or not now.owned[ware]:
            return now
        change, paid = -1, 1 - price
    row = _changed(now.prices[now.here], ware, change)
    prices = (*now.prices[: now.here], row, *now.prices[now.here + 1 :])
    return now._replace(coins=now.coins - paid, owned=_changed(now.owned, ware, change), prices=prices)


def _changed(row: tuple[int, ...], place: int, by: int) -> tuple[int, ...]:
    return (*row[:place], row[place] + by, *row[place + 1 :])


def make_env(*, max_steps: int = 100) -> Shop:
    """A trader who buys and sells between stalls until she owns what is on her list.

    max_steps: actions after which an episode is truncated. For a market of your own: `Shop(Market(...))`.
    """
    return Shop(max_steps=max_steps)
