import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pytest
from numpy.testing import assert_allclose
from tests.plotting.results import make_importance

from boostr.exceptions import InvalidParameterError
from boostr.plotting import plot_sensor_importance

pytestmark = pytest.mark.plot


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


def names(ax):
    return [text.get_text() for text in ax.get_yticklabels()]


def test_bars_are_sorted_with_the_largest_on_top():
    ax = plot_sensor_importance(make_importance())
    assert [bar.get_width() for bar in ax.patches] == [0.5, 0.2, 0.0]
    assert names(ax) == ["torque", "load", "noise"]
    assert ax.yaxis_inverted()


@pytest.mark.parametrize(
    ("measure", "label", "first"),
    [
        ("norm", "Spread of the rate added (events per hour)", "torque"),
        (
            "loss",
            "Rise of held-out loss without it, per individual ± standard error",
            "torque",
        ),
        ("zero_share", "Share of leaves without effect", "noise"),
        ("feature", "Share of the gain of all splits", "depth"),
    ],
)
def test_every_measure_has_its_label(measure, label, first):
    ax = plot_sensor_importance(make_importance(), measure=measure)
    assert ax.get_xlabel() == label
    assert names(ax)[0] == first


def test_losses_have_their_standard_errors():
    ax = plot_sensor_importance(make_importance(), measure="loss")
    (bars,) = [each for each in ax.containers if hasattr(each, "errorbar")]
    segments = bars.errorbar.lines[2][0].get_segments()
    assert_allclose(segments[0][:, 0], [0.06, 0.10])


def test_scores_have_no_standard_errors():
    importance = make_importance(errors=np.full(3, np.nan), measure="log-likelihood")
    ax = plot_sensor_importance(importance, measure="loss")
    assert ax.get_xlabel() == "Drop of log-likelihood without it, per individual"
    assert ax.containers[0].errorbar is None


def test_only_the_largest_are_drawn():
    ax = plot_sensor_importance(make_importance(), n_most=2)
    assert names(ax) == ["torque", "load"]


def test_axes_and_options_are_used():
    ax = plt.subplots()[1]
    drawn = plot_sensor_importance(make_importance(), ax=ax, bar_kwargs={"color": "black"})
    assert drawn is ax
    assert_allclose(ax.patches[0].get_facecolor(), (0.0, 0.0, 0.0, 1.0))


def test_unknown_measures_are_refused():
    with pytest.raises(InvalidParameterError, match="'gain'"):
        plot_sensor_importance(make_importance(), measure="gain")


def test_losses_must_be_known():
    importance = make_importance(losses=np.full(3, np.nan), measure=None)
    with pytest.raises(InvalidParameterError, match=r"sensor_importance\(model, X, y, Z\)"):
        plot_sensor_importance(importance, measure="loss")
