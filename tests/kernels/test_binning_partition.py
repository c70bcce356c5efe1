import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given
from tests import oracles

from boostr._kernels.binning import partition_members, partition_members_parallel


def make_node(rng, n):
    x_binned = rng.integers(0, 6, (n + 1, 3)).astype(np.uint8)
    goes_left = rng.random(6) < 0.5
    members = rng.permutation(n + 1)[:n].astype(np.int32)
    return x_binned, 1, goes_left, members


def partition(kernel, x_binned, feature, goes_left, members, *chunks):
    moved = members.copy()
    scratch = np.full_like(members, -1)
    n_left = kernel(x_binned, feature, goes_left, moved, scratch, *chunks)
    return moved[:n_left].tolist(), moved[n_left:].tolist()


@given(seed=st.integers(0, 2**32 - 1), n=st.integers(0, 60))
def test_each_side_keeps_its_members_in_order(seed, n):
    node = make_node(np.random.default_rng(seed), n)
    assert partition(partition_members, *node) == oracles.partition(*node)


@pytest.mark.parametrize("is_left", [True, False])
def test_all_on_one_side_leaves_the_order_alone(rng, is_left):
    x_binned, feature, _, members = make_node(rng, 20)
    sides = partition(partition_members, x_binned, feature, np.full(6, is_left), members)
    assert sides[0 if is_left else 1] == members.tolist()


@pytest.mark.parametrize("n_chunks", [1, 2, 3, 16])
@pytest.mark.parametrize("n", [0, 1, 5, 1_000])
def test_threads_give_the_same_order(rng, n, n_chunks):
    node = make_node(rng, n)
    parallel = partition(partition_members_parallel, *node, n_chunks)
    assert parallel == partition(partition_members, *node)
