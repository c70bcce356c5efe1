"""What every loader returns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from boostr.data import RecurrentEvents, Trajectories

__all__ = ["Dataset"]


@dataclass(frozen=True, slots=True, eq=False, repr=False, kw_only=True)
class Dataset:
    """Event histories with their features, and where they come from.

    Parameters
    ----------
    X : DataFrame or None
        Static features, one row per individual in the order of `y`; of pandas, with the
        ids as index, or of polars. None where there are none.
    y : RecurrentEvents
        The event histories.
    Z : Trajectories, default=None
        Dynamic features, where there are any.
    feature_names : tuple of str
        Names of the columns of `X`.
    description : str
        What was observed, in a few sentences.
    source : str
        Where the data come from, and under which terms they are distributed.

    See Also
    --------
    load_valve_seats : Repairs of machines.
    load_bladder : Recurrences of a disease under three treatments.
    load_cgd : Infections under two treatments, with ten features.

    Examples
    --------
    >>> from boostr.datasets import load_cgd
    >>> data = load_cgd()
    >>> data
    Dataset(128 individuals, 76 events, follow-up 37477 days; 10 features)
    >>> print(data.source)
    R package survival 3.5-3, data set cgd; LGPL (>= 2)
    """

    X: Any
    y: RecurrentEvents
    Z: Trajectories | None = None
    feature_names: tuple[str, ...]
    description: str
    source: str

    def __repr__(self) -> str:
        histories = repr(self.y).removeprefix("RecurrentEvents(").removesuffix(")")
        n_features = len(self.feature_names)
        count = f"{n_features} feature" + ("" if n_features == 1 else "s")
        return f"Dataset({histories}; {count if n_features else 'no features'})"
