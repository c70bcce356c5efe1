import numpy as np

from boostr.reproduction._settings import _judge, find_best


def make_settings(sizes, errors=None):
    return [
        {
            "params": {"gamma1": 1.0 * place, "gamma2": 2.0},
            "leaf_counts": [size],
            "error": error,
        }
        for place, (size, error) in enumerate(
            zip(sizes, errors or np.arange(len(sizes)), strict=True)
        )
    ]


def test_settings_nearest_to_four_to_eight_leaves_are_chosen():
    assert find_best(make_settings([1, 5, 9, 2, 8, 14])) == [1, 2, 4]


def test_ranks_of_chosen_settings_are_those_of_their_errors():
    text = _judge(make_settings([5, 1, 6], [30.0, 10.0, 20.0]), [0, 2])
    assert "ranks 3, 2 of 3" in text
    assert "the best is setting 2 with 10" in text
