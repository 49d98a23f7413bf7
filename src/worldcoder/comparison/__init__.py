"""Whether a model is right: held against the real environment, context by context."""

from worldcoder.comparison.compare import Comparison, Mistake, Repeated, WrongContext, compare

__all__ = ["Comparison", "Mistake", "Repeated", "WrongContext", "compare"]
