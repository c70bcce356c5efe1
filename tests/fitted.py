"""Fitted models with other results than their own."""

import copy
from dataclasses import replace

from tests.oracles_model_file import read_file, write_file

from boostr import BoostR, io
from boostr._frailty.forecast_law import ForecastLaw
from boostr._frailty.law import FrailtyLaw
from boostr._training.fitted import LawOnDemand
from boostr._training.settings import Settings


def change(model, **values):
    """Return the same model with other fields of its `Fitted`, or of the trees in it."""
    names = {"ensemble", "n_fold_models", "clock_variants"} & values.keys()
    trees = replace(model.fitted_.trees, **{name: values.pop(name) for name in names})
    names = {"forecast_law": "law", "forecast_scores": "scores"}
    law = {names[name]: values.pop(name) for name in names.keys() & values.keys()}
    if law:
        learned = model.fitted_.own_histories.learned._replace(**law)
        values["own_histories"] = LawOnDemand.known(*learned)
    changed = copy.copy(model)
    changed.fitted_ = replace(model.fitted_, trees=trees, **values)
    return changed


def change_settings(model, **values):
    """Return the same model, as if fitted with other settings."""
    trees = model.fitted_.trees
    changed = copy.copy(model)
    settings = replace(trees.settings, **values)
    changed.fitted_ = replace(model.fitted_, trees=replace(trees, settings=settings))
    return changed


def make_settings(**params):
    """Return the settings of an estimator."""
    return Settings(**BoostR(**params).get_params(deep=False))


def change_frailty(model, **values):
    """Return the same model with another law of frailties."""
    law = model.forecast_law_
    return change(model, forecast_law=replace(law, frailty=replace(law.frailty, **values)))


def drifting(model, half_life, variance=None):
    """Return the same model, but of frailties that drift, as the first model files have."""
    variance = model.frailty_variance_ if variance is None else variance
    return change(
        model, forecast_law=ForecastLaw(FrailtyLaw(variance, half_life, drifts=True))
    )


def without_attributes(model, *names):
    """Return the model as read from an early file, which lacks some attributes."""
    document, raw = read_file(io.to_bytes(model))
    for name in names:
        document["attributes"].pop(name, None)
    return io.from_bytes(write_file(document, raw))
