import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest
from numpy.testing import assert_allclose

from boostr.data import RecurrentEvents, Trajectories
from boostr.inspection import IndividualConvergence
from boostr.plotting import plot_individual

pytestmark = pytest.mark.plot


def make_result(**changes):
    history = RecurrentEvents.from_lists([[2.0, 5.0]], end=[8.0])
    facts = {
        "n_trees": np.array([1, 2, 10]),
        "times": np.array([0.0, 4.0, 8.0]),
        "curves": np.array([[0.0, 0.2, 0.4], [0.0, 0.5, 1.0], [0.0, 1.0, 2.0]]),
        "history": history._with(time_unit="D"),
        "sensors": None,
        "has_id": False,
        "position": 3,
        "time_unit": "D",
    }
    return IndividualConvergence(**(facts | changes))


def make_sensors():
    import pandas as pd

    samples = {"pump": ["a"] * 3, "day": [0.0, 2.0, 6.0], "load": [0.1, 0.7, 0.3]}
    samples["mode"] = ["idle", "run", "idle"]
    return Trajectories.from_long(pd.DataFrame(samples), "pump", "day", unit="D")


def test_observed_steps_and_all_stages_are_drawn():
    ax = plot_individual(make_result())
    observed, *stages = ax.lines
    assert_allclose(observed.get_xdata(), [0.0, 2.0, 5.0, 8.0])
    assert_allclose(observed.get_ydata(), [0.0, 1.0, 2.0, 2.0])
    assert_allclose([line.get_ydata() for line in stages], make_result().curves)
    assert ax.get_xlabel() == "Time (days)"
    assert ax.get_title(loc="left") == "Individual 3"


def test_curves_darken_and_the_last_stands_out():
    ax = plot_individual(make_result())
    first, second, last = ax.lines[1:]
    brightness = [np.mean(mpl.colors.to_rgb(line.get_color())) for line in (first, second)]
    assert brightness[0] > brightness[1]
    assert last.get_linewidth() > second.get_linewidth()
    names = [text.get_text() for text in ax.get_legend().get_texts()]
    assert names == ["observed", "1 tree", "2 trees", "10 trees"]


def test_sensors_stand_below_on_the_same_time():
    ax = plot_individual(make_result(sensors=make_sensors()))
    curves, load, mode = ax.child_axes
    assert [panel.get_title(loc="left") for panel in (load, mode)] == ["load", "mode"]
    assert curves.get_xlim() == load.get_xlim() == (0.0, 8.0)
    assert [text.get_text() for text in mode.get_yticklabels()] == ["idle", "run"]
    assert mode.get_xlabel() == "Time (days)"
    assert not curves.get_xlabel()


@pytest.mark.parametrize(("wanted", "n_panels"), [("load", 2), (["mode"], 2), ([], 0)])
def test_sensors_can_be_chosen(wanted, n_panels):
    ax = plot_individual(make_result(sensors=make_sensors()), sensors=wanted)
    assert len(ax.child_axes) == n_panels


def test_times_without_observation_are_shaded():
    history = RecurrentEvents.from_lists([[3.0]], end=[6.0], start=[2.0], ids=["W7"])
    ax = plot_individual(make_result(history=history, has_id=True))
    spans = [(p.get_x(), p.get_x() + p.get_width()) for p in ax.patches]
    assert spans == [(0.0, 2.0), (6.0, 8.0)]
    assert ax.get_title(loc="left") == "Individual W7"


def test_options_reach_the_curves():
    own = plt.subplots()[1]
    ax = plot_individual(make_result(), ax=own, line_kwargs={"linestyle": "--"})
    assert ax is own
    assert {line.get_linestyle() for line in ax.lines[1:]} == {"--"}
