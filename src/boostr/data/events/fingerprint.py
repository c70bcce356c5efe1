"""Fingerprints of training individuals, and checks that histories match them."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from boostr._kernels.marks import Marks, mark_features, mark_times
from boostr._kernels.threads import run_in_parts
from boostr._typing import AnyArray, FloatArray
from boostr.data.times import counts_from_elsewhere, name_origin
from boostr.exceptions import InSampleWarning, InvalidEventsError, InvalidParameterError

if TYPE_CHECKING:
    from boostr.data.events.recurrent_events import RecurrentEvents

__all__ = [
    "Fingerprint",
    "check_histories",
    "find_origin",
    "had_costs",
    "had_exposure",
    "refuse_new_exposure",
    "tell_trained_on",
    "warn_if_trained_on",
]

_MOST = 8192  # marks that are kept: 64 kB
_BLOCK = 32_768  # individuals that one thread reads at once
_FEWEST = 2  # individuals that are known again
_COINCIDENCE = 0.05  # share of individuals who may look like others by chance
_HINT = (
    "evaluate on individuals that `fit` has not seen; cross_val_score, BoostRSearch and "
    "boostr.backtest do so."
)
_FNV_BASIS, _FNV_PRIME = 0xCBF29CE484222325, 0x100000001B3


@dataclass(frozen=True, slots=True, eq=False)
class Fingerprint:
    """Smallest hashes of the training individuals, or all of them if there are few.

    Hashed are history and id (else features), only of individuals with events.
    """

    marks: Marks  # (m,) ascending
    is_whole: bool  # whether no mark was left out

    @classmethod
    def of(cls, events: RecurrentEvents, features: FloatArray | None) -> Fingerprint:
        """Return the fingerprint of individuals; features are only used without ids."""
        marks = _mark(events, features)
        if len(marks) <= 4 * _MOST:
            return cls._keep(_distinct(marks), is_whole=True)
        smallest = _distinct(np.partition(marks, 2 * _MOST)[: 2 * _MOST])
        # Individuals who are alike have one mark, so that there may be too few.
        is_enough = len(smallest) > _MOST
        return cls._keep(smallest if is_enough else _distinct(marks), is_whole=True)

    @classmethod
    def _keep(cls, marks: Marks, *, is_whole: bool) -> Fingerprint:
        return cls(marks[:_MOST], is_whole and len(marks) <= _MOST)

    def join(self, other: Fingerprint) -> Fingerprint:
        """Return the fingerprint of the individuals of both."""
        both = _distinct(np.concatenate([self.marks, other.marks]))
        return self._keep(both, is_whole=self.is_whole and other.is_whole)

    def share_known(self, events: RecurrentEvents, features: FloatArray | None) -> float:
        """Return the share of individuals seen in training, or 0 if it may be chance."""
        marks = _mark(events, features)
        if not self.is_whole:
            marks = marks[marks <= self.marks[-1]]
        n_known = int(np.isin(marks, self.marks).sum())
        is_chance = n_known < _FEWEST or n_known <= _COINCIDENCE * len(marks)
        return 0.0 if is_chance else n_known / len(marks)


def tell_trained_on(
    model: Any, events: RecurrentEvents, features: FloatArray | None
) -> str | None:
    """Return a sentence on the share of individuals seen in training, if there are any.

    Models without a fingerprint (baselines, early model files) give no sentence.
    """
    fingerprint: Fingerprint | None = getattr(model, "fingerprint_", None)
    share = 0.0 if fingerprint is None else fingerprint.share_known(events, features)
    if share == 0.0:
        return None
    n = len(events)
    who = "These" if share == 1.0 else f"About {round(share * n):,} of these"
    return (
        f"{who} {n:,} individuals were used in training: figures are in-sample, and better "
        "than on new individuals."
    )


def warn_if_trained_on(
    model: Any, events: RecurrentEvents, features: FloatArray | None, stacklevel: int = 3
) -> None:
    """Warn about scores on individuals that the model was trained on."""
    told = tell_trained_on(model, events, features)
    if told is not None:
        warnings.warn(f"{told}\n\nHint: {_HINT}", InSampleWarning, stacklevel=stacklevel)


def _mark(events: RecurrentEvents, features: FloatArray | None) -> Marks:
    """Return one hash for every individual with events."""
    histories = (
        (events.window_start, events.window_offsets),
        (events.window_stop, events.window_offsets),
        (events.times, events.event_offsets),
    )

    def mark(own: slice) -> Marks:
        if events.has_ids:
            marks = _hash_ids(events.ids[own])
        else:
            marks = np.zeros(own.stop - own.start, dtype=np.uint64)
            if features is not None:
                mark_features(features[own], marks)
        for times, offsets in histories:
            mark_times(times, offsets[own.start : own.stop + 1], marks)
        return marks[np.diff(events.event_offsets[own.start : own.stop + 1]) > 0]

    n_parts = max(1, -(-len(events) // _BLOCK))
    return np.concatenate(run_in_parts(len(events), n_parts, mark))


def _distinct(marks: Marks) -> Marks:
    """Return what `numpy.unique` does, which takes 20 times as long for such numbers."""
    ordered = np.sort(marks)
    return ordered[np.append(True, ordered[1:] != ordered[:-1])[: len(marks)]]


def _hash_ids(ids: AnyArray) -> Marks:
    """Return the FNV-1a hash of the text of every id."""
    marks = np.full(len(ids), _FNV_BASIS, dtype=np.uint64)
    texts = np.array([str(one) for one in ids.tolist()])
    letters = texts.view(np.uint32).reshape(len(texts), -1)
    for letter in letters.T.astype(np.uint64):
        hashed = (marks ^ letter) * np.uint64(_FNV_PRIME)
        marks = np.where(letter > 0, hashed, marks)  # short texts end in zeros
    return marks


def check_histories(model: Any, y: RecurrentEvents) -> None:
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
        have, had = ("costs", "no costs") if y.has_costs else ("no costs", "costs")
        raise InvalidEventsError(
            "Events must have costs where those of training had them, but these have "
            f"{have} and those had {had}.\n\nHint: read the histories "
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


def refuse_new_exposure() -> NoReturn:
    """Raise the error for exposures given to a model that was trained without them."""
    raise InvalidParameterError(
        "This model was fitted without exposures, but individuals have some now.\n\n"
        "Hint: fit(X, y.with_exposure(exposure)), or leave them out, y.with_exposure(None)."
    )


def _check_exposure(model: Any, y: RecurrentEvents) -> None:
    """Refuse exposures unless the training data had them, and the other way round."""
    if not hasattr(model, "has_exposure_") and not hasattr(model, "ensemble_"):
        return  # nothing is known
    if (y.exposure is not None) == had_exposure(model):
        return
    if y.exposure is not None:
        refuse_new_exposure()
    raise InvalidEventsError(
        "This model was fitted with exposures and predicts events per unit of exposure, "
        "but the histories have none.\n\nHint: y.with_exposure(exposure), in the unit of "
        "training."
    )
