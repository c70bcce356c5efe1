import sys
from dataclasses import FrozenInstanceError
from fractions import Fraction
from importlib.resources import files

import numpy as np
import polars as pl
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from pandas.testing import assert_frame_equal

from boostr import MeanCumulativeFunction, RecurrentEvents
from boostr._checks.numbers import check_ids_match
from boostr._training.features import FeatureEncoder
from boostr.datasets import Dataset, load_bladder, load_cgd, load_valve_seats
from boostr.exceptions import InvalidParameterError, MissingDependencyError

LOADERS = [load_valve_seats, load_bladder, load_cgd]
WITH_FEATURES = [load_bladder, load_cgd]
# The mean cumulative function by the R package survival 3.5-3, which has the same table:
# survfit(Surv(start, stop, event) ~ 1, id = id), field cumhaz; the last one by hand,
# because two replacements at the same age cannot stand in its rows.
PUBLISHED = {
    61: 0.0243902439,
    76: 0.0487804878,
    98: 0.1463414634,
    254: 0.3658536585,
    377: 0.6585365854,
    497: 0.8085365854,
    604: 1.0597186850,
    653: 1.5426875136,
}


def read_rows(name):
    text = files("boostr.datasets").joinpath("data", name).read_text("utf-8")
    return [line.split(",") for line in text.splitlines()[1:]]


@pytest.mark.parametrize(
    ("load", "n", "n_events", "follow_up", "unit"),
    [
        (load_valve_seats, 41, 48, 25363.0, "days"),
        (load_bladder, 116, 189, 3704.0, "months"),
        (load_cgd, 128, 76, 37477.0, "days"),
    ],
)
def test_histories_are_as_many_as_published(load, n, n_events, follow_up, unit):
    y = load().y
    assert (len(y), y.times.size, y.follow_up.sum()) == (n, n_events, follow_up)
    assert (y.time_unit, y.start.max()) == (unit, 0.0)


@pytest.mark.parametrize(
    ("load", "name"),
    [(load_valve_seats, "valve_seats"), (load_bladder, "bladder"), (load_cgd, "cgd")],
)
def test_histories_are_those_that_the_public_constructor_reads(load, name):
    rows = np.array(read_rows(f"{name}.csv"), dtype=float)
    table = pl.DataFrame(rows, schema=["id", "time", "event"]).cast({"id": pl.Int64})
    y = load().y
    expected = RecurrentEvents.from_long(
        table, "id", "time", "event", unit=y.time_unit, duplicates="keep"
    )
    assert y.equals(expected)


def test_mean_of_the_valve_seats_is_the_definition_on_the_raw_rows():
    rows = [tuple(map(int, row)) for row in read_rows("valve_seats.csv")]
    ends = [day for _, day, replaced in rows if not replaced]
    fitted = MeanCumulativeFunction().fit(load_valve_seats().y)
    for time, value in zip(fitted.times_, fitted.mcf_, strict=True):
        exact = sum(
            Fraction(1, sum(end >= day for end in ends))
            for _, day, replaced in rows
            if replaced and day <= time
        )
        assert value == pytest.approx(float(exact), rel=1e-12)


def test_mean_of_the_valve_seats_is_the_published_one():
    fitted = MeanCumulativeFunction().fit(load_valve_seats().y)
    assert_allclose(fitted.predict(list(PUBLISHED)), list(PUBLISHED.values()), rtol=1e-9)


def test_both_treatments_of_the_infections_have_the_published_counts():
    data = load_cgd()
    is_treated = (data.X["treatment"] == "rIFN-g").to_numpy()
    assert (is_treated.sum(), (~is_treated).sum()) == (63, 65)
    assert data.y.n_events[is_treated].sum() == 20
    # Patients with at least one infection: 14 of 63 under interferon, 30 of 65 without.
    assert (data.y.n_events[is_treated] > 0).sum() == 14
    assert (data.y.n_events[~is_treated] > 0).sum() == 30


def test_the_treatments_of_the_tumours_have_the_published_counts():
    data = load_bladder()
    events = {
        name: int(data.y.n_events[(data.X["treatment"] == name).to_numpy()].sum())
        for name in ("placebo", "pyridoxine", "thiotepa")
    }
    assert events == {"placebo": 87, "pyridoxine": 57, "thiotepa": 45}
    assert data.y.n_events.max() == 9


def test_patients_that_were_never_followed_are_left_out():
    assert not {1, 49} & set(load_bladder().y.ids.tolist())


@pytest.mark.parametrize("load", WITH_FEATURES)
def test_rows_of_features_stand_in_the_order_of_the_histories(load):
    data = load()
    assert_array_equal(data.X.index, data.y.ids)
    assert data.X.index.name == data.y.id_name == "patient"
    assert data.feature_names == tuple(data.X.columns)


@pytest.mark.parametrize("load", WITH_FEATURES)
def test_polars_holds_the_same_values(load):
    table = load(backend="polars").X
    assert isinstance(table, pl.DataFrame)
    expected = load(backend="pandas").X.reset_index(drop=True)
    assert_frame_equal(expected.__class__(table.to_dict(as_series=False)), expected)


def test_numbers_stay_numbers_and_text_stays_text():
    kinds = {name: kind.kind for name, kind in load_cgd().X.dtypes.items()}
    assert {name for name, kind in kinds.items() if kind in "if"} == {
        "age",
        "height",
        "weight",
        "steroids",
        "prophylaxis",
    }
    assert not load_cgd().X.isna().to_numpy().any()


@pytest.mark.parametrize("backend", ["pandas", "polars"])
def test_estimators_take_them_as_they_are(backend):
    data = load_cgd(backend=backend)
    check_ids_match(data.X, data.y)
    encoder = FeatureEncoder.learn(data.X, "from_dtype")
    assert encoder.is_categorical.tolist() == [1, 1, 0, 0, 0, 1, 0, 0, 1, 1]
    assert encoder.transform(data.X).shape == (128, 10)


def test_there_is_nothing_but_histories_of_the_engines():
    data = load_valve_seats()
    assert (data.X, data.Z, data.feature_names) == (None, None, ())
    assert data.y.id_name == "engine"


@pytest.mark.parametrize("load", LOADERS)
def test_sources_name_their_terms(load):
    data = load()
    assert isinstance(data, Dataset)
    assert data.description
    assert data.source.endswith("LGPL (>= 2)")


def test_a_data_set_cannot_be_changed():
    with pytest.raises(FrozenInstanceError):
        load_cgd().source = "elsewhere"


@pytest.mark.parametrize(
    ("load", "text"),
    [
        (load_valve_seats, "41 individuals, 48 events, follow-up 25363 days; no features"),
        (load_bladder, "116 individuals, 189 events, follow-up 3704 months; 3 features"),
    ],
)
def test_it_says_what_it_holds(load, text):
    assert repr(load()) == f"Dataset({text})"


def test_an_unknown_table_is_refused_by_name():
    with pytest.raises(InvalidParameterError, match="`backend` must be 'pandas' or"):
        load_cgd(backend="arrow")


def test_without_any_table_library_the_way_out_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    monkeypatch.setitem(sys.modules, "polars", None)
    with pytest.raises(MissingDependencyError, match="Hint: pip install"):
        load_cgd()
    assert len(load_valve_seats().y) == 41


def test_the_terms_lie_beside_the_files():
    folder = files("boostr.datasets").joinpath("data")
    names = {path.name for path in folder.iterdir()}
    text = folder.joinpath("README.md").read_text("utf-8")
    assert "LICENSE-LGPL-2.1.txt" in names
    assert all(name in text for name in names if name.endswith(".csv"))
