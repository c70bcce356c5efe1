"""What validation has tried, as a list that displays as a table."""

from __future__ import annotations

from typing import Any

import numpy as np

from boostr._html import make_card, make_grid, make_note
from boostr.data.events.frames import make_table

__all__ = ["ValidationResults"]

_COLUMNS = {"label": object, "n_trees": np.int64, "loss": float, "weight": float}


class ValidationResults(list[dict[str, Any]]):
    """Shapes of trees that validation has tried: a list of dicts that shows as a table.

    It is ``model.validation_results_``, and equal to a plain list with the same entries.
    Each entry has ``label``, ``curve`` (held-out loss after each tree), ``n_trees`` kept,
    ``loss`` and ``weight`` in the model.

    Parameters
    ----------
    iterable : iterable of dict, default=()
        The entries.

    See Also
    --------
    boostr.plotting.plot_validation : Draws the curves.

    Examples
    --------
    >>> from boostr import BoostR
    >>> from boostr.simulate import dataset_a
    >>> fleet = dataset_a(n=100, random_state=1)
    >>> model = BoostR(n_estimators=20, random_state=0).fit(fleet.X, fleet.y)
    >>> model.validation_results_.to_frame().columns.tolist()
    ['label', 'n_trees', 'loss', 'weight']
    """

    def to_frame(self, *, backend: str | None = None) -> Any:
        """Write a table with one row per entry.

        Parameters
        ----------
        backend : {"pandas", "polars"}, default=None
            Which table to make; by default pandas if it is installed, else polars.

        Returns
        -------
        DataFrame
            Columns "label", "n_trees", "loss" and "weight"; no rows without validation.
        """
        columns = {
            name: np.array([run[name] for run in self], dtype=kind)
            for name, kind in _COLUMNS.items()
        }
        return make_table(columns, backend)

    def _repr_html_(self) -> str:
        """Return the entries, largest weight first, for notebooks."""
        title = "Validation results"
        if not self:
            return make_card(title, make_note("None: the model was fitted without."))
        ranked = sorted(self, key=lambda run: -run["weight"])
        rows = [
            (run["label"], run["n_trees"], run["loss"], f"{run['weight']:.0%}")
            for run in ranked
        ]
        header = ("shape of trees", "trees kept", "held-out loss", "weight")
        note = "The lower the held-out loss per individual, the better."
        return make_card(title, make_grid(header, rows), make_note(note))
