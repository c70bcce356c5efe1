import pytest

from boostr import simulate


@pytest.fixture(scope="session")
def fleet():
    return simulate.dataset_a(n=120, random_state=3)
