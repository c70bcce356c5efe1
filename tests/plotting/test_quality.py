import matplotlib.pyplot as plt
import numpy as np
import pytest
from numpy.testing import assert_allclose

from boostr.data import RecurrentEvents
from boostr.exceptions import InvalidParameterError
from boostr.metrics import calibration_table, capture_curve
from boostr.nonparametric import mcf_by_group
from boostr.plotting import (
    plot_calibration,
    plot_capture,
    plot_comparison,
    plot_mcf_groups,
    plot_validation,
)

pytestmark = pytest.mark.plot


@pytest.fixture
def y():
    events = [[], [1.0], [2.0, 3.0], [1.0, 2.0, 3.0]]
    return RecurrentEvents.from_lists(events, end=4.0)._with(time_unit="D")


def legend_of(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def make_run(label, weight, curve, n_trees):
    losses = np.array(curve)
    loss = float(losses.min())
    facts = {"label": label, "curve": losses, "n_trees": n_trees}
    return facts | {"loss": loss, "weight": weight}


def test_kept_numbers_of_trees_are_marked():
    runs = [
        make_run("2 leaves", 0.0, [3.0, 2.5, 2.6], 2),
        make_run("4 leaves", 0.3, [3.0, 2.2], 2),
        make_run("8 leaves", 0.7, [3.0, 2.0, 2.1], 2),
    ]
    ax = plot_validation(runs)
    assert legend_of(ax) == [
        "8 leaves: weight 70%",
        "4 leaves: weight 30%",
        "weight 0% (1 more)",
    ]
    dots = [line for line in ax.lines if line.get_marker() == "o"]
    places = [(float(dot.get_xdata()[0]), float(dot.get_ydata()[0])) for dot in dots]
    assert places == [(2.0, 2.5), (2.0, 2.0), (2.0, 2.2)]
    assert ax.get_xlabel() == "Number of trees (dot: kept)"


def test_models_without_validation_are_refused():
    with pytest.raises(InvalidParameterError, match="validation"):
        plot_validation([])


def test_calibration_compares_rates(y):
    table = calibration_table(y, [0.4, 0.6, 1.5, 2.5], n_groups=2)
    ax = plot_calibration(table, label="model")
    points = ax.lines[0]
    assert_allclose(points.get_xdata(), [1.0 / 8.0, 4.0 / 8.0])
    assert_allclose(points.get_ydata(), [1.0 / 8.0, 5.0 / 8.0])
    (bars,) = (part for part in ax.collections if len(part.get_segments()) == 2)
    heights = [np.ptp(segment[:, 1]) for segment in bars.get_segments()]
    upper = 1.959964 * table.error * table.expected / table.follow_up
    assert_allclose(heights[1], 2.0 * upper[1], rtol=1e-6)
    assert bars.get_segments()[0][0, 1] >= 0.0
    assert ax.get_xlim() == ax.get_ylim()
    assert ax.get_xlabel() == "Expected rate\n(events per day)"
    assert legend_of(ax) == ["model"]


def test_confidence_must_be_a_share(y):
    table = calibration_table(y, [0.4, 0.6, 1.5, 2.5], n_groups=2)
    with pytest.raises(InvalidParameterError, match="`confidence`"):
        plot_calibration(table, confidence=95)


def test_capture_stands_between_chance_and_the_best(y):
    curve = capture_curve(y, [0.0, 2.0, 1.0, 3.0])
    ax = plot_capture(curve, label="Boost-R")
    model, best, chance = ax.lines
    assert_allclose(model.get_ydata(), curve.captured)
    assert_allclose(best.get_ydata(), curve.ideal_captured)
    assert_allclose(chance.get_ydata(), [0.0, 1.0])
    assert legend_of(ax)[0] == f"Boost-R (area {curve.area:.2f})"
    assert ax.get_xlabel() == "Share of individuals, highest predictions first"


def test_a_second_capture_curve_has_its_own_colour(y):
    ax = plot_capture(capture_curve(y, [0.0, 2.0, 1.0, 3.0], per="follow_up"))
    other = capture_curve(y, [3.0, 2.0, 1.0, 0.0], per="follow_up")
    assert plot_capture(other, ax=ax, show_ideal=False) is ax
    assert ax.lines[0].get_color() != ax.lines[3].get_color()
    assert ax.get_xlabel() == "Share of follow-up, highest predictions first"


def test_learners_have_boxes_in_their_order():
    scores = {"forest": [1.0, 2.0, 3.0], "Boost-R": [4.0, np.nan, 6.0]}
    ax = plot_comparison(scores, label="Concordance")
    assert [text.get_text() for text in ax.get_xticklabels()] == ["forest", "Boost-R"]
    assert len(ax.patches) == 2
    assert_allclose(ax.collections[1].get_offsets()[:, 1], [4.0, 6.0])
    assert ax.get_ylabel() == "Concordance"


def test_boxes_lie_below_each_other_on_request():
    scores = {"forest": [1.0, 2.0, 3.0], "Boost-R": [4.0, np.nan, 6.0]}
    ax = plot_comparison(scores, label="Concordance", horizontal=True)
    assert [text.get_text() for text in ax.get_yticklabels()] == ["forest", "Boost-R"]
    assert_allclose(ax.collections[1].get_offsets()[:, 0], [4.0, 6.0])
    assert ax.get_xlabel() == "Concordance"
    assert ax.yaxis_inverted()


def test_many_scores_are_not_drawn_one_by_one(rng):
    ax = plot_comparison({"a": rng.normal(size=99), "b": [0.0]})
    assert not ax.collections


@pytest.mark.parametrize("scores", [{}, {"a": []}, {"a": [1.0], "b": [np.nan]}])
def test_learners_without_scores_are_refused(scores):
    with pytest.raises(InvalidParameterError, match="finite scores"):
        plot_comparison(scores)


def test_groups_have_curves_with_bands(y):
    ax = plot_mcf_groups(mcf_by_group(y, ["new", "new", "old", "old"]))
    assert legend_of(ax) == ["new (n = 2)", "old (n = 2)"]
    assert len(ax.collections) == 2
    new, old = ax.lines
    assert new.get_color() != old.get_color()
    assert new.get_linestyle() != old.get_linestyle()
    assert_allclose([line.get_ydata()[-1] for line in ax.lines], [0.5, 2.5])
    assert ax.get_xlabel() == "Time (days)"
    assert ax.get_legend().get_title().get_text() == "bands: 95% confidence"


def test_bands_can_be_left_out(y):
    own = plt.subplots()[1]
    ax = plot_mcf_groups(mcf_by_group(y, [0, 0, 1, 1]), show_band=False, ax=own)
    assert ax is own
    assert not ax.collections


def test_no_groups_at_all_are_refused():
    with pytest.raises(InvalidParameterError, match="mcf_by_group"):
        plot_mcf_groups({})


def test_two_tables_fit_into_the_same_axes(y):
    low, high = ([0.4, 0.6, 1.5, 2.5], [1.0, 2.0, 6.0, 8.0])
    ax = plot_calibration(calibration_table(y, low, n_groups=2), label="low")
    limits = ax.get_xlim()
    plot_calibration(calibration_table(y, high, n_groups=2), label="high", ax=ax)
    assert legend_of(ax) == ["low", "high"]
    assert ax.get_xlim()[1] > limits[1]
    assert ax.containers[0].lines[0].get_color() != ax.containers[1].lines[0].get_color()


def test_the_legend_of_losses_does_not_lie_on_curves():
    losses = np.linspace(3.0, 2.8, 50)
    runs = [make_run(f"{k} leaves", 0.2, losses + 0.01 * k, 50) for k in range(5)]
    ax = plot_validation(runs)
    ax.figure.canvas.draw()
    legend = ax.get_legend().get_window_extent()
    for line in ax.lines:
        points = ax.transData.transform(line.get_xydata())
        assert not any(legend.contains(*point) for point in points)
