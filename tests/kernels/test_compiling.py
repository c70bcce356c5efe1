import gc
import os
import subprocess
import sys

import numpy as np
import pytest
from numba.core.compiler import Flags

from boostr._kernels._jit import _compile_undisturbed, _QuickFlags, kernel
from boostr._kernels.compiling import compile_for, is_missing

pytestmark = pytest.mark.skipif(
    "NUMBA_DISABLE_JIT" in os.environ, reason="nothing is compiled"
)


class FakeKernel:
    __module__, __name__ = "boostr._kernels.fake", "fake"
    signatures = ()

    def __init__(self, folder):
        self.stats = type("Stats", (), {"cache_path": None if folder is None else folder})


def test_kernels_are_missing_until_they_are_on_disk(tmp_path):
    fake = FakeKernel(str(tmp_path))
    assert is_missing(fake)
    (tmp_path / "fake.fake-12.py311.1.nbc").touch()
    assert not is_missing(fake)


def test_options_are_equal_where_those_of_numba_are():
    options = [Flags() for _ in range(4)]
    options[1].nrt = True
    options[2].nrt = False  # as by default
    options[3].nrt = options[3].release_gil = True
    for one in options:
        assert hash(_QuickFlags(one)) == hash(one)
        for other in options:
            assert (_QuickFlags(one) == _QuickFlags(other)) == (one == other)
            assert (_QuickFlags(one) == other) == (one == other)


def test_without_a_place_on_disk_nothing_is_shared():
    assert not is_missing(FakeKernel(None))


def test_a_kernel_is_compiled_without_being_called():
    @kernel
    def fill(out):
        out[0] = 7.0

    out = np.zeros(1)
    compile_for(fill, out)
    assert len(fill.signatures) == 1
    assert out[0] == 0.0
    fill(out)
    assert len(fill.signatures) == 1
    assert out[0] == 7.0


@pytest.mark.parametrize("begin", [gc.enable, gc.disable])
def test_no_garbage_is_collected_meanwhile_and_then_as_before(begin):
    begin()
    try:
        expected = gc.isenabled()
        assert _compile_undisturbed(lambda _: gc.isenabled(), "signature") is False
        assert gc.isenabled() == expected
    finally:
        gc.enable()


CODE = """
import sys
import numpy as np
from boostr._kernels._jit import inner_kernel, kernel

@inner_kernel
def double(value):
    return 2.0 * value

@kernel
def fill(out):
    out[0] = double(out[0])

@kernel
def fill_twice(out):
    out[0] = double(double(out[0]))

out = np.ones(1)
(fill if len(sys.argv) < 2 else fill_twice)(out)
print(out[0], sum(fill.stats.cache_hits.values()), sum(double.stats.cache_hits.values()))
"""


def test_kernels_within_others_are_kept_on_disk(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(CODE)

    def run(*arguments):
        command = [sys.executable, str(program), *arguments]
        environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}
        found = subprocess.run(
            command, env=environment, capture_output=True, text=True, check=True
        )
        return found.stdout.split()

    assert run() == ["2.0", "0", "0"]
    assert run() == ["2.0", "1", "0"]
    assert run("twice") == ["4.0", "0", "1"]  # another kernel that contains it


OLD = """
from typing import NamedTuple
import numpy as np
from boostr._kernels._jit import inner_kernel, kernel

class Old(NamedTuple):
    values: np.ndarray

@inner_kernel
def first(pair):
    return pair.values[0]

@kernel
def read(pair):
    return first(pair)

print(read(Old(np.ones(1))))
"""


def test_kernels_of_an_earlier_version_are_compiled_anew(tmp_path):
    program = tmp_path / "program.py"
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}
    # The same kernels on the same lines, whose argument has another type.
    for text in (OLD, OLD.replace("Old", "New")):
        program.write_text(text)
        (tmp_path / "run.py").write_text("import program")
        found = subprocess.run(
            [sys.executable, str(tmp_path / "run.py")],
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        )
        assert found.stdout == "1.0\n"
