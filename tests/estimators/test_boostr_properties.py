"""Whatever the histories and features, a fit gives curves that a count can have."""

import hypothesis.strategies as st
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings

from boostr import BoostR, RecurrentEvents

FEATURES = st.sampled_from([np.nan, -1.0, 0.0, 0.5, 0.5000001, 7.0, 1e300])


@st.composite
def histories(draw):
    """Rows (start, stop] of one or a few individuals: late entry, gaps, ties, no events."""
    rows = []
    for number in range(draw(st.integers(1, 12))):
        time = draw(st.sampled_from([0.0, 0.0, 0.25, 3.0]))
        for _ in range(draw(st.integers(1, 4))):
            length = draw(st.sampled_from([0.001, 0.5, 1.0, 10.0]))
            event = draw(st.booleans())
            cost = draw(st.sampled_from([0.0, 0.5, 1.0, 100.0])) if event else 0.0
            rows.append((number, time, time + length, event, cost))
            time += length + draw(st.sampled_from([0.0, 0.0, 2.0]))
    table = pd.DataFrame(rows, columns=["id", "start", "stop", "event", "cost"])
    return RecurrentEvents.from_start_stop(
        table, id="id", start="start", stop="stop", event="event", cost="cost"
    )


@st.composite
def tables(draw, n):
    """Features with missing values, ties, constant and all-missing columns."""
    columns = draw(st.lists(st.sampled_from(["any", "constant", "missing"]), min_size=1))
    fill = {"constant": 3.0, "missing": np.nan}
    return np.column_stack(
        [
            np.array(draw(st.lists(FEATURES, min_size=n, max_size=n)))
            if kind == "any"
            else np.full(n, fill[kind])
            for kind in columns[:4]
        ]
    )


@pytest.mark.filterwarnings("ignore::boostr.exceptions.DataWarning")
@pytest.mark.slow
@given(
    st.data(),
    histories(),
    st.sampled_from(["power", "step", "spline"]),
    st.sampled_from(["intensity", "cumulative"]),
    st.sampled_from(["operational", "calendar"]),
    st.sampled_from([None, 0.3, "cv"]),
)
@settings(max_examples=150)
def test_curves_rise_from_zero_and_stay_finite(data, y, leaf, loss, clock, validation):
    X = data.draw(tables(len(y)))
    model = BoostR(
        n_estimators=4,
        min_samples_leaf=1,
        leaf=leaf,
        loss=loss,
        clock=clock,
        validation=validation,
        n_folds=2,
        random_state=0,
    ).fit(X, y)
    times = np.linspace(0.0, 10 * model.horizon_, 50)
    curves = model.predict_cumulative(X, times)
    assert np.all(np.isfinite(curves))
    assert np.all(curves[:, 0] == 0.0)
    assert np.all(np.diff(curves, axis=1) >= -1e-9 * (1.0 + curves[:, 1:]))
    assert np.all(model.predict_intensity(X, times) >= 0.0)
    assert np.isfinite(model.score(X, y))
