"""What a fitted `BoostR` knows, and how it reads features and sensors."""

from __future__ import annotations

from operator import attrgetter
from typing import Any

from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted, validate_data

from boostr._training.fitted import Fitted
from boostr._training.sensors import Sensors, split_panel, spread_shared
from boostr._training.settings import Settings
from boostr._typing import FloatArray
from boostr.data import Panel, RecurrentEvents, SharedSensors, Trajectories
from boostr.data.events.exposure import Exposure
from boostr.data.events.fingerprint import refuse_new_exposure
from boostr.data.events.read_exposure import read_new_exposure
from boostr.data.features import check_table, match_columns
from boostr.inspection import ValidationResults

__all__ = ["FittedEstimator"]


def _result(name: str) -> Any:
    """Return a read-only attribute that a fit has set."""
    return property(attrgetter(f"fitted_.{name}"))


class FittedEstimator(BaseEstimator):  # type: ignore[misc]
    """An estimator with the results of a fit in ``fitted_``."""

    fitted_: Fitted

    clock_ = _result("clock")
    clock_variants_ = _result("clock_variants")
    cost_moments_ = _result("cost_moments")
    encoder_ = _result("encoder")
    ensemble_ = _result("ensemble")
    feature_gains_ = _result("feature_gains")
    feature_importances_ = _result("feature_importances")
    fingerprint_ = _result("fingerprint")
    forecast_law_ = _result("forecast_law")
    forecast_scores_ = _result("forecast_scores")
    frailty_half_life_ = _result("frailty_half_life")
    frailty_variance_ = _result("frailty_variance")
    has_costs_ = _result("has_costs")
    has_exposure_ = _result("has_exposure")
    horizon_ = _result("horizon")
    kind_labels_ = _result("kind_labels")
    kinds_ = _result("kinds")
    n_estimators_ = _result("n_estimators")
    n_fold_models_ = _result("n_fold_models")
    out_of_fold_coefficients_ = _result("out_of_fold_coefficients")
    reading_ = _result("reading")
    reference_clock_ = _result("reference_clock")
    sensor_layout_ = _result("sensor_layout")
    sensor_usefulness_ = _result("sensor_usefulness")
    split_counts_ = _result("split_counts")
    terminal_ = _result("terminal")
    time_origin_ = _result("time_origin")
    time_unit_ = _result("time_unit")
    train_loss_ = _result("train_loss")

    @property
    def validation_results_(self) -> ValidationResults:
        """What validation has tried; a list that displays as a table."""
        return ValidationResults(self.fitted_.validation_results)

    def __sklearn_is_fitted__(self) -> bool:
        """Return whether there are results of a fit."""
        return hasattr(self, "fitted_")

    def _settings(self) -> Settings:
        """Return the checked parameters."""
        return Settings(**self.get_params(deep=False))

    def _read_fitted(self) -> Fitted:
        """Return the results of the fit, with the parameters as they are now."""
        check_is_fitted(self)
        return self.fitted_.with_settings(self._settings())

    def _check_table(self, X: Any) -> Any:
        """Return the columns of training, in their order."""
        table = match_columns(self, check_table(X), self.encoder_.names)
        validate_data(self, table, reset=False, skip_check_array=True)
        return table

    def _check_input(
        self, X: Any, Z: Sensors | None, y: object = None, until: Any = None
    ) -> tuple[FloatArray, Trajectories | None]:
        """Return encoded features and sensors; shared sensors end at a given time."""
        fitted = self._read_fitted()
        events = y if isinstance(y, RecurrentEvents) else None
        if isinstance(Z, SharedSensors) and events is None:
            Z = spread_shared(Z, None, len(X), fitted.sensor_layout, until=until)
        given = None
        if Z is not None or isinstance(X, Panel):
            X, given = split_panel(X, Z, events)
        features = fitted.read_features(self._check_table(X))
        return features, fitted.read_sensors(given)

    def _read_exposure(self, X: Any, given: Any, n: int) -> Exposure | None:
        """Return the exposures of individuals without histories; None means 1 each."""
        if given is None:
            return None
        exposure = read_new_exposure(given, n, X.X if isinstance(X, Panel) else X)
        if exposure is not None and not self.has_exposure_:
            refuse_new_exposure()
        return exposure
