from collections import Counter
from dataclasses import replace

import hypothesis.strategies as st
import numpy as np
import pandas as pd
from hypothesis import given, settings

from boostr.estimators._features import (
    _MAX_CATEGORIES,
    _MOST_COUNTED,
    _MOST_RARE,
    FeatureEncoder,
    trim_counts,
)


def learn(counts):
    """Return the categories that are learned from numbers of individuals."""
    return FeatureEncoder.from_counts({"place": counts}).categories[0]


@settings(max_examples=30)
@given(st.integers(0, 2**32 - 1), st.integers(1, 600))
def test_no_category_that_is_left_out_is_more_frequent(seed, n_categories):
    sizes = np.random.default_rng(seed).integers(1, 9, n_categories).tolist()
    counts = Counter(dict(zip(range(n_categories), sizes, strict=True)))
    known = learn(counts)
    others = [counts[category] for category in counts if category not in set(known)]
    is_full = len(known) == _MAX_CATEGORIES
    least = min(map(counts.get, known), default=0)
    assert len(known) <= _MAX_CATEGORIES
    assert max(others, default=0) <= (least if is_full else 1)


def test_the_choice_among_equals_does_not_depend_on_their_order(rng):
    names = [f"place {number}" for number in range(400)]
    shuffled = [names[place] for place in rng.permutation(400)]
    assert learn(Counter(names * 5)) == learn(Counter(shuffled * 5))


def test_few_categories_are_all_counted():
    counts = Counter({"a": 3, "b": 1})
    assert trim_counts(counts) == counts


def test_of_very_many_categories_the_most_frequent_are_counted():
    counts = Counter(range(_MOST_COUNTED + 5)) + Counter([7, 9])
    trimmed = trim_counts(counts)
    assert len(trimmed) == _MOST_COUNTED
    assert {7: 2, 9: 2}.items() <= trimmed.items()


def name(encoder, places):
    table = pd.DataFrame({"place": places})
    return encoder.name_unlearned(table, encoder.transform(table))


def test_categories_without_a_code_are_named_as_rare_or_unknown():
    encoder = FeatureEncoder.from_counts({"place": Counter(a=5, b=2, EIRE=1)})
    found = name(encoder, ["a", "EIRE", None, "Mars", "b"])
    assert found == {(1, 0): "rare (EIRE)", (3, 0): "unknown (Mars)"}


def test_what_is_not_remembered_may_be_either():
    counts = Counter(range(_MOST_RARE + 1)) + Counter([0, 0])
    many = FeatureEncoder.from_counts({"place": counts + Counter(["x"])})
    old = replace(FeatureEncoder.from_counts({"place": Counter(a=5)}), rare=())
    for encoder in (many, old):
        assert name(encoder, ["Mars"]) == {(0, 0): "rare or unknown (Mars)"}
