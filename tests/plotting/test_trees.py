import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest
from numpy.testing import assert_allclose

from boostr import BoostR
from boostr.exceptions import InvalidParameterError
from boostr.inspection import LeafCounts, leaf_counts, tree_partition
from boostr.plotting import plot_leaf_counts, plot_partition
from boostr.plotting.style import spread_apart
from boostr.simulate import dataset_a

pytestmark = pytest.mark.plot


@pytest.fixture(scope="module")
def data():
    return dataset_a(n=150, random_state=1)


@pytest.fixture(scope="module")
def model(data):
    params = {"n_estimators": 10, "validation": 0.2, "random_state": 0}
    return BoostR(**params).fit(data.X, data.y)


@pytest.fixture(scope="module")
def wide(data):
    features = np.column_stack([data.X, data.X[:, 0] - data.X[:, 1]])
    params = {"n_estimators": 2, "validation": None, "max_leaf_nodes": 5}
    return BoostR(min_samples_leaf=10, **params).fit(features, data.y)


def words(ax):
    return [text.get_text() for text in ax.texts]


def test_rectangles_tile_the_plane(model):
    part = tree_partition(model, 0, 3)
    map_panel, curve_panel = plot_partition(part).child_axes
    area = sum(patch.get_width() * patch.get_height() for patch in map_panel.patches)
    width, height = np.ptp(map_panel.get_xlim()), np.ptp(map_panel.get_ylim())
    assert len(map_panel.patches) == part.n_leaves
    assert_allclose(area, width * height)
    assert (map_panel.get_xlabel(), map_panel.get_ylabel()) == ("x0", "x1")
    assert curve_panel.get_xlabel() == "Time"


def test_rectangles_and_curves_have_the_same_colours(model):
    part = tree_partition(model, 0, 3)
    map_panel, curve_panel = plot_partition(part).child_axes
    lines = curve_panel.lines[1:]  # after the one at zero
    for patch, line, curve in zip(map_panel.patches, lines, part.curves, strict=True):
        assert_allclose(patch.get_facecolor(), mpl.colors.to_rgba(line.get_color()))
        assert_allclose(line.get_ydata(), curve)


def test_leaves_are_numbered_from_low_to_high(model):
    part = tree_partition(model, 0, 3)
    labels = plot_partition(part).child_axes[1].texts
    ends = {int(text.get_text()): text.xy[1] for text in labels}
    assert [ends[number] for number in sorted(ends)] == sorted(ends.values())


def test_rectangles_can_stand_alone(model):
    ax = plt.subplots()[1]
    part = tree_partition(model, 0, 3)
    assert plot_partition(part, show_curves=False, ax=ax) is ax
    assert len(ax.patches) == part.n_leaves


def test_more_features_are_drawn_as_boxes(wide):
    part = tree_partition(wide, 0, 1)
    ax = plot_partition(part)
    shown = words(ax)
    assert len(ax.lines) == len(part.feature) - 1
    assert shown.count("yes") == shown.count("no") == part.n_leaves - 1
    leaf = part.leaves[0]
    assert f"{part.expected[leaf]:+.3g}\nn = {part.count[leaf]:g}" in shown
    assert ax.get_title().startswith("Events added by time 100")


def boxes_of(ax):
    ax.figure.canvas.draw()
    return [
        text.get_bbox_patch().get_window_extent()
        for text in ax.texts
        if text.get_text() not in {"yes", "no"}
    ]


@pytest.mark.parametrize("has_axes", [False, True])
def test_boxes_do_not_overlap(wide, has_axes):
    ax = plt.subplots(figsize=(5.0, 4.0))[1] if has_axes else None
    boxes = boxes_of(plot_partition(tree_partition(wide, 0, 1), ax=ax))
    for place, box in enumerate(boxes):
        assert not any(box.overlaps(other) for other in boxes[:place])


def test_categories_are_named_in_boxes(data):
    import pandas as pd

    site = np.where(data.X[:, 0] > 0.5, "north", "south")
    table = pd.DataFrame({"site": site, "x1": data.X[:, 1]})
    params = {"n_estimators": 2, "validation": None, "max_leaf_nodes": 4}
    part = tree_partition(BoostR(**params).fit(table, data.y), 0, 1)
    asked = [text for text in words(plot_partition(part)) if text.startswith("site in")]
    assert asked
    assert all("north" in text or "south" in text for text in asked)
    with pytest.raises(InvalidParameterError, match="numbers"):
        plot_partition(part, kind="map")


def test_unknown_kinds_are_refused(model):
    with pytest.raises(InvalidParameterError, match="`kind`"):
        plot_partition(tree_partition(model), kind="pie")


def test_labels_are_spread_as_little_as_can_be():
    assert_allclose(spread_apart(np.array([0.0, 5.0, 1.0]), 2.0), [-0.5, 5.0, 1.5])
    assert_allclose(spread_apart(np.array([3.0, 1.0]), 1.0), [3.0, 1.0])


def test_one_model_has_a_bar_per_tree(wide):
    counts = leaf_counts(wide)
    ax = plot_leaf_counts(counts)
    assert_allclose([bar.get_height() for bar in ax.patches], counts.counts[0])
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("Tree", "Number of leaves")


def test_several_models_have_a_mean_and_a_band():
    counts = (np.array([1, 4]), np.array([1, 2, 8]))
    result = LeafCounts(counts, np.array([0.75, 0.25]))
    ax = plot_leaf_counts(result)
    assert_allclose(ax.lines[0].get_ydata(), [1.0, 3.5, 8.0])
    assert len(ax.collections) == 1
    assert len(plot_leaf_counts(result, member=1).patches) == 3
    with pytest.raises(InvalidParameterError, match="`member`"):
        plot_leaf_counts(result, member=2)


def test_no_trees_leave_the_axes_empty():
    ax = plot_leaf_counts(LeafCounts((), np.empty(0)))
    assert not ax.patches


@pytest.mark.parametrize("width", [4.0, 12.0])
def test_panels_leave_room_for_labels_in_any_axes(model, width):
    own = plt.subplots(figsize=(width, 4.0))[1]
    ax = plot_partition(tree_partition(model, 0, 3), ax=own)
    ax.figure.canvas.draw()
    left, right = (panel.get_tightbbox() for panel in ax.child_axes)
    assert not left.overlaps(right)
