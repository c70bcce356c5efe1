"""Processes that are forked after kernels have run, as by servers that preload models."""

import os
import subprocess
import sys

import pytest

pytestmark = [
    pytest.mark.skipif(not hasattr(os, "fork"), reason="no forks"),
    pytest.mark.skipif("NUMBA_DISABLE_JIT" in os.environ, reason="no threads of Numba"),
]

CODE = """
import multiprocessing, threading
from concurrent.futures import ProcessPoolExecutor
import numba
from sklearn.base import clone
from boostr import BoostR
from boostr._kernels.threads import run_soon
from boostr.simulate import dataset_a

data = dataset_a(n=60, random_state=1)
model = BoostR(n_estimators=3, validation=None, random_state=0, n_jobs=2)
model.fit(data.X, data.y)

def run(refit=True):
    is_run = threading.Event()
    run_soon(2, is_run.set)
    assert is_run.wait(timeout=60)
    fitted = clone(model).fit(data.X, data.y) if refit else model
    told = fitted.forecast(data.X, data.y, horizon=5.0)
    total = fitted.forecast_fleet(data.X, data.y, horizon=5.0)
    return fitted.predict(data.X).tobytes(), told.to_numpy().tobytes(), str(total)

def run_beside(number):
    results = []
    threads = [threading.Thread(target=lambda: results.append(run(False))) for _ in "ab"]
    [thread.start() for thread in threads]
    results.append(run())
    [thread.join() for thread in threads]
    if number == 0:
        results += fork_and_run(1)  # children have children of their own
    return results

def fork_and_run(number):
    context = multiprocessing.get_context("fork")
    with ProcessPoolExecutor(1, mp_context=context) as pool:
        return pool.submit(run_beside, number).result(timeout=120)

if __name__ == "__main__":
    expected = run()
    assert numba.get_num_threads() == 2
    found = fork_and_run(0)
    assert len(found) == 3 + 3
    assert all(result == expected for result in found)
    assert run() == expected
    forker = threading.Thread(target=lambda: print(set(fork_and_run(1)) == {expected}))
    forker.start()
    forker.join()
"""


def test_forked_children_fit_and_forecast_the_same(tmp_path):
    (tmp_path / "serve.py").write_text(CODE)
    shown = subprocess.run(
        [sys.executable, tmp_path / "serve.py"],
        env=os.environ | {"NUMBA_NUM_THREADS": "2", "NUMBA_THREADING_LAYER": "default"},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert shown.stdout.strip() == "True", shown.stderr
