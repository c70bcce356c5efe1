import numpy as np
import pytest
from tests.report.scenes import HOSTILE, fitted, fitted_plain, pumps

from boostr import RecurrentEvents
from boostr.report._fleet import FleetData, find_warnings


def warnings_of(model, X, y, Z=None, horizon=20.0):
    return " ".join(find_warnings(model, FleetData.read(model, X, y, Z), horizon))


def test_few_events_and_short_follow_up():
    X = pumps().X
    y = RecurrentEvents.from_lists(
        [[1.0], *[[]] * (len(X) - 1)], end=np.full(len(X), 2.0), ids=pumps().ids
    )._with(time_unit="D", origin=pumps().y.origin)
    found = warnings_of(fitted_plain(), X, y)
    assert "There is only 1 event:" in found
    assert "observed for less than 2 days" in found
    assert "beyond" not in found


def test_forecasts_beyond_training_are_counted():
    X, y, _ = pumps().data
    n_late = int(np.sum(y.end + 20.0 > y.end.max()))
    assert f"forecasts of {n_late} of {len(y)} individuals" in warnings_of(
        fitted_plain(), X, y
    )


def test_missing_values_and_unseen_categories_are_told_apart():
    X, y, _ = pumps().data
    other = X.copy()
    other.loc[other.index[:6], "site"] = "elsewhere"
    other.loc[other.index[6:20], "site"] = None
    other.loc[other.index[20], "site"] = "nowhere"
    found = warnings_of(fitted_plain(), other, y)
    assert "site unknown (elsewhere) for 6 individuals" in found
    assert "site unknown (nowhere) for 1 individual." in found
    assert f"site ({14 / len(y):.0%})" in found
    assert f"{HOSTILE} (15%)" in found


def test_sensors_out_of_range_unknown_and_old():
    X, y, Z = pumps().data
    values = Z.values.copy()
    load = Z.names.index("load")
    values[load, :30] = 7.0
    values[load, 30:90] = np.nan
    with pytest.warns(match="outside of what training"):
        found = warnings_of(fitted(), X, y, Z._with(values=values), horizon=5.0)
    assert "load (0 samples below, 30 above" in found
    assert "load (25%)" in found
    n_old = int(np.sum(y.end - 5.0 > 45.0))
    assert f"Sensors of {n_old} of {len(y)} individuals end more than 5 days" in found


def test_sound_data_give_no_warning():
    X, y, Z = pumps().data
    early = RecurrentEvents.from_flat(
        y.times[y.times < 39.0],
        np.concatenate(
            [[0], np.cumsum(np.bincount(y.event_owner[y.times < 39.0], minlength=60))]
        ),
        end=39.0,
        ids=y.ids,
    )._with(time_unit="D", origin=y.origin)
    X = X.assign(**{HOSTILE: X[HOSTILE].fillna(3.0)})
    assert warnings_of(fitted(), X, early, Z, horizon=20.0) == ""
