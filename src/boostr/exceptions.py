"""Errors and warnings of boostr; each is also the builtin that a caller would catch."""

from __future__ import annotations

from typing import Any

__all__ = [
    "BoostrError",
    "ClusterLostError",
    "DataWarning",
    "DuplicateRowsWarning",
    "InSampleWarning",
    "InterruptedFitError",
    "InvalidEventsError",
    "InvalidFeaturesError",
    "InvalidModelFileError",
    "InvalidParameterError",
    "InvalidSensorsError",
    "MissingDependencyError",
    "SeasonWarning",
    "SensorRangeWarning",
    "SensorTypeError",
    "TargetTypeError",
    "UnusedInputWarning",
]


class BoostrError(Exception):
    """Base of all errors that boostr raises on purpose."""

    ids: Any = None  # of the first individuals that break a rule, where it is known whose


class ClusterLostError(BoostrError, ConnectionError):
    """The cluster that trains a model is gone, or loses its workers again and again."""


class InvalidEventsError(BoostrError, ValueError):
    """Event histories break a rule, for instance an event after the end of follow-up."""


class InvalidFeaturesError(BoostrError, ValueError):
    """Features cannot be used, for instance their ids do not match those of the events."""


class InvalidModelFileError(BoostrError, ValueError):
    """A file is no model that can be read: foreign, damaged or from a newer version."""


class InvalidParameterError(BoostrError, ValueError):
    """A parameter, or a combination of parameters, is impossible."""


class InvalidSensorsError(BoostrError, ValueError):
    """Sensor series cannot be used, for instance some individuals have none."""


class SensorTypeError(BoostrError, TypeError):
    """Sensors, or a panel that carries them, are not of the type that is needed."""


class TargetTypeError(BoostrError, TypeError):
    """The target is not a ``RecurrentEvents``."""


class MissingDependencyError(BoostrError, ImportError):
    """An optional package is needed and not installed."""


class InterruptedFitError(KeyboardInterrupt):
    """Training was interrupted from the keyboard; the estimator is left unfitted.

    Not a ``BoostrError``: whoever catches errors must not catch the user's wish to stop.
    """


class DataWarning(UserWarning):
    """Data can be used, but what comes of them may not be what was meant."""


class DuplicateRowsWarning(DataWarning):
    """Rows of a table of events repeat others, and count as events of their own."""


class InSampleWarning(UserWarning):
    """A model is judged by individuals that it was trained on."""


class SeasonWarning(UserWarning):
    """A season is left out, because too little of it was seen."""


class SensorRangeWarning(UserWarning):
    """Sensors show values that training has not seen."""


class UnusedInputWarning(UserWarning):
    """A feature or sensor is varied that the model does not use."""
