"""Values: objects, states, actions, transitions; the live state that programs write to; differences."""

from worldcoder.world.values import Action, Goal, Obj, Ref, State, Transition

__all__ = ["Action", "Goal", "Obj", "Ref", "State", "Transition"]
