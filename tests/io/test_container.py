import json
import pickle
import tracemalloc
import zipfile
import zlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.testing import assert_array_equal
from tests.oracles_model_file import read_arrays, read_file, write_file

from boostr.exceptions import InvalidModelFileError
from boostr.io._container import pack, unpack

DTYPES = ["|b1", "|i1", "|u1", "<i4", "<u4", "<i8", "<f4", "<f8", "<M8[ns]", "<m8[D]"]
ARRAYS = st.sampled_from(DTYPES).flatmap(
    lambda dtype: hnp.arrays(
        dtype,
        hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4),
        elements=hnp.from_dtype(np.dtype(dtype)),
    )
)
TABLE = {"arrays": [["<f8", [3], "C"]]}
THREE = np.arange(3.0).tobytes()


@given(st.lists(ARRAYS, max_size=4), st.booleans())
def test_arrays_come_back_with_their_order_in_memory(arrays, is_fortran):
    arrays = [np.asfortranarray(one) if is_fortran else one for one in arrays]
    container = unpack(pack({"a": 1}, arrays))
    assert container.document == {"a": 1}
    for one, other in zip(arrays, container.arrays, strict=True):
        assert one.tobytes() == other.tobytes()
        assert (one.dtype, one.shape) == (other.dtype, other.shape)
        assert one.flags.f_contiguous == other.flags.f_contiguous
        assert other.flags.writeable


@given(st.lists(ARRAYS, max_size=4))
def test_the_page_describes_the_bytes(arrays):
    document, raw = read_file(pack({"x": "é"}, arrays))
    for one, other in zip(arrays, read_arrays(document, raw), strict=True):
        assert_array_equal(one, other)
    assert unpack(write_file(document, raw)).document == {"x": "é"}


def test_large_endian_arrays_are_turned():
    values = np.arange(5, dtype=">f8")
    assert_array_equal(unpack(pack({}, [values])).arrays[0], values)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "something else"),
        (b"PK\x03\x04 an archive", "something else"),
        (pickle.dumps([1, 2]), "something else"),
        (b"id,time,event\n" * 50, "something else"),
        (b"\x89BOOSTR\n\x01", "cut off after a few bytes"),
        (b"\x89BOO", "cut off after a few bytes"),
        (write_file(TABLE, THREE, version=2), "newer boostr.*pip install --upgrade"),
        (write_file(TABLE, THREE, version=0), "version 0, which never was"),
        (write_file(TABLE, THREE)[:-1], "cut off"),
        (write_file(TABLE, THREE) + b"x", "followed by something else"),
        (write_file(TABLE, THREE)[:-1] + b"x", "checksum"),
        (write_file(b"{", b""), "must be JSON"),
        (write_file(b"\xff\xfe", b""), "must be JSON"),
        (write_file(b"[1]", b""), "must be an object"),
        (write_file(b'{"a": NaN, "arrays": []}', b""), "finite, but one is NaN"),
        (write_file(b'{"a": 1e999, "arrays": []}', b""), "one is too large"),
        (write_file(b'{"a": 1, "a": 2, "arrays": []}', b""), "one stands twice"),
        (write_file(b"[" * 100_000, b""), "must be JSON"),
        (write_file(b'{"a": ' + b"9" * 5000 + b"}", b""), "must be JSON"),
        (write_file({}, b""), "must list the arrays"),
        (write_file({"arrays": 3}, b""), "must list the arrays"),
        (write_file({"arrays": [["<f8", [2], "C"]]}, THREE), "need 16 bytes"),
        (write_file({"arrays": [["|O", [3], "C"]]}, THREE), "type, a shape"),
        (write_file({"arrays": [["<U6", [1], "C"]]}, THREE), "type, a shape"),
        (write_file({"arrays": [["<f8", [-3], "C"]]}, THREE), "type, a shape"),
        (write_file({"arrays": [["<f8", [3.0], "C"]]}, THREE), "type, a shape"),
        (write_file({"arrays": [["<f8", [True], "C"]]}, THREE), "type, a shape"),
        (write_file({"arrays": [["<f8", [3], "A"]]}, THREE), "type, a shape"),
        (write_file({"arrays": [["<f8", [3]]]}, THREE), "type, a shape"),
        (write_file({"arrays": [["<f8", [1] * 9, "C"]]}, THREE), "type, a shape"),
        (write_file({"arrays": [["<f8", [2**60, 2**60], "C"]]}, THREE), "type, a shape"),
        (write_file({"arrays": [["<f8", [2**39, 2**39], "C"]]}, THREE), "bytes"),
        (write_file({"arrays": [["|b1", [2], "C"]]}, b"\x01\x02"), "must be 0 or 1"),
        (write_file(TABLE, THREE, method=2), "not allowed"),
        (write_file(TABLE, THREE, stored=b"nonsense"), "cannot be unpacked"),
        (write_file(TABLE, THREE, method=0, stored=b"12345678"), "another size"),
        (write_file(TABLE, THREE, stored=zlib.compress(THREE) + b"x"), "another size"),
        (write_file(TABLE, THREE, stored=zlib.compress(THREE + b"x")), "another size"),
        (write_file(TABLE, THREE, stored=zlib.compress(THREE)[:-1]), "another size"),
    ],
)
def test_bad_files_are_refused_with_a_reason(content, message):
    with pytest.raises(InvalidModelFileError, match=message):
        unpack(content)


def test_an_archive_is_not_opened(tmp_path):
    path = tmp_path / "x.boostr"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("../outside", b"x")
    with pytest.raises(InvalidModelFileError, match="something else"):
        unpack(path.read_bytes())


@pytest.mark.parametrize("claim", [2**20, 2**33, 2**62])
def test_bombs_do_not_go_off(claim):
    stored = zlib.compress(bytes(2**24))  # 16 MB of nothing in 16 kB
    table = {"arrays": [["|u1", [claim], "C"]]}
    bomb = write_file(table, b"", stored=stored, n_raw=claim)
    tracemalloc.start()
    try:
        with pytest.raises(InvalidModelFileError):
            unpack(bomb)
        assert tracemalloc.get_traced_memory()[1] < 8e6
    finally:
        tracemalloc.stop()


def test_what_packs_too_well_is_written_as_it_is():
    content = pack({}, [np.zeros(200_000)])
    assert len(content) > 1_600_000
    assert not unpack(content).arrays[0].any()
    assert json.loads(content[72 : content.index(b"}") + 1])["arrays"]
