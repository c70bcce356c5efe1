import copy
import pickle
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from boostr._engine.tree._tree import Tree, TreePack
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
def pack():
    """Three trees one after the other."""
    one = make_tree()
    nodes = Nodes(*(np.concatenate([part] * 3) for part in one.nodes))
    ends = np.array([[3, 0], [6, 0], [9, 0]])
    return TreePack(nodes, np.tile(one.gain, 3), np.arange(9.0), ends)


@pytest.fixture(params=range(3))
def later(pack, request):
    return Tree.later(request.param, pack)


def test_a_tree_for_later_is_cut_out_of_its_place(later, pack):
    place = later._place
    assert later.n_leaves == 2
    assert_array_equal(later.gain, make_tree().gain)
    assert_array_equal(later.count, 3.0 * place + np.arange(3.0))
    assert later.gain is later.gain
    assert later._pack is None


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
    assert_array_equal(changed.count, later.count)


def test_trees_have_no_other_attributes(later):
    for tree in (later, make_tree()):
        with pytest.raises(AttributeError, match="depth"):
            tree.depth  # noqa: B018
    assert later._pack is not None  # it was not looked at
