import numpy as np
import pytest
from numpy.testing import assert_array_equal

from boostr.data import RecurrentEvents
from boostr.datasets import load_cgd
from boostr.exceptions import (
    InvalidParameterError,
    TargetTypeError,
)
from boostr.nonparametric import (
    MeanCumulativeFunction,
    compare_mcf,
    mcf_by_group,
    mcf_difference,
)


@pytest.fixture(scope="module")
def infections():
    data = load_cgd()
    return data.y, data.X["treatment"]


@pytest.mark.parametrize("function", [compare_mcf, mcf_by_group, mcf_difference])
class TestRefusals:
    def test_a_target_of_another_type(self, function):
        with pytest.raises(TargetTypeError, match="but it is a list"):
            function([[1.0], [2.0]], ["a", "b"])

    def test_labels_that_are_not_one_per_individual(self, function, infections):
        with pytest.raises(InvalidParameterError, match=r"\(3,\) for 128 individuals"):
            function(infections[0], ["a", "b", "c"])

    def test_missing_labels(self, function):
        y = RecurrentEvents.from_lists([[1.0]] * 4, end=2.0)
        with pytest.raises(InvalidParameterError, match=r"1 of 4 labels .* \(rows 2\)"):
            function(y, ["a", "a", None, "b"])

    def test_labels_of_two_types(self, function):
        y = RecurrentEvents.from_lists([[1.0]] * 4, end=2.0)
        with pytest.raises(InvalidParameterError, match="labels of one type"):
            function(y, np.array(["a", "a", 1, 1], dtype=object))

    def test_a_single_group(self, function):
        y = RecurrentEvents.from_lists([[1.0]] * 4, end=2.0)
        with pytest.raises(InvalidParameterError, match="all individuals are in 'a'"):
            function(y, ["a"] * 4)

    def test_groups_of_one(self, function):
        y = RecurrentEvents.from_lists([[1.0]] * 4, end=2.0)
        with pytest.raises(InvalidParameterError, match=r"1 of 2 groups have one \(b\)"):
            function(y, ["a", "a", "a", "b"])

    def test_other_histories_are_no_labels(self, function, infections):
        y, _ = infections
        with pytest.raises(InvalidParameterError, match=r"concatenate\(\[y1, y2\]\)"):
            function(y, y)

    def test_labels_in_another_order_than_the_histories(self, function, infections):
        y, treatment = infections
        with pytest.raises(InvalidParameterError, match=r"`group`(.|\n)*same order"):
            function(y, treatment.iloc[::-1])


def test_estimates_are_those_of_the_groups_alone(infections):
    y, treatment = infections
    estimates = mcf_by_group(y, treatment, confidence=0.9)
    assert list(estimates) == ["placebo", "rIFN-g"]
    alone = MeanCumulativeFunction(confidence=0.9).fit(
        y[(treatment == "rIFN-g").to_numpy()]
    )
    assert estimates["rIFN-g"].n_individuals_ == 63
    assert_array_equal(estimates["rIFN-g"].upper_, alone.upper_)
