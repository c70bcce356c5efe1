import copy
import pickle
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from boostr._engine.tree import Tree
from boostr._kernels.apply import Nodes


def make_tree():
    nodes = Nodes(
        np.array([0, -1, -1], np.int32),
        np.array([3, 0, 0], np.uint8),
        np.zeros(3, np.bool_),
        np.array([1, 0, 0], np.int32),
        np.full(3, -1, np.int32),
        np.empty((0, 8), np.uint32),
        np.array([[0.0], [1.0], [2.0]]),
    )
    return Tree(nodes, np.array([5.0, 0.0, 0.0]), np.array([10.0, 6.0, 4.0]))


@pytest.fixture
def calls():
    return []


@pytest.fixture
def later(calls):
    def make():
        calls.append(1)
        return make_tree()

    return Tree.later(make)


def test_a_tree_for_later_is_made_once_and_only_if_it_is_looked_at(later, calls):
    assert not calls
    assert later.n_leaves == 2
    assert_array_equal(later.gain, make_tree().gain)
    assert_array_equal(later.count, make_tree().count)
    assert calls == [1]


@pytest.mark.parametrize(
    "change", [copy.copy, copy.deepcopy, lambda tree: pickle.loads(pickle.dumps(tree))]
)
def test_copies_of_a_tree_for_later_are_the_tree(later, change):
    copied = change(later)
    for found, expected in zip(copied.nodes, make_tree().nodes, strict=True):
        assert_array_equal(found, expected)
    assert_array_equal(copied.gain, make_tree().gain)


def test_a_tree_for_later_can_be_changed(later):
    changed = replace(later.scaled(2.0), gain=np.zeros(3))
    assert_array_equal(changed.nodes.value.ravel(), [0.0, 2.0, 4.0])
    assert_array_equal(changed.count, make_tree().count)


def test_trees_have_no_other_attributes(later, calls):
    for tree in (later, make_tree()):
        with pytest.raises(AttributeError, match="depth"):
            tree.depth  # noqa: B018
    assert not calls
