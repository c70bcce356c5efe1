from collections import Counter
from dataclasses import replace

import hypothesis.strategies as st
import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from numpy.testing import assert_array_equal
from sklearn.base import clone

from boostr import BoostR, RecurrentEvents
from boostr._training.features import (
    _MAX_CATEGORIES,
    _MOST_COUNTED,
    _MOST_RARE,
    FeatureEncoder,
    trim_counts,
)
from boostr.baselines import HomogeneousPoisson
from boostr.exceptions import DataWarning, InvalidFeaturesError
from boostr.inspection import explain


def learn(counts):
    """Return the categories that are learned from numbers of individuals."""
    return FeatureEncoder.from_counts({"place": counts}).categories[0]


@settings(max_examples=30)
@given(st.integers(0, 2**32 - 1), st.integers(1, 600))
def test_no_category_that_is_left_out_is_more_frequent(seed, n_categories):
    sizes = np.random.default_rng(seed).integers(1, 9, n_categories).tolist()
    counts = Counter(dict(zip(range(n_categories), sizes, strict=True)))
    known = learn(counts)
    others = [counts[category] for category in counts if category not in set(known)]
    is_full = len(known) == _MAX_CATEGORIES
    least = min(map(counts.get, known), default=0)
    assert len(known) <= _MAX_CATEGORIES
    assert max(others, default=0) <= (least if is_full else 1)


def test_the_choice_among_equals_does_not_depend_on_their_order(rng):
    names = [f"place {number}" for number in range(400)]
    shuffled = [names[place] for place in rng.permutation(400)]
    assert learn(Counter(names * 5)) == learn(Counter(shuffled * 5))


def test_few_categories_are_all_counted():
    counts = Counter({"a": 3, "b": 1})
    assert trim_counts(counts) == counts


@pytest.mark.slow
def test_of_very_many_categories_the_most_frequent_are_counted():
    counts = Counter(range(_MOST_COUNTED + 5)) + Counter([7, 9])
    trimmed = trim_counts(counts)
    assert len(trimmed) == _MOST_COUNTED
    assert {7: 2, 9: 2}.items() <= trimmed.items()


MODELS = [
    BoostR(n_estimators=5, validation=None, n_origins=0),
    HomogeneousPoisson(),
]


def fit_sites(fleet, model, sites, **others):
    """Return a model of a column of two sites that matters."""
    site = np.where(fleet.X[:, 0] > 0.5, *sites)
    X = pd.DataFrame({"site": site} | others)
    return clone(model).fit(X, fleet.y), X


def as_whole(site):
    return site.astype(float).astype(int)


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
@pytest.mark.parametrize(
    "convert",
    [
        as_whole,
        lambda site: site.astype(float),
        lambda site: as_whole(site).astype("category"),
        lambda site: as_whole(site).astype(str).astype("category"),
        lambda site: as_whole(site).astype(float).astype(str),
        lambda site: pd.Series([np.int32(one) for one in as_whole(site)], dtype=object),
    ],
    ids=["int", "float", "category of int", "category of text", "1.0", "numpy scalars"],
)
def test_categories_are_known_by_value_and_not_by_type(fleet, model, convert):
    model, X = fit_sites(fleet, model, ("1", "2"))
    predicted = model.predict(X)
    assert len(set(predicted)) == 2
    assert_array_equal(model.predict(X.assign(site=convert(X["site"]))), predicted)


@pytest.mark.parametrize("kind", [int, float, bool, "category"])
def test_numbers_that_are_categories_may_come_as_text(fleet, kind):
    model, X = fit_sites(fleet, MODELS[0], (1, 0))
    model.set_params(categorical_features=["site"]).fit(X.astype(kind), fleet.y)
    predicted = model.predict(X.astype(kind))
    assert_array_equal(model.predict(X.astype(str)), predicted)
    if kind is bool:
        assert_array_equal(model.predict(X.astype(bool).astype(str)), predicted)


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
@pytest.mark.parametrize("sites", [("north", "south"), ("01", "02")])
def test_numbers_in_the_place_of_other_texts_are_refused(fleet, model, sites):
    model, X = fit_sites(fleet, model, sites)
    with pytest.raises(InvalidFeaturesError, match=r"'site' must .* number \(7.*\)"):
        model.predict(X.assign(site=7))


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_mostly_unseen_categories_are_said(fleet, model):
    model, X = fit_sites(fleet, model, ("north", "south"))
    asked = X[:4].assign(site=["north", "west", "east", "west"])
    with pytest.warns(DataWarning, match=r"3 of 4 rows \('west', 'east'\)") as caught:
        model.predict(asked)
    assert caught[0].filename == __file__


