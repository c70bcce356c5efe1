from collections import Counter

import hypothesis.strategies as st
import numpy as np
from hypothesis import given, settings

from boostr.estimators._features import (
    _MAX_CATEGORIES,
    _MOST_COUNTED,
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
