"""Check of the target ``y``."""

from __future__ import annotations

from boostr.data.events.recurrent_events import RecurrentEvents
from boostr.data.parquet.events import ScannedEvents
from boostr.exceptions import InvalidEventsError, TargetTypeError

__all__ = ["check_target", "refuse_costs", "refuse_exposure"]

_WAYS = "RecurrentEvents.from_long, from_start_stop, from_lists and from_wide make one."


def check_target(y: object) -> RecurrentEvents:
    """Return the target if it is valid; raise an error that tells what is wrong otherwise.

    Parameters
    ----------
    y : object
        What was handed over as target.

    Returns
    -------
    RecurrentEvents
        The same, with at least one individual.

    Examples
    --------
    >>> check_target(RecurrentEvents.from_lists([[1.0]], end=[2.0]))
    RecurrentEvents(1 individual, 1 event, follow-up 2)
    """
    if y is None:
        raise InvalidEventsError(
            "This estimator requires y to be passed, but the target y is None.\n\n"
            f"Hint: {_WAYS}"
        )
    if isinstance(y, ScannedEvents):
        raise TargetTypeError(
            "`y` must be in memory here, but it is a ScannedEvents.\n\n"
            "Hint: BoostR.fit takes it as it is; y.collect() reads all of it, y.chunks() a "
            "part at a time."
        )
    if not isinstance(y, RecurrentEvents):
        raise TargetTypeError(
            f"`y` must be a RecurrentEvents, but it is a {type(y).__name__}: a plain array "
            f"cannot hold event times and ends of follow-up.\n\nHint: {_WAYS}"
        )
    if len(y) == 0:
        raise InvalidEventsError(
            "`y` must have at least one individual, but it has none.\n\n"
            "Hint: check the filter that selected the individuals."
        )
    return y


def refuse_exposure(y: RecurrentEvents, model: str) -> None:
    """Refuse histories with exposures, which would be ignored."""
    if y.exposure is not None:
        raise InvalidEventsError(
            f"{model} cannot use exposures, but these histories have some.\n\n"
            "Hint: y.with_exposure(None) takes them away; BoostR, McfRegressor, McfK, "
            "PowerLawProcess, HomogeneousPoisson, XGBoostPoisson, LightGBMPoisson and "
            "HistGradientBoostingPoisson use them."
        )


def refuse_costs(y: RecurrentEvents, model: str) -> None:
    """Refuse events with costs, as the likelihood is of counts."""
    if y.has_costs:
        raise InvalidEventsError(
            f"{model} counts events and cannot use their costs, but these events have "
            "some.\n\nHint: read the events without `cost=`; McfRegressor, McfK and "
            "RandomForestRecurrence take costs."
        )