def test_reasons_and_scores_say_it_too(fleet):
    model, X = fit_sites(fleet, MODELS[0], ("north", "south"))
    strange = X.assign(site="west")
    for ask in (lambda: model.score(strange, fleet.y), lambda: explain(model, strange)):
        with pytest.warns(DataWarning, match="120 of 120 rows"):
            ask()


def test_unseen_categories_of_a_column_that_does_not_matter_are_not_said(fleet):
    other = np.where(np.arange(len(fleet.y)) % 2, "u", "v")
    stump = BoostR(n_estimators=1, max_leaf_nodes=2, validation=None, n_origins=0)
    model, X = fit_sites(fleet, stump, ("north", "south"), other=other)
    assert model.split_counts_[1] == 0
    assert_array_equal(model.predict(X.assign(other="w")), model.predict(X))


def test_numbers_in_polars_match_texts_in_pandas(fleet):
    model, X = fit_sites(fleet, MODELS[0], ("1", "2"))
    asked = pl.DataFrame({"site": as_whole(X["site"]).to_numpy()})
    assert_array_equal(model.predict(asked), model.predict(X))


def name(encoder, places):
    table = pd.DataFrame({"place": places})
    return encoder.name_unlearned(table, encoder.transform(table))


def test_categories_without_a_code_are_named_as_rare_or_unknown():
    encoder = FeatureEncoder.from_counts({"place": Counter(a=5, b=2, EIRE=1)})
    found = name(encoder, ["a", "EIRE", None, "Mars", "b"])
    assert found == {(1, 0): "rare (EIRE)", (3, 0): "unknown (Mars)"}


def test_what_is_not_remembered_may_be_either():
    counts = Counter(f"site {k}" for k in range(_MOST_RARE + 2)) + Counter(["site 0"])
    many = FeatureEncoder.from_counts({"place": counts})
    old = replace(FeatureEncoder.from_counts({"place": Counter(a=5)}), rare=())
    for encoder in (many, old):
        assert name(encoder, ["Mars"]) == {(0, 0): "rare or unknown (Mars)"}


@pytest.mark.parametrize("decimal", [".", ","])
def test_measurements_that_are_text_are_said(rng, decimal):
    texts = [f"{value:.2f}".replace(".", decimal) for value in rng.random(60)]
    texts[3] = "n/a"
    y = RecurrentEvents.from_lists([[1.0]] * 60, end=2.0)
    model = BoostR(n_estimators=2, validation=None)
    with pytest.warns(
        DataWarning, match=r"'load' is a column of text .*\(the others are n/a"
    ):
        model.fit(pd.DataFrame({"load": texts}), y)


@pytest.mark.parametrize(
    "texts",
    [["01", "02", "17"] * 20, [f"{code}" for code in range(60)], ["1.5", "2.5"] * 30],
)
def test_codes_and_few_numbers_may_be_categories(texts):
    y = RecurrentEvents.from_lists([[1.0]] * 60, end=2.0)
    BoostR(n_estimators=2, validation=None).fit(pd.DataFrame({"kind": texts}), y)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("n/a", "holds 'n/a' .row 3.*categorical"),
        (pd.Timestamp("2024-01-31"), "days since"),
    ],
)
def test_the_value_that_is_no_number_is_named(value, message):
    y = RecurrentEvents.from_lists([[1.0]] * 60, end=2.0)
    table = pd.DataFrame({"load": np.linspace(0.0, 1.0, 60)})
    model = BoostR(n_estimators=2, validation=None).fit(table, y)
    wrong = table.astype(object)
    wrong.loc[3, "load"] = value
    with pytest.raises(InvalidFeaturesError, match=f"(?s){message}"):
        model.predict(wrong)
