import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.io.scenes import assert_same

from boostr.basis import PowerBasis, StepBasis
from boostr.exceptions import InvalidModelFileError, InvalidParameterError
from boostr.io.values import Reader, Writer, digest

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=5)
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | TEXT
    | st.builds(np.float64, st.floats())
    | st.builds(np.int32, st.integers(-9, 9))
    | st.just(np.datetime64("2024-02-29T12", "h"))
    | st.just(StepBasis(3))
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.lists(inner, max_size=3).map(tuple)
        | st.dictionaries(TEXT | st.integers(), inner, max_size=3)
    ),
    max_leaves=8,
)


def write(value):
    writer = Writer()
    text = json.dumps(writer.write(value, "value"), allow_nan=False)
    return text, writer.arrays


def read(text, arrays):
    return Reader(arrays).read(json.loads(text), "value")


@given(VALUES)
def test_values_come_back_with_their_types(value):
    assert_same(read(*write(value)), value)


@pytest.mark.parametrize(
    "value",
    [
        np.array(["a", "bcd", ""]),
        np.array(["a", None, 3], dtype=object),
        np.array([True, False]),
        np.asfortranarray(np.arange(6.0).reshape(2, 3)),
        np.array(3),
        np.array(["2024-01-01", "NaT"], dtype="M8[D]"),
    ],
    ids=str,
)
def test_arrays_come_back(value):
    assert_same(read(*write(value)), value)


@pytest.mark.parametrize(
    "value",
    [
        {1j},
        1j,
        "\ud800",
        np.zeros(2, dtype=complex),
        np.array([["a"]]),
        np.zeros(1, dtype=[("a", float)]),
        print,
        [object()],
        {"a": b"bytes"},
    ],
    ids=lambda value: type(value).__name__,
)
def test_other_values_cannot_be_written(value):
    with pytest.raises(InvalidParameterError, match=r"(?s)but `value.*Hint"):
        write(value)


@pytest.mark.parametrize("kind", [set, frozenset])
def test_sets_come_back_as_sorted_lists(kind):
    assert read(*write([kind(["b", "a"])])) == [["a", "b"]]


def test_a_class_of_the_same_name_is_another_class():
    stranger = type("PowerBasis", (), {})()
    with pytest.raises(InvalidParameterError, match="is a PowerBasis"):
        write(stranger)


@pytest.mark.parametrize(
    "code",
    [
        {"array": 1},
        {"array": True},
        {"scalar": 0},
        {"float": 1.0},
        {"tuple": 3},
        {"dict": [[{"tuple": []}, 1]]},
        {"dict": [[1, 2], [1, 3]]},
        {"dict": {"a": 1}},
        {"texts": [1]},
        {"texts": ["a" * 10**5, *([""] * 10**5)]},
        {"object": "list", "fields": {}},
        {"object": "StepBasis", "fields": {"n_cells": 0}},
        {"object": "StepBasis", "fields": {"n_cells": 3, "more": 1}},
        {"object": "PowerBasis", "fields": {"exponents": [2.0, 2.0], "joint": True}},
        {"array": 0, "tuple": []},
        {},
    ],
    ids=lambda code: str(code)[:40],
)
def test_codes_that_no_writer_makes_are_refused(code):
    with pytest.raises(InvalidModelFileError):
        Reader([np.zeros(3)]).read(code, "value")


def test_digests_see_every_bit():
    values = [0.0, -0.0, np.zeros(1), np.zeros(2), [], (), PowerBasis(), {"a": 1}, np.inf]
    assert len({digest(value) for value in values}) == len(values)
    assert digest(np.arange(3.0)) == digest(np.arange(3.0))
