import matplotlib.pyplot as plt
import numpy as np
import pytest
from numpy.testing import assert_allclose
from tests.plotting.results import make_importance

from boostr.exceptions import InvalidParameterError
from boostr.inspection import FeatureImportance, PermutationImportance
from boostr.plotting import (
    plot_importance,
    plot_permutation_importance,
    plot_sensor_importance,
)

pytestmark = pytest.mark.plot


def names_on(ax):
    return [text.get_text() for text in ax.get_yticklabels()]


def test_bars_are_sorted_with_the_largest_on_top():
    ax = plot_sensor_importance(make_importance())
    assert [bar.get_width() for bar in ax.patches] == [0.5, 0.2, 0.0]
    assert names_on(ax) == ["torque", "load", "noise"]
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
    assert names_on(ax)[0] == first


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
    assert names_on(ax) == ["torque", "load"]


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


def make_features():
    shares = np.array([0.2, 0.7, 0.1])
    return FeatureImportance(("age", "depth", "site"), shares, 10 * shares, 1 + shares)


def names_of(labels):
    return [text.get_text() for text in labels]


def test_the_most_important_feature_is_on_top():
    ax = plot_importance(make_features(), n_most=2)
    assert names_of(ax.get_yticklabels()) == ["depth", "age"]
    assert_allclose([bar.get_width() for bar in ax.patches], [0.7, 0.2])
    assert ax.yaxis_inverted()


@pytest.mark.parametrize(
    ("measure", "label", "largest"),
    [
        ("importance", "Share of the gain of all splits", 0.7),
        ("gain", "Gain of all splits", 7.0),
        ("n_splits", "Number of splits", 1.7),
    ],
)
def test_bars_show_the_measure_of_features(measure, label, largest):
    ax = plot_importance(make_features(), measure=measure)
    assert ax.get_xlabel() == label
    assert_allclose(ax.patches[0].get_width(), largest)


def test_unknown_measures_of_features_are_refused():
    with pytest.raises(InvalidParameterError, match="`measure`"):
        plot_importance(make_features(), measure="weight")


def make_rises(importances):
    errors = np.array([0.1, 0.1, 0.02])
    repeats = np.array(importances)[:, None]
    return PermutationImportance(
        ("age", "depth", "site"), repeats[:, 0], errors, repeats, -1.0
    )


def test_rises_have_bars_with_errors_the_largest_on_top():
    ax = plot_permutation_importance(make_rises([0.5, 0.8, -0.01]), n_most=2)
    assert names_of(ax.get_yticklabels()) == ["depth", "age"]
    assert_allclose([bar.get_width() for bar in ax.patches], [0.8, 0.5])
    (segments,) = [each.get_segments() for each in ax.collections]
    assert_allclose([segment[:, 0] for segment in segments], [[0.7, 0.9], [0.4, 0.6]])
    assert ax.get_xlabel() == "Rise of the loss if shuffled ± standard error"


@pytest.mark.parametrize(("least", "n_lines"), [(-0.01, 1), (0.3, 0)])
def test_zero_is_marked_where_it_matters(least, n_lines):
    ax = plot_permutation_importance(make_rises([0.5, 0.8, least]))
    at_zero = [line for line in ax.lines if np.array_equal(line.get_xdata(), [0.0, 0.0])]
    assert len(at_zero) == n_lines
