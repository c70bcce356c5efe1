"""Kinds of events: one model each, fitted to the same individuals."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from numpy.typing import ArrayLike

from boostr._checks.numbers import first_few
from boostr._training.fit import fit_model
from boostr._training.fitted import OTHER_KINDS, Fitted, KindModels
from boostr._training.run import Hooks
from boostr._training.settings import Settings
from boostr.data import RecurrentEvents, ScannedEvents
from boostr.data.events.kinds import count_kinds, keep_kinds
from boostr.exceptions import InvalidEventsError, InvalidParameterError

__all__ = ["fit_kinds", "group_kinds", "kind_settings", "refuse_kinds", "wants_kinds"]

_FEWEST = 20  # events of a kind that is learned by itself


def kind_settings(settings: Settings) -> Settings:
    """Return the settings of the model of one kind."""
    return replace(settings, kinds="total")


def wants_kinds(settings: Settings, *, has_kinds: bool) -> bool:
    """Return whether each kind gets a model; refuse to give one to kinds not known."""
    if settings.kinds == "each" and not has_kinds:
        raise InvalidEventsError(
            "With kinds='each' events must have kinds, but they have none.\n\n"
            "Hint: RecurrentEvents.from_long(…, kind=…); kinds='auto' learns kinds only "
            "where there are some."
        )
    return has_kinds and settings.kinds != "total"


def group_kinds(counts: Mapping[Any, int]) -> KindModels:
    """Return the kinds to be learned, without models; rare ones are pooled and named."""
    rare = [kind for kind, n in counts.items() if n < _FEWEST or kind == OTHER_KINDS]
    labels = tuple(kind for kind in counts if kind not in rare)
    if rare:
        warnings.warn(
            f"Kinds with fewer than {_FEWEST} events are too rare to be learned each and "
            f"are pooled as {OTHER_KINDS!r}: {first_few(rare)}.",
            UserWarning,
            stacklevel=4,
        )
        labels += (OTHER_KINDS,)
    return KindModels(labels, (), tuple(rare))


def fit_kinds(
    settings: Settings,
    fitted: Fitted,
    table: Any,
    y: RecurrentEvents | ScannedEvents,
    sensors: Any,
    sample_weight: ArrayLike | None,
    hooks: Hooks,
    earlier: Fitted | None = None,
) -> Fitted:
    """Return the model with one model per kind of events, if they have kinds."""
    if not wants_kinds(settings, has_kinds=bool(y.kinds)):
        return fitted
    counts = y.kind_counts if isinstance(y, ScannedEvents) else count_kinds(y)
    kinds = group_kinds(counts)
    known = None if earlier is None else earlier.kinds
    models = []
    for place, label in enumerate(kinds.labels):
        if len(kinds.labels) == 1:
            models.append(replace(fitted, terminal=None))
            break
        same = known is not None and known.labels == kinds.labels
        models.append(
            fit_model(
                kind_settings(settings),
                table,
                _keep(y, kinds.members(place)),
                sensors,
                sample_weight,
                hooks.within(str(label)),
                known.models[place] if same and known is not None else None,
            )
        )
    return replace(fitted, kinds=replace(kinds, models=tuple(models)))


def refuse_kinds(settings: Settings) -> None:
    """Refuse to learn each kind with sensors that follow from all events."""
    if settings.kinds == "each":
        raise InvalidParameterError(
            "Kinds cannot be learned each where `Z` is a function of the events.\n\n"
            "Hint: kinds='total', or pass the sensors themselves, Z(y, y.end)."
        )


def _keep(
    y: RecurrentEvents | ScannedEvents, members: tuple[Any, ...]
) -> RecurrentEvents | ScannedEvents:
    """Return the same individuals with the events of some kinds."""
    if isinstance(y, ScannedEvents):
        return y._keep_kinds(members)
    kinds = y.kinds or []
    return keep_kinds(y, [kinds.index(kind) for kind in members])
