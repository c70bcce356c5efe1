"""Limits of trees, from what a user says of features."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from numbers import Real
from typing import Any

import numpy as np

from boostr._checks.numbers import first_few
from boostr._engine.tree import Limits
from boostr._kernels.solve import SINGLE
from boostr._training.features import FeatureEncoder, find_column
from boostr._training.settings import Settings
from boostr._typing import BoolArray, IndexArray
from boostr.basis import FittedBasis, FittedSensorBasis
from boostr.exceptions import InvalidParameterError

__all__ = ["read_limits"]

_AT_MOST = {"pairwise": 2, "no_interactions": 1}  # features on a way to a leaf
_N_TIMES = 1000  # at which rates of terms are looked at
_ROUNDING = 1e-9  # of a rate


def read_limits(
    settings: Settings, encoder: FeatureEncoder, basis: FittedBasis | FittedSensorBasis
) -> Limits | None:
    """Return the limits that settings put on trees; None if there are none."""
    signs, given = _read_signs(settings.monotonic_cst, encoder), settings.interaction_cst
    if np.any(signs != 0):
        _check_basis(basis)
    elif given is None:
        return None
    if isinstance(given, str) and given in _AT_MOST:
        return Limits(signs, most_together=_AT_MOST[given])
    return Limits(signs, None if given is None else _read_sets(given, encoder.names))


def _read_signs(given: Any, encoder: FeatureEncoder) -> IndexArray:
    """Return the direction of every feature."""
    names = encoder.names
    signs = [0] * len(names)
    if isinstance(given, Mapping):
        for name, sign in given.items():
            signs[find_column(name, names, "monotonic_cst")] = sign
    elif given is not None:
        entries = np.asarray(given)
        if entries.shape != (len(names),):
            raise InvalidParameterError(
                "`monotonic_cst` must have one entry per feature, but its shape is "
                f"{entries.shape} for {len(names)} features.\n\n"
                "Hint: {'name': 1} names those that matter."
            )
        signs = entries.tolist()
    wrong = [name for name, sign in zip(names, signs, strict=True) if not _is_sign(sign)]
    if wrong:
        raise InvalidParameterError(
            "`monotonic_cst` must be -1, 0 or 1, but it is not for the features "
            f"{first_few(wrong)}.\n\n"
            "Hint: 1 if the number of events must not fall where the feature rises, -1 if "
            "it must not rise."
        )
    found = np.array(signs, dtype=np.int32)
    _refuse_categories(found != 0, encoder)
    return found


def _is_sign(value: object) -> bool:
    return isinstance(value, Real) and value in {-1, 0, 1}


def _refuse_categories(is_limited: BoolArray, encoder: FeatureEncoder) -> None:
    wrong = np.flatnonzero(is_limited & encoder.is_categorical)
    if wrong.size:
        raise InvalidParameterError(
            "`monotonic_cst` needs features whose values have an order, but these are "
            f"categories: {first_few([encoder.names[place] for place in wrong])}.\n\n"
            "Hint: make numbers of them in the right order, or set them to 0."
        )


def _read_sets(given: Any, names: tuple[str, ...]) -> BoolArray:
    """Return sets of features that may act together; those in none are one more set."""
    is_list = isinstance(given, Iterable) and not isinstance(given, str | Mapping)
    groups = list(given) if is_list else [given]
    if not all(isinstance(group, set | frozenset | list | tuple) for group in groups):
        raise InvalidParameterError(
            "`interaction_cst` must be 'pairwise', 'no_interactions' or a list of sets of "
            f"features, but it is {given!r}.\n\n"
            "Hint: [{'age', 'load'}, {'site'}], by name or by position."
        )
    sets = np.zeros((len(groups), len(names)), dtype=np.bool_)
    for place, group in enumerate(groups):
        for entry in group:
            sets[place, find_column(entry, names, "interaction_cst")] = True
    others = ~sets.any(axis=0)
    return np.vstack([sets, others]) if others.any() else sets


def _check_basis(basis: FittedBasis | FittedSensorBasis) -> None:
    """Refuse leaf functions that cannot be kept in order term by term."""
    if isinstance(basis, FittedSensorBasis):
        raise InvalidParameterError(
            "`monotonic_cst` orders curves of time, but this model has sensors, whose "
            "values would have to be ordered for all individuals at once.\n\n"
            "Hint: leave out `monotonic_cst`, or `Z`; `interaction_cst` works with both."
        )
    last = float(basis.breaks.max(initial=0.0)) or 1.0
    late = np.geomspace(last, 1e3 * last, _N_TIMES)
    rates = basis.rates(np.concatenate([np.linspace(0.0, last, _N_TIMES)[1:], late]))
    if basis.solver == SINGLE or np.any(rates < -_ROUNDING * np.abs(rates).max()):
        raise InvalidParameterError(
            "`monotonic_cst` needs leaf functions that rise with time and are fitted "
            "together, but those of `leaf` are not.\n\nHint: leaf='power' or 'spline', or "
            "'step' with loss='intensity'."
        )
