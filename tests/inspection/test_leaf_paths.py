import numpy as np
from numpy.testing import assert_allclose
from tests import oracles_shap
from tests.kernels.test_apply import MISSING, make_bins, make_trees
from tests.kernels.test_shap import ROOT, draw_counts, make_chain

from boostr.inspection._leaf_paths import average_leaves, trace_paths


def test_the_average_is_what_is_expected_of_no_known_feature(rng):
    nodes, roots = make_trees(rng, [5, 0, 3])
    counts, bins = draw_counts(rng, nodes, roots), make_bins(rng, 1)[0]
    parts = [
        oracles_shap.expected_value(nodes, counts, bins, MISSING, set(), root)
        for root in roots
    ]
    assert_allclose(average_leaves(nodes, counts, roots), sum(parts))


def test_splits_without_individuals_are_even():
    assert_allclose(average_leaves(make_chain(1), np.zeros(3), ROOT), 0.5)


def test_a_path_has_a_step_per_split_and_an_entry_per_feature():
    # Splits on features 0, 1, 0; of 8 individuals half go left at each.
    nodes = make_chain(3, feature_of=lambda split: split % 2)
    counts = np.array([8.0, 4.0, 4.0, 2.0, 2.0, 1.0, 1.0])
    paths = trace_paths(nodes, counts, ROOT)
    last = list(paths.leaves).index(5)
    steps = slice(*paths.step_offsets[last : last + 2])
    entries = slice(*paths.entry_offsets[last : last + 2])
    assert paths.splits.tolist() == [0, 1, 3]
    assert sorted(paths.step_split[steps]) == [0, 1, 2]
    assert paths.step_left[steps].all()
    found = dict(zip(paths.entry_feature[entries], paths.entry_share[entries], strict=True))
    assert found == {0: 0.25, 1: 0.5}
