"""Gradient boosted trees whose leaves are functions of time."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, Self

from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted, validate_data

from boostr._training.doubts import warn_of_doubtful_times
from boostr._training.event_sensors import HistorySensors, fit_event_sensors
from boostr._training.fit import fit_model
from boostr._training.kinds import fit_kinds, refuse_kinds
from boostr._training.run import Callback, Hooks, forget, name_interrupt
from boostr._training.sensors import Sensors, split_panel
from boostr._training.terminal import fit_terminal
from boostr.basis import Basis
from boostr.data import (
    Panel,
    RecurrentEvents,
    ScannedEvents,
    ScannedTrajectories,
    check_target,
)
from boostr.data.features import check_table
from boostr.estimators._forecasts import ForecastMethods
from boostr.estimators._model_file import register_estimator
from boostr.estimators._predictions import PredictionMethods
from boostr.inspection import ModelSummary, model_summary, trees_frame
from boostr.io import save

__all__ = ["BoostR"]


class BoostR(ForecastMethods, PredictionMethods):
    """Gradient boosted trees for recurrent events.

    Learns from event histories, static features and sensors how many events an individual
    will have by any time: the cumulative intensity ``mu(t | x)``, a sum of trees whose
    leaves hold functions of time, or of what sensors show. By default the number of trees,
    their size and the way thresholds are chosen are found by cross-validation, and the
    models of the folds are averaged; see the user guide for how.

    Parameters
    ----------
    n_estimators : int, default=500
        Maximum number of trees; validation picks how many are kept. The paper's K.
    learning_rate : float or "auto", default="auto"
        Share of each tree that is kept, in (0, 1]; "auto" is 0.2 with sensors and
        validation, otherwise 0.05.
    max_leaf_nodes : int or "auto", default="auto"
        Maximum number of leaves of a tree; "auto" lets validation weigh several sizes (8
        without validation). The paper's D.max.
    gamma1 : float, default=0.0
        Price of one more leaf: a split must lower the loss by more.
    gamma2 : float, default=1.0
        Number of imaginary individuals without events, observed from the first start to the
        horizon, that draw every leaf towards zero.
    min_samples_leaf : int or "auto", default="auto"
        Minimum number of individuals in a leaf; "auto" depends on the tree sizes that
        validation weighs (20 without validation).
    leaf : {"power", "step", "spline"} or basis object, default="power"
        Family of the leaf functions: powers of time, one number per cell of time, or
        smooth splines. See `boostr.basis`. Not read if there are sensors.
    loss : {"intensity", "cumulative"}, default="intensity"
        Least squares on the rate of events, unbiased whenever the end of follow-up depends
        only on the past, or the paper's squared distance between cumulative counts.
    clock : {"operational", "calendar"}, default="operational"
        Time in which leaf functions are written: counted in events of the average
        individual, or as given (the paper), from the first start of follow-up on.
    growth : {"best", "level"}, default="best"
        "best" splits the leaf with the largest gain first, up to `max_leaf_nodes`; "level"
        splits all leaves with a gain in each round, and may exceed it (the paper).
    splitter : {"auto", "best", "random"}, default="auto"
        Thresholds: all of them, a few drawn at random (smoother), or what validation finds
        better ("best" without validation).
    n_knots : int or mapping, default=2
        Inner knots of the functions of a sensor, at quantiles of its values; or the knots
        themselves by the sensor's name. The paper's u.
    spline_order : int, default=3
        Order of the functions of a sensor: 1 for steps, 2 for broken lines, 3 for
        parabolas. The paper's v.
    baseline : {"constant", "power", "step", "spline"}, basis object or None, \
