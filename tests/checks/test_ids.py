import numpy as np
import pytest

from boostr._checks.ids import as_ids, check_ids, check_offsets, check_unique
from boostr.exceptions import InvalidSensorsError


def test_numbers_next_to_texts_stay_numbers():
    assert as_ids(["a", 1], InvalidSensorsError).tolist() == ["a", 1]


def test_without_ids_individuals_are_numbered():
    assert check_ids(None, 3, InvalidSensorsError).tolist() == [0, 1, 2]


def test_ids_are_a_copy():
    given = np.array([3, 4])
    assert not np.shares_memory(check_ids(given, 2, InvalidSensorsError), given)


@pytest.mark.parametrize(
    ("ids", "message"),
    [
        ([["a"]], "one dimension"),
        ([None, "a"], r"1 of 2 have none \(positions 0\)"),
        (["a"], "it has 1 for 2 individuals"),
        (["a", "a"], r"1 ids are repeated \(a\)"),
    ],
)
def test_ids_that_cannot_be_are_refused(ids, message):
    with pytest.raises(InvalidSensorsError, match=message):
        check_ids(ids, 2, InvalidSensorsError)


def test_the_hint_on_repeated_ids_is_the_callers():
    with pytest.raises(InvalidSensorsError, match="Hint: sort them"):
        check_unique(np.array([1, 1]), InvalidSensorsError, "sort them.")


@pytest.mark.parametrize("offsets", [[0, 1], [1, 2], [0, 3, 2], [0.0, 2.0], [], 2])
def test_offsets_rise_from_zero_to_the_number_of_entries(offsets):
    with pytest.raises(InvalidSensorsError, match=r"`offsets`(.|\n)*Hint: np\.conc"):
        check_offsets(offsets, 2, "offsets", InvalidSensorsError)
