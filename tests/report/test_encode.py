import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.report.scenes import unpack

from boostr.report._page import (
    as_integers,
    as_list,
    as_steps,
    as_text,
    pack_floats,
    to_json,
)

NUMBERS = st.floats(-1e6, 1e6, allow_nan=False)


@given(st.lists(NUMBERS, max_size=20))
def test_packed_numbers_have_seven_digits(values):
    np.testing.assert_allclose(
        unpack(pack_floats(np.array(values))), values, rtol=6e-8, atol=1e-30
    )


def test_packed_numbers_keep_nan_and_infinity():
    values = np.array([np.nan, np.inf, -np.inf, 0.0])
    np.testing.assert_array_equal(unpack(pack_floats(values)), values)


@given(st.lists(NUMBERS | st.just(np.nan), max_size=20), st.sampled_from(["u2", "u4"]))
def test_steps_are_off_by_half_a_step_at_most(values, kind):
    values = np.array(values, dtype=float)
    found = unpack(as_steps(values, kind))
    known = values[~np.isnan(values)]
    width = np.ptp(known) / (np.iinfo(kind).max - 1) if known.size else 0.0
    np.testing.assert_array_equal(np.isnan(found), np.isnan(values))
    np.testing.assert_allclose(found, values, atol=0.501 * width + 1e-9, rtol=1e-15)


def test_twenty_years_are_told_to_the_second():
    seconds = np.array([0.0, 12_345_678.0, 20 * 365.25 * 86_400])
    np.testing.assert_allclose(unpack(as_steps(seconds)), seconds, atol=0.5)


@pytest.mark.parametrize("highest", [3, 65_535, 65_536, 2**32 - 1])
def test_whole_numbers_are_exact(highest):
    values = np.array([0, 1, highest])
    np.testing.assert_array_equal(unpack(as_integers(values)), values)


def test_numbers_that_are_none_become_none():
    assert as_list([1.2345678, np.nan, np.inf]) == [1.2346, None, None]


def test_ids_are_written_as_people_know_them():
    assert as_text([7, 2.0, "a"]) == ["7", "2", "a"]


@given(st.text("<>&\u2028\u2029a\\\"'/é"))
def test_no_text_can_leave_the_script(text):
    written = to_json({"x": text})
    assert json.loads(written) == {"x": text}
    assert not set(written) & set("<>&\u2028\u2029")