default="constant"
        Functions of time beside the sensors: a rate that only sensors change, or a family
        as for `leaf`. None leaves the rate to the sensors alone (the paper).
    sensor_penalty : {"group_lasso", "ridge"}, default="group_lasso"
        Penalty on the effects of sensors, of strength `gamma2`: a group lasso on the
        coefficients of each sensor in a leaf, which sets useless sensors to exactly zero,
        or a ridge penalty alone, which only makes their effects small.
    init : {"mean", "zero"}, default="mean"
        Where boosting starts: the first tree is a root alone, taken in full, which is the
        average individual; or nothing (the paper).
    validation : "cv", float or None, default="cv"
        Cross-validation over individuals, a share of them to hold out, or no validation:
        all `n_estimators` trees are kept. With more than 50,000 individuals "cv" holds out
        a fifth of them once; with fewer than two a fold it does not validate.
    n_folds : int, default=5
        Number of folds.
    average_folds : bool, default=True
        Average the models of the folds; if False, one model is grown on all individuals
        with the settings found.
    subsample : float, default=1.0
        Share of individuals drawn for each tree.
    colsample : float, default=1.0
        Share of features drawn for each tree.
    max_bins : int, default=255
        Maximum number of bins of a feature, without the one for missing values.
    categorical_features : "from_dtype", None or array-like, default="from_dtype"
        Categorical columns: those of text or category type in a DataFrame, none, or the
        given names, positions or mask. The 254 most frequent categories of a column are
        learned; all others, those of a single individual and those that training has not
        seen are treated as missing. A column of more than ten categories is
        dropped if, under `validation`, it does not clearly lower the held-out loss.
    monotone : bool, default=True
        Whether predicted curves are made non-negative and non-decreasing in time, as a
        cumulative count is; False gives the plain sum of the trees.
    n_origins : int, default=5
        Number of earlier dates at which forecasts are tested. Their errors set the width
        of the intervals of totals, see `forecast_fleet`, and decide whether a second time
        scale and curves of several exponents are used. 0 skips these tests: intervals then
        rest on the usual errors of other fleets, there is one time scale, and validation
        alone decides on the exponents.
    kinds : {"auto", "each", "total"}, default="auto"
        Whether each kind of events is learned by trees of its own, where `y` has kinds:
        predictions are the sum of those of the kinds then, and methods take ``kind``. Kinds
        with fewer than 20 events are pooled as "other kinds". "total" learns all events
        together; "auto" is "each" where `y` has kinds, unless sensors are a function.
    random_state : int, RandomState or None, default=None
        Seed of folds, subsamples and random thresholds.
    n_jobs : int or None, default=None
        Threads; all of them by default. Results do not depend on it.
    verbose : int, default=0
        1 shows a progress bar with the validation loss, and one over drawn futures.
    warm_start : bool, default=False
        Whether another `fit` to the same data keeps the existing trees and adds further
        ones up to `n_estimators`; only with `validation=None`. With the same seed the
        result is that of growing all trees at once.
    monotonic_cst : array-like of shape (p,), mapping or None, default=None
        Directions of features, by position or by name: 1 if curves and rates must not fall
        at any time where the feature rises, -1 if they must not rise, 0 for no constraint.
        Only for numeric features and models without sensors; missing values have no order.
    interaction_cst : {"pairwise", "no_interactions"}, list of sets or None, default=None
        Which features may act together, that is, meet on a way from root to leaf: any two,
        none, or those in one of the given sets of names or positions. Features that are in
        no set are another set. None: all of them.

    Attributes
    ----------
    n_estimators_ : int
        Rounds of boosting that are kept (trees of the longest averaged model).
    feature_importances_ : ndarray of shape (p,)
        Total gain of a feature's splits over K squared, scaled to sum to one; all zero
        where no split pays.
    feature_gains_, split_counts_ : ndarray of shape (p,)
        Raw gains and number of splits, averaged over the models.
    validation_results_ : boostr.inspection.ValidationResults
        List of dicts, one for each shape of trees that was tried: ``label``, ``curve``
        (held-out loss after each tree), ``n_trees`` kept, ``loss`` and ``weight`` in the
        ensemble. Notebooks show it as a table; see also `validation_to_frame`.
    train_loss_ : ndarray or None
        Training loss after each tree, where one model was grown on all individuals.
    sensor_usefulness_ : dict or None
        For each sensor the rise of the held-out loss per individual when its effects are
        left out, and the standard error of that; None without sensors or validation.
    frailty_variance_ : float
        Variance of the frailties, that is, of the ratio of events to out-of-fold
        predictions beyond chance; see `forecast`. Without validation it is too low.
    frailty_half_life_ : float
        Time after which an individual's history counts half; infinite where all of it
        counts.
    ensemble_ : boostr.Ensemble
        Clock, functions of time, bins and trees.
    clock_ : object
        The fitted clock.
    horizon_ : float
        Last end of follow-up in training.
    time_unit_, time_origin_, has_costs_, has_exposure_
        Unit and origin of time, where `y` has them, and whether its events have costs and
        its individuals exposures.
    kind_labels_ : tuple
        The kinds of events that have trees of their own; empty if all are learned
        together. The attributes above are those of trees that were grown on all events.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (p,)
        Names of features, where `X` has them.

    References
    ----------
    Liu, X. and Pan, R. Boost-R: gradient boosted trees for recurrence data.

    Examples
    --------
    Machines fail once, five or ten times in a hundred days, depending on two features.

    >>> from boostr import BoostR
    >>> from boostr.simulate import dataset_a
    >>> train, test = dataset_a(n=200, random_state=1), dataset_a(n=3, random_state=2)
    >>> model = BoostR(random_state=0).fit(train.X, train.y)
    >>> model.predict(test.X, horizon=100).round(0)
    array([ 1.,  5., 10.])
    """

    def __init__(  # noqa: PLR0913 - every setting is a parameter, as in scikit-learn
        self,
        *,
        n_estimators: int = 500,
        learning_rate: float | Literal["auto"] = "auto",
        max_leaf_nodes: int | Literal["auto"] = "auto",
        gamma1: float = 0.0,
        gamma2: float = 1.0,
        min_samples_leaf: int | Literal["auto"] = "auto",
        leaf: str | Basis = "power",
        loss: Literal["intensity", "cumulative"] = "intensity",
        clock: Literal["operational", "calendar"] = "operational",
        growth: Literal["best", "level"] = "best",
        splitter: Literal["auto", "best", "random"] = "auto",
        n_knots: int | Mapping[str, Sequence[float]] = 2,
        spline_order: int = 3,
        baseline: str | Basis | None = "constant",
        sensor_penalty: Literal["group_lasso", "ridge"] = "group_lasso",
        init: Literal["mean", "zero"] = "mean",
        validation: float | Literal["cv"] | None = "cv",
        n_folds: int = 5,
        average_folds: bool = True,
        subsample: float = 1.0,
        colsample: float = 1.0,
        max_bins: int = 255,
        categorical_features: Any = "from_dtype",
        monotone: bool = True,
        n_origins: int = 5,
        kinds: Literal["auto", "each", "total"] = "auto",
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        warm_start: bool = False,
        monotonic_cst: ArrayLike | Mapping[str, int] | None = None,
        interaction_cst: str | Sequence[Any] | None = None,
    ) -> None:
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.max_leaf_nodes = max_leaf_nodes
        self.gamma1 = gamma1
        self.gamma2 = gamma2
        self.min_samples_leaf = min_samples_leaf
        self.leaf = leaf
        self.loss = loss
        self.clock = clock
        self.growth = growth
        self.splitter = splitter
        self.n_knots = n_knots
        self.spline_order = spline_order
        self.baseline = baseline
        self.sensor_penalty = sensor_penalty
        self.init = init
        self.validation = validation
        self.n_folds = n_folds
        self.average_folds = average_folds
        self.subsample = subsample
        self.colsample = colsample
        self.max_bins = max_bins
        self.categorical_features = categorical_features
        self.monotone = monotone
        self.n_origins = n_origins
        self.kinds = kinds
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.warm_start = warm_start
        self.monotonic_cst = monotonic_cst
        self.interaction_cst = interaction_cst

    @classmethod
    def paper(
        cls,
        n_estimators: int = 50,
        gamma1: float = 300.0,
        gamma2: float = 100.0,
        max_leaf_nodes: int = 4,
        **params: Any,
    ) -> BoostR:
        """Make the plain algorithm of the paper.

        Cumulative loss, calendar clock, growth by level, full steps from zero, all
        thresholds, no baseline beside sensors, and no validation.

        Parameters
        ----------
        n_estimators, gamma1, gamma2, max_leaf_nodes
            K, gamma1, gamma2 and D.max of the paper.
        **params
            Any other parameter of `BoostR`.

        Returns
        -------
        BoostR
            An estimator that is not fitted yet.

        Examples
        --------
        >>> BoostR.paper(n_estimators=10).loss
        'cumulative'
        """
        plain: dict[str, Any] = {
            "learning_rate": 1.0,
            "min_samples_leaf": 1,
            "loss": "cumulative",
            "clock": "calendar",
            "growth": "level",
            "splitter": "best",
            "baseline": None,
            "init": "zero",
            "validation": None,
        }
        return cls(
            n_estimators=n_estimators,
            gamma1=gamma1,
            gamma2=gamma2,
            max_leaf_nodes=max_leaf_nodes,
            **(plain | params),
        )

    def fit(
        self,
        X: Any,
        y: RecurrentEvents | ScannedEvents,
        Z: Sensors | ScannedTrajectories | HistorySensors | None = None,
        sample_weight: ArrayLike | None = None,
        *,
        checkpoint: str | os.PathLike[str] | None = None,
        exposure: Any = None,
        callbacks: Sequence[Callback] | None = None,
    ) -> Self:
        """Fit the model to event histories.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n, p)
            Static features, one row per individual: numbers, NaN for missing, categories.
            Or a `Panel` of features and sensors.
        y : RecurrentEvents or ScannedEvents
            Event histories of the same individuals, in the same order: that of ``y.ids``,
            ascending, where they are in files.
        Z : Trajectories, SharedSensors, ScannedTrajectories or callable, default=None
            Sensors of the same individuals, matched with `y` by id; by position where
            there are no ids; or what all individuals share, such as the season. Sensors
            that follow from the events, such as the time since the last one, come as a
            function ``Z(y, until)`` of histories and of the times to reach, as in
            `forecast`; it is also called without any events. Intensities are then learned
            beside frailties, in up to four fits.
        sample_weight : array-like of shape (n,), default=None
            How much each individual counts: 2 is the individual twice, 0 leaves it out. A
            common factor matters, too, since `gamma2` counts imaginary individuals.
        checkpoint : str or path, default=None
            File to which the trees are saved every few seconds. If training is interrupted,
            the same call resumes from it and gives the same model to the bit. If `Z` is a
            function, there are several files with numbers at the end.
        exposure : float, array-like of shape (n,), mapping or Trajectories, default=None
            What the number of events is proportional to, such as the length of a pipe or
            flights a day; short for ``y.with_exposure(exposure)``.
        callbacks : list of callables, default=None
            Functions that are called after every tree (of every fold) with a
            `boostr.estimators.FitProgress`; if one returns True, its run of trees ends.

        Returns
        -------
        BoostR
            The fitted estimator itself.
        """
        settings = self._settings()
        hooks = Hooks(checkpoint, callbacks)
        if exposure is not None:
            y = _expose(y, exposure)
        earlier = getattr(self, "fitted_", None)
        forget(self, "fitted_", "n_features_in_", "feature_names_in_")
        with name_interrupt():
            is_target = isinstance(y, (RecurrentEvents, ScannedEvents))
            if isinstance(y, RecurrentEvents):
                warn_of_doubtful_times(y)
            given = None if callable(Z) else Z
            table, sensors = split_panel(X, given, y if is_target else None)
            table = check_table(table)
            validate_data(self, table, reset=True, skip_check_array=True)
            if callable(Z):
                panel = table if sensors is None else Panel(table, sensors)
                fitted = fit_event_sensors(
                    settings, panel, check_target(y), Z, sample_weight, hooks
                )
            else:
                fitted = fit_model(
                    settings, table, y, sensors, sample_weight, hooks, earlier
                )
            # Sensors that follow from the events cannot be drawn with deaths in turn.
            sensors = None if callable(Z) else sensors
            fitted = fit_terminal(
                settings, fitted, table, y, sensors, sample_weight, hooks, earlier
            )
            if callable(Z):
                refuse_kinds(settings)
            else:
                fitted = fit_kinds(
                    settings, fitted, table, y, sensors, sample_weight, hooks, earlier
                )
        self.fitted_ = fitted
        return self

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted model to a file, from which `boostr.load` reads it.

        The file holds numbers and text, no code, and appears as a whole or not at all. A
        loaded model predicts the same to the bit.

        Parameters
        ----------
        path : str or path
            The file, by custom with the ending ``.boostr``; one that is there is replaced.

        See Also
        --------
        boostr.load : Reads the file.
        """
        check_is_fitted(self)
        save(self, path)

    def trees_to_frame(self, *, backend: str | None = None) -> Any:
        """List the nodes of all trees in a table.

        Parameters
        ----------
        backend : {"pandas", "polars"}, optional
            Which table to make; by default pandas if it is installed, else polars.

        Returns
        -------
        DataFrame
            One row per node, see `boostr.inspection.trees_frame`.
        """
        check_is_fitted(self)
        return trees_frame(self, backend=backend)

    def validation_to_frame(self, *, backend: str | None = None) -> Any:
        """List the shapes of trees that validation has tried in a table.

        Parameters
        ----------
        backend : {"pandas", "polars"}, optional
            Which table to make; by default pandas if it is installed, else polars.

        Returns
        -------
        DataFrame
            One row per entry of `validation_results_`: its ``label``, ``n_trees``,
            ``loss`` and ``weight``. Without validation there are no rows.

        Examples
        --------
        >>> from boostr import BoostR
        >>> from boostr.simulate import dataset_a
        >>> fleet = dataset_a(n=100, random_state=1)
        >>> model = BoostR(n_estimators=20, random_state=0).fit(fleet.X, fleet.y)
        >>> model.validation_to_frame().columns.tolist()
        ['label', 'n_trees', 'loss', 'weight']
        """
        check_is_fitted(self)
        return self.validation_results_.to_frame(backend=backend)

    def summary(self, y: RecurrentEvents | None = None, Z: Any = None) -> ModelSummary:
        """Return the model in plain words: what it has learned, and how good it is.

        Parameters
        ----------
        y : RecurrentEvents, default=None
            The histories that `fit` was given. Out-of-fold predictions are compared with
            them, if the model was fitted with validation.
        Z : Trajectories or SharedSensors, default=None
            The sensors that `fit` was given, needed with `y` if the model uses some.

        Returns
        -------
        ModelSummary
            Prints as text, shows as lists in notebooks, and `to_frame` makes a table.

        See Also
        --------
        report : A page on a fleet: risks, reasons, and how good the model is.

        Examples
        --------
        >>> from boostr import BoostR
        >>> from boostr.simulate import dataset_a
        >>> fleet = dataset_a(n=100, random_state=1)
        >>> model = BoostR(n_estimators=20, random_state=0).fit(fleet.X, fleet.y)
        >>> print(str(model.summary())[:16])
        What was learned
        """
        check_is_fitted(self)
        return model_summary(self, y, Z)

    def report(
        self,
        X: Any,
        y: RecurrentEvents,
        Z: Sensors | None = None,
        *,
        path: str | os.PathLike[str] = "report.html",
        horizon: float | None = None,
        **options: Any,
    ) -> Path:
        """Write a page on a fleet: who is at risk, why, and how good the model is.

        Parameters
        ----------
        X, y, Z
            Features, histories up to the present, and sensors of the individuals.
        path : str or path, default="report.html"
            The file, one page that opens without a network.
        horizon : float, default=None
            Length of the time ahead; by default as long as the training data, from the
            first start to the last end.
        **options
            Passed to `boostr.report.fleet_report`.

        Returns
        -------
        Path
            The file.

        See Also
        --------
        boostr.report.fleet_report : Says what is on the page.
        """
        check_is_fitted(self)
        from boostr.report import fleet_report  # noqa: PLC0415 - heavy

        return fleet_report(self, X, y, Z, path=path, horizon=horizon, **options)

    def __sklearn_tags__(self) -> Any:
        """Return the tags that describe the accepted data to scikit-learn."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        tags.target_tags.required = True
        return tags


def _expose(y: Any, exposure: Any) -> RecurrentEvents | ScannedEvents:
    """Attach exposures to histories, in memory or in files."""
    if isinstance(y, ScannedEvents):
        return y.with_exposure(exposure)
    return check_target(y).with_exposure(exposure)


register_estimator(BoostR)
