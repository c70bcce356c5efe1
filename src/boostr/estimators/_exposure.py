"""Exposures of histories and of new individuals, as in training."""

from __future__ import annotations

from typing import Any, NoReturn

from boostr.data import Panel, RecurrentEvents
from boostr.exceptions import InvalidEventsError, InvalidParameterError

__all__ = ["check_exposure_fits", "find_labels", "had_exposure", "refuse_exposure"]


def had_exposure(model: Any) -> bool:
    """Tell whether individuals of training had exposures; the first files do not say."""
    return bool(getattr(model, "has_exposure_", False))


def check_exposure_fits(model: Any, y: RecurrentEvents) -> None:
    """Refuse histories without exposures where those of training had some, or with them."""
    if (y.exposure is not None) == had_exposure(model):
        return
    if y.exposure is not None:
        refuse_exposure()
    raise InvalidEventsError(
        "This model was fitted with exposures and predicts events per unit of exposure, "
        "but the histories have none.\n\nHint: y.with_exposure(exposure), in the unit of "
        "training."
    )


def refuse_exposure() -> NoReturn:
    """Say that the model has learned without exposures."""
    raise InvalidParameterError(
        "This model was fitted without exposures, but individuals have some now.\n\n"
        "Hint: fit(X, y.with_exposure(exposure)), or leave them out, y.with_exposure(None)."
    )


def find_labels(X: Any) -> Any:
    """Return the labels of rows that a table from pandas has, None for other features."""
    index = getattr(X.X if isinstance(X, Panel) else X, "index", None)
    return None if callable(index) else index
