"""Trees that are known already: of a training that was stopped, or of a smaller model.

Training is a fixed sequence of rounds: the same data and settings ask for the same trees in
the same order. So it is enough to know the trees of the first rounds. They are added one by
one as if they had just been grown, and everything else, coefficients, losses and choices,
comes out of that with the same bits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from boostr._engine.tree import Tree

__all__ = ["Round", "TreeLog"]

Round = tuple[Tree, ...]  # one tree of every model that grows in step


class TreeLog:
    """Rounds that are known, and what becomes of new ones."""

    def __init__(
        self,
        known: Iterable[Round] = (),
        keep: Callable[[Round], None] = lambda trees: None,
    ) -> None:
        self._known = iter(known)
        self.keep = keep

    def recall(self) -> Round | None:
        """Return the trees of the next round, or None where they have to be grown."""
        return next(self._known, None)
