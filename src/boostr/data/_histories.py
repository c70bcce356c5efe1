"""Checks that histories match those that a model was trained on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from boostr.data._origins import counts_from_elsewhere, name_origin
from boostr.exceptions import InvalidEventsError, InvalidParameterError

if TYPE_CHECKING:
    from boostr.data._container import EventContainer

__all__ = ["check_histories", "find_origin", "had_costs", "had_exposure", "refuse_exposure"]


def check_histories(model: Any, y: EventContainer) -> None:
    """Refuse histories whose times or costs differ in meaning from the training data."""
    _check_exposure(model, y)
    unit, origin = getattr(model, "time_unit_", None), find_origin(model)
    if unit is not None and y.time_unit is not None and y.time_unit != unit:
        raise InvalidEventsError(
            "Histories must count time in the unit of training, but they count in "
            f"{y.time_unit!r} and training counted in {unit!r}.\n\n"
            f"Hint: read them with unit={unit!r}."
        )
    if origin is not None and counts_from_elsewhere(y, origin):
        raise InvalidEventsError(
            "Histories must count time from the origin of training, but they count from "
            f"{name_origin(y)} and training counted from {origin}.\n\n"
            f"Hint: read them with origin='{origin}'."
        )
    known = had_costs(model)
    if known is not None and y.times.size and y.has_costs != known:
        seen, asked = ("costs", "no costs") if y.has_costs else ("no costs", "costs")
        raise InvalidEventsError(
            "Events must have costs where those of training had them, but these have "
            f"{seen} and those had {asked}.\n\nHint: read the histories "
            f"{'without' if y.has_costs else 'with'} cost=…, or fit a model of "
            f"{'costs' if y.has_costs else 'numbers of events'}."
        )


def find_origin(model: Any) -> np.datetime64 | None:
    """Return the origin of time in training; None if unknown, as in early model files."""
    return getattr(model, "time_origin_", None)


def had_costs(model: Any) -> bool | None:
    """Return whether the training events had costs; None if the model does not tell."""
    moments = getattr(model, "cost_moments_", None)
    known = None if moments is None else bool(moments[1] != 1.0)
    return getattr(model, "has_costs_", known)


def had_exposure(model: Any) -> bool:
    """Return whether the training data had exposures; False for early model files."""
    return bool(getattr(model, "has_exposure_", False))


def refuse_exposure() -> NoReturn:
    """Raise the error for exposures given to a model that was trained without them."""
    raise InvalidParameterError(
        "This model was fitted without exposures, but individuals have some now.\n\n"
        "Hint: fit(X, y.with_exposure(exposure)), or leave them out, y.with_exposure(None)."
    )


def _check_exposure(model: Any, y: EventContainer) -> None:
    """Refuse exposures unless the training data had them, and the other way round."""
    if not hasattr(model, "has_exposure_") and not hasattr(model, "ensemble_"):
        return  # nothing is known
    if (y.exposure is not None) == had_exposure(model):
        return
    if y.exposure is not None:
        refuse_exposure()
    raise InvalidEventsError(
        "This model was fitted with exposures and predicts events per unit of exposure, "
        "but the histories have none.\n\nHint: y.with_exposure(exposure), in the unit of "
        "training."
    )
