import numpy as np
import pandas as pd
import pytest

from boostr import RecurrentEvents
from boostr.exceptions import InvalidEventsError


@pytest.fixture
def y():
    return RecurrentEvents.from_lists(
        [[1.0], [], [2.0, 3.0]], end=[4.0, 4.0, 4.0], ids=["W1", "W2", "W3"]
    )


def test_mask_with_the_ids_in_order_selects(y):
    mask = pd.Series([True, False, True], index=["W1", "W2", "W3"])
    assert y[mask].ids.tolist() == ["W1", "W3"]


def test_mask_with_the_ids_in_another_order_is_refused(y):
    mask = pd.Series([True, False, False], index=["W3", "W2", "W1"])
    with pytest.raises(InvalidEventsError, match=r"2 of 3 differ \(ids W1, W3\)"):
        y[mask]


def test_mask_without_labels_counts_by_position(y):
    assert y[pd.Series([False, False, True])].ids.tolist() == ["W3"]


@pytest.mark.parametrize("key", ["W1", ["W1", "W3"], np.array(["W2"])])
def test_ids_as_index_get_a_hint(y, key):
    with pytest.raises(IndexError, match=r"y\.ids =="):
        y[key]
