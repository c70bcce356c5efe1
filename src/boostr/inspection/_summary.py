"""A fitted model in plain words: what it has learned, how good it is, what to mind."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from boostr._html import make_card, make_list
from boostr.data import RecurrentEvents
from boostr.data.events.frames import make_table
from boostr.inspection._summary_facts import Fact, find_concerns, list_learned, list_quality
from boostr.inspection._summary_held_out import measure_held_out
from boostr.inspection.model import read_model

__all__ = ["ModelSummary", "model_summary"]

_TITLES = {
    "learned": "What was learned",
    "quality": "How good it is",
    "watch out": "What to watch out for",
}


@dataclass(frozen=True, slots=True, eq=False)
class ModelSummary:
    """A fitted model in plain words.

    Made by ``model.summary()``. It prints as text, and notebooks show it as a list.

    Parameters
    ----------
    facts : tuple
        Section, name, number and sentence of each line; what `to_frame` writes.

    Attributes
    ----------
    learned : tuple of str
        Sentences on trees, features, sensors and own histories.
    quality : tuple of str
        Sentences on how good the model is for individuals that it was not trained on.
    watch_out : tuple of str
        Sentences on weaknesses of the model and of its data.
    figures : dict
        The numbers in the sentences, by name.

    See Also
    --------
    boostr.BoostR.summary : Makes it.
    boostr.BoostR.report : A page on a fleet and its risks.

    Examples
    --------
    >>> from boostr import BoostR
    >>> from boostr.simulate import dataset_a
    >>> fleet = dataset_a(n=100, random_state=1)
    >>> model = BoostR(n_estimators=20, random_state=0).fit(fleet.X, fleet.y)
    >>> summary = model.summary()
    >>> print(summary.watch_out[-1])
    Curves are learned up to 100 units of time, where follow-up ends; then extrapolated.
    """

    facts: tuple[Fact, ...]

    @property
    def learned(self) -> tuple[str, ...]:
        """Sentences on what was learned."""
        return self._sentences("learned")

    @property
    def quality(self) -> tuple[str, ...]:
        """Sentences on how good the model is."""
        return self._sentences("quality")

    @property
    def watch_out(self) -> tuple[str, ...]:
        """Sentences on what to watch out for."""
        return self._sentences("watch out")

    @property
    def figures(self) -> dict[str, float]:
        """The numbers in the sentences, by name."""
        return {fact.name: fact.value for fact in self.facts if not np.isnan(fact.value)}

    def to_frame(self, *, backend: str | None = None) -> Any:
        """Write a table with one row per sentence.

        Parameters
        ----------
        backend : {"pandas", "polars"}, default=None
            Which table to make; by default pandas if it is installed, else polars.

        Returns
        -------
        DataFrame
            Columns "section", "name", "value" (NaN where a sentence has no number) and
            "text".

        Examples
        --------
        >>> from boostr import BoostR
        >>> from boostr.simulate import dataset_a
        >>> fleet = dataset_a(n=100, random_state=1)
        >>> model = BoostR(n_estimators=20, random_state=0).fit(fleet.X, fleet.y)
        >>> model.summary().to_frame()["section"].unique().tolist()
        ['learned', 'quality', 'watch out']
        """
        columns: dict[str, Any] = {
            name: [getattr(fact, name) for fact in self.facts]
            for name in ("section", "name", "value", "text")
        }
        columns["value"] = np.array(columns["value"], dtype=np.float64)
        return make_table(columns, backend)

    def _sentences(self, section: str) -> tuple[str, ...]:
        return tuple(fact.text for fact in self.facts if fact.section == section)

    def __str__(self) -> str:
        parts = []
        for section, title in _TITLES.items():
            sentences = self._sentences(section)
            if sentences:
                parts.append("\n".join([title, *(f"  - {one}" for one in sentences)]))
        return "\n\n".join(parts)

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        """Return the sentences as lists for notebooks."""
        cards = [
            make_card(title, make_list(self._sentences(section)))
            for section, title in _TITLES.items()
            if self._sentences(section)
        ]
        return "".join(cards)


def model_summary(
    model: Any, y: RecurrentEvents | None = None, Z: Any = None
) -> ModelSummary:
    """Return a fitted model in plain words.

    Parameters
    ----------
    model : BoostR
        A fitted model.
    y : RecurrentEvents, default=None
        The histories that `fit` was given: out-of-fold predictions are compared with them,
        if the model was fitted with validation.
    Z : Trajectories or SharedSensors, default=None
        The sensors that `fit` was given, needed with `y` if the model uses some.

    Returns
    -------
    ModelSummary
        What was learned, how good it is, and what to watch out for.

    Examples
    --------
    >>> from boostr import BoostR
    >>> from boostr.inspection import model_summary
    >>> from boostr.simulate import dataset_a
    >>> fleet = dataset_a(n=100, random_state=1)
    >>> model = BoostR(n_estimators=20, random_state=0).fit(fleet.X, fleet.y)
    >>> round(model_summary(model, fleet.y).figures["observed_over_expected"], 2)
    1.0
    """
    fitted = read_model(model)
    held_out = None if y is None else measure_held_out(fitted, y, Z)
    return ModelSummary(
        (
            *list_learned(fitted),
            *list_quality(fitted, held_out),
            *find_concerns(fitted, held_out),
        )
    )
