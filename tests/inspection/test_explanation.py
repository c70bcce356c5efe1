import numpy as np
import pytest
from numpy.testing import assert_allclose

from boostr.exceptions import InvalidParameterError
from boostr.inspection import Explanation
from boostr.inspection._explanation import write_sentence


def make_explanation(**changes):
    values = np.array([[1.4, 0.5, 0.1, -0.3], [0.0, 0.0, 0.0, 0.0]])
    facts = {
        "values": values,
        "base": np.array([1.1, 1.1]),
        "prediction": np.array([2.8, 1.1]),
        "above_zero": np.zeros(2),
        "own_history": None,
        "features": ("location", "age", "depth", "flow"),
        "sensors": (),
        "ids": np.array(["W1", "W2"]),
        "data": np.zeros((2, 4)),
        "categories": (["north", "south"], None, None, None),
        "times": np.array([90.0]),
    }
    return Explanation(**(facts | changes))


def make_two_times(**changes):
    one = make_explanation()
    facts = {
        "values": np.stack([one.values, 2.0 * one.values], axis=2),
        "base": np.stack([one.base, 2.0 * one.base], axis=1),
        "prediction": np.stack([one.prediction, 2.0 * one.prediction], axis=1),
        "above_zero": np.zeros((2, 2)),
        "times": np.array([90.0, 180.0]),
    }
    return make_explanation(**(facts | changes))


def test_a_sentence_names_the_largest_reasons_and_sums_up_the_rest():
    assert make_explanation().sentence(0, n_reasons=2) == (
        "2.8 expected against 1.1 on average: +1.4 location, +0.5 age, and -0.2 others"
    )


def test_a_sentence_ends_with_the_own_history():
    explanation = make_explanation(
        own_history=np.array([0.2, 0.0]), prediction=np.array([3.0, 1.1])
    )
    assert explanation.sentence(0, n_reasons=2) == (
        "3.0 expected against 1.1 on average: +1.4 location, +0.5 age, -0.2 others, "
        "+0.2 own history"
    )


def test_a_sentence_says_when_nothing_makes_a_difference():
    assert make_explanation().sentence(1) == (
        "1.1 expected against 1.1 on average: nothing makes a difference"
    )


def test_a_sentence_tells_what_was_bent():
    explanation = make_explanation(above_zero=np.array([0.0, 0.3]))
    assert explanation.sentence(1).endswith(": +0.3 kept above zero")


def test_amounts_that_round_to_zero_are_not_named():
    sentence = write_sentence(2.0, 1.0, [("age", 1.0), ("depth", 0.04)], [], 3)
    assert sentence == "2.0 expected against 1.0 on average: +1.0 age"


def test_small_amounts_that_add_up_are_others():
    sentence = write_sentence(2.0, 1.9, [("age", 0.04), ("depth", 0.04)], [], 3)
    assert sentence == "2.0 expected against 1.9 on average: +0.1 others"


@pytest.mark.parametrize(
    ("size", "start"),
    [
        (312.4, "312.4 expected"),
        (0.3, "0.30 expected"),
        (0.0123, "0.012 expected"),
        (0.0, "0.0 expected"),
    ],
)
def test_small_numbers_have_two_digits(size, start):
    assert write_sentence(size, 0.0, [], [], 3).startswith(start)


def test_reasons_of_the_same_name_are_kept_apart():
    explanation = make_explanation(
        features=("age", "age", "depth", "flow"), prediction=np.array([2.8, 1.1])
    )
    assert explanation.sentence(0, n_reasons=2).endswith(
        "+1.4 age, +0.5 age, and -0.2 others"
    )


def test_a_sentence_is_found_by_id_or_position():
    explanation = make_explanation()
    assert explanation.sentence("W1") == explanation.sentence(0) == explanation.sentence(-2)
    assert explanation.sentence("W2") == explanation.sentence(1)


def test_categories_that_are_not_learned_are_named_in_sentences():
    explanation = make_explanation(unlearned={(0, 0): "rare (EIRE)"})
    assert "+1.4 location = rare (EIRE), +0.5 age" in explanation.sentence("W1")
    assert "rare" not in explanation.sentence("W2")


def test_ids_come_before_positions():
    explanation = make_explanation(ids=np.array([1, 0]))
    assert [explanation.position(one) for one in (1, 0, -1)] == [0, 1, 1]


