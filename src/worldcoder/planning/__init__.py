"""Search in a model: one search a file, each a function from a model and a budget to a plan with a status.

    plan             the default: shortest plans and proofs in small spaces, guided search in large ones
    breadth_first    shortest plans
    astar            shortest plans, given a heuristic that never exceeds the steps needed
    width_search     plans in large spaces
    guided_search    the same, by what it learns of distances on the way
    value_iteration  the largest discounted reward within a depth
    mcts             simulated play

A new search is one function and one line in `PLANNERS`; `tests/planning` then tests it.
"""

from collections.abc import Callable

from worldcoder.planning.astar import astar
from worldcoder.planning.bfs import breadth_first
from worldcoder.planning.default import plan
from worldcoder.planning.guided import guided_search
from worldcoder.planning.model import Budget, Model, Plan, Status, rewarding
from worldcoder.planning.tree import mcts
from worldcoder.planning.values import value_iteration
from worldcoder.planning.width import width_search

PLANNERS: dict[str, Callable[..., Plan]] = {
    "plan": plan,
    "breadth_first": breadth_first,
    "astar": astar,
    "width_search": width_search,
    "guided_search": guided_search,
    "value_iteration": value_iteration,
    "mcts": mcts,
}
"""Every search by name; all take (model, *, budget, is_goal)."""

__all__ = [
    "PLANNERS",
    "Budget",
    "Model",
    "Plan",
    "Status",
    "astar",
    "breadth_first",
    "guided_search",
    "mcts",
    "plan",
    "rewarding",
    "value_iteration",
    "width_search",
]