def test_an_unknown_number_among_numbers_is_no_position():
    explanation = make_explanation(ids=np.array([20, 10]))
    assert explanation.sentence(10) == make_explanation().sentence("W2")
    with pytest.raises(InvalidParameterError, match=r"an id among 2 .*\b0\b") as caught:
        explanation.sentence(0)
    assert "Hint: the ids are 20, 10" in str(caught.value)


def test_notebooks_show_the_largest_reasons_of_the_first_individuals():
    html = make_explanation()._repr_html_()
    assert ">W1</td>" in html
    assert "+1.4 location, +0.5 age, -0.3 flow, and +0.1 others" in html
    assert "nothing makes a difference" in html
    assert "All individuals." in html


def test_notebooks_show_the_last_of_several_times():
    html = make_two_times()._repr_html_()
    assert "by time 180" in html
    assert "+2.8 location" in html


@pytest.mark.parametrize("place", [2, -3, 1.0, "W3"])
def test_a_sentence_is_about_one_of_the_individuals(place):
    with pytest.raises(InvalidParameterError, match="position among 2 individuals"):
        make_explanation().sentence(place)


def test_a_sentence_is_about_one_time():
    with pytest.raises(InvalidParameterError, match=r"explanation\.at\(0\)"):
        make_two_times().sentence(0)


def test_one_of_several_times_is_taken():
    later = make_two_times(own_history=np.ones((2, 2))).at(1)
    assert_allclose(later.values, 2.0 * make_explanation().values)
    assert later.times.tolist() == [180.0]
    assert_allclose(later.own_history, [1.0, 1.0])


@pytest.mark.parametrize("place", [2, -3, "last"])
def test_times_that_are_not_there_are_refused(place):
    with pytest.raises(InvalidParameterError, match="position among 2 times"):
        make_two_times().at(place)


def test_one_time_leaves_no_choice():
    with pytest.raises(InvalidParameterError, match="one only"):
        make_explanation().at(0)


def test_sizes_are_means_of_absolute_amounts():
    explanation = make_explanation(own_history=np.array([1.0, -2.0]))
    assert_allclose(explanation.mean_sizes(), [0.7, 0.25, 0.05, 0.15, 1.5])


def test_a_table_has_a_column_for_every_reason():
    table = make_explanation(own_history=np.zeros(2)).to_frame()
    names = ["id", "time", "prediction", "base", "location", "age", "depth", "flow"]
    assert list(table.columns) == [*names, "own history"]
    assert table["location"].tolist() == [1.4, 0.0]


def test_a_table_of_several_times_has_a_row_for_each():
    table = make_two_times().to_frame()
    assert table["id"].tolist() == ["W1", "W1", "W2", "W2"]
    assert table["time"].tolist() == [90.0, 180.0, 90.0, 180.0]
    assert_allclose(table["location"], [1.4, 2.8, 0.0, 0.0])
    assert_allclose(table["prediction"], [2.8, 5.6, 1.1, 2.2])


def test_a_table_of_windows_tells_them():
    explanation = make_explanation(
        times=None, start=np.array([1.0, 2.0]), stop=np.array([5.0, 6.0])
    )
    assert explanation.to_frame()["stop"].tolist() == [5.0, 6.0]


def test_features_may_be_called_like_other_columns():
    explanation = make_explanation(
        features=("time", "base", "age", "flow"),
        sensors=(),
        above_zero=np.array([0.0, 1.0]),
    )
    columns = list(explanation.to_frame().columns)
    assert columns[4:] == [
        "time (reason)",
        "base (reason)",
        "age",
        "flow",
        "kept above zero",
    ]


def test_tables_of_polars_are_made_on_request():
    polars = pytest.importorskip("polars")
    assert isinstance(make_explanation().to_frame(backend="polars"), polars.DataFrame)


def test_an_explanation_is_as_long_as_there_are_individuals():
    assert len(make_explanation()) == 2


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, "Explanation(2 individuals, 4 features, 1 time)"),
        (
            {"features": ("location",), "sensors": ("a", "b", "c"), "times": None},
            "Explanation(2 individuals, 1 feature, 3 sensors)",
        ),
    ],
)
def test_a_console_shows_counts(changes, expected):
    assert repr(make_explanation(**changes)) == expected
