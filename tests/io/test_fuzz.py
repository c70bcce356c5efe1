"""Damaged and hostile files: one kind of error, and nothing else.

`make fuzz` tries more than ten thousand of them, other runs a tenth.
"""

import copy
import json
import os
from collections import Counter

import numpy as np
import pytest
from tests.oracles_model_file import read_arrays, read_file, write_arrays, write_file

from boostr import io
from boostr.exceptions import InvalidModelFileError

SHARE = 1.0 if "BOOSTR_FUZZ" in os.environ else 0.1
# Of either of two models.
N_BYTES, N_DOCUMENTS, N_ARRAYS, N_TABLES = (round(SHARE * n) for n in (3500, 800, 600, 200))

NASTY = [
    None,
    True,
    -1,
    0,
    1,
    2**31,
    10**40,
    -0.5,
    1e308,
    "",
    "BoostR",
    "\ud800",
    "__class__",
    [],
    [[]],
    {},
    {"array": 0},
    {"array": 10**6},
    {"array": -1},
    {"scalar": 0},
    {"float": "nan"},
    {"float": "inf"},
    {"float": "one"},
    {"tuple": [1, [2]]},
    {"tuple": None},
    {"dict": [["a", 1], ["a", 2]]},
    {"dict": [[[], 1]]},
    {"objects": [[1], [2, 3]]},
    {"texts": ["a" * 999, "b"]},
    {"object": "PowerBasis", "fields": {"exponents": [1.0], "joint": True}},
    {"object": "PowerBasis", "fields": {"exponents": [-1.0], "joint": True}},
    {"object": "CalendarClock", "fields": {"speed": 1e300}},
    {"object": "Popen", "fields": {"args": "true"}},
    {"object": "StepBasis", "fields": {}},
]
NUMBERS = [np.nan, np.inf, -np.inf, -1, 0, 1, 2, 7, 255, 2**31 - 1, -(2**31), 1e300, -1e9]
TYPES = ["<f8", "<f4", "<i8", "<i4", "<u4", "|u1", "|b1", "<M8[s]", "|O", "<c16", "<U2"]


@pytest.fixture(scope="module", params=["plain", "sensors"])
def original(request, models, scene):
    model = models(request.param)
    features = model.encoder_.transform(scene.frame[:3])
    return io.to_bytes(model), (features, scene.Z[:3])


def try_file(content, data, outcomes):
    """Load a file; whatever loads must predict without reading outside of its arrays."""
    try:
        model = io.from_bytes(content)
    except InvalidModelFileError as error:
        outcomes["refused" if "Hint:" in str(error) else str(error)] += 1
        return
    outcomes["loaded"] += 1
    features, sensors = data
    theta = model.ensemble_.coefficients(features)
    if model.sensor_layout_ is None:
        curves = model.ensemble_.curves(theta)
    elif set(model.sensor_layout_.names) <= set(sensors.names):
        curves = model.ensemble_.curves(theta, sensors.select(model.sensor_layout_.names))
    else:
        return
    assert curves.values(np.array([0.1, 30.0])).shape == (3, 2)


def damage_bytes(rng, content):
    """Flip bits, cut off, put in, take out, or exchange parts."""
    place, other = np.sort(rng.integers(0, len(content), 2))
    kind = rng.integers(6)
    if kind == 0:
        damaged = bytearray(content)
        for where in rng.integers(0, len(content), rng.integers(1, 4)):
            damaged[where] ^= 1 << rng.integers(8)
        return bytes(damaged)
    if kind == 1:
        return content[:place]
    if kind == 2:
        return content[:place] + rng.bytes(rng.integers(1, 9)) + content[place:]
    if kind == 3:
        return content[:place] + content[other:]
    if kind == 4:
        return content[:40] + rng.bytes(32) + content[72:]
    return content[:place] + content[other:] + content[place:other]


def list_places(node, found):
    """Collect every (container, key) of a JSON document."""
    pairs = node.items() if isinstance(node, dict) else enumerate(node)
    for key, value in pairs:
        found.append((node, key))
        if isinstance(value, dict | list):
            list_places(value, found)
    return found


def damage_document(rng, text):
    """Replace, remove, rename, repeat or exchange parts of the document."""
    damaged = json.loads(text)
    for _ in range(rng.integers(1, 3)):
        places = list_places({key: damaged[key] for key in damaged if key != "arrays"}, [])
        places = [place for place in places if place[0] is not damaged]
        node, key = places[rng.integers(len(places))]
        other, other_key = places[rng.integers(len(places))]
        kind = rng.integers(5)
        if kind == 0:
            del node[key]
        elif kind == 1 and isinstance(node, dict):
            node[str(NASTY[rng.integers(len(NASTY))])] = node.pop(key)
        elif kind == 2:
            node[key] = copy.deepcopy(other[other_key])
        else:
            node[key] = copy.deepcopy(NASTY[rng.integers(len(NASTY))])
    return damaged


def damage_arrays(rng, arrays):
    """Change numbers, lengths, shapes or types of arrays, or exchange two."""
    damaged = list(arrays)
    for _ in range(rng.integers(1, 3)):
        place, other = rng.integers(len(damaged), size=2)
        values = damaged[place].copy()
        kind = rng.integers(6)
        if kind <= 2 and values.size:
            number = NUMBERS[rng.integers(len(NUMBERS))]
            with np.errstate(all="ignore"):
                values.reshape(-1)[rng.integers(values.size)] = np.array(number).astype(
                    values.dtype
                )
        elif kind == 3:
            values = values[: rng.integers(len(values) + 1)] if values.ndim else values
        elif kind == 4:
            values = np.concatenate([values, values[:1]]) if values.ndim else values
        else:
            values = damaged[other]
        damaged[place] = values
    return damaged


def damage_table(rng, document):
    """Change what the table says about an array, and not the array."""
    damaged = copy.deepcopy(document)
    entry = damaged["arrays"][rng.integers(len(damaged["arrays"]))]
    kind = rng.integers(4)
    if kind == 0:
        entry[0] = TYPES[rng.integers(len(TYPES))]
    elif kind == 1:
        entry[1] = [int(2.0 ** rng.uniform(0, 62)) for _ in range(rng.integers(0, 6))]
    elif kind == 2:
        entry[1] = entry[1][::-1]
    else:
        entry[2] = ["F", "C", None][rng.integers(3)]
    return damaged


@pytest.fixture(params=["bytes", "document", "arrays", "table"])
def damage(request, original):
    """Return how many files of one kind of damage there are, and how to make one."""
    content, _ = original
    document, raw = read_file(content)
    text, arrays = json.dumps(document), read_arrays(document, raw)

    def seal(document, raw=raw):
        """Write a file whose checksum is right, so that its content is looked at."""
        return write_file(document, raw, method=0)

    return {
        "bytes": (N_BYTES, lambda rng: damage_bytes(rng, content)),
        "document": (N_DOCUMENTS, lambda rng: seal(damage_document(rng, text))),
        "arrays": (
            N_ARRAYS,
            lambda rng: seal(*write_arrays(document, damage_arrays(rng, arrays))),
        ),
        "table": (N_TABLES, lambda rng: seal(damage_table(rng, document))),
    }[request.param]


@pytest.mark.filterwarnings("ignore")
def test_nothing_but_the_one_error_comes_out(original, damage):
    content, data = original
    n_files, make = damage
    rng = np.random.default_rng(1)
    outcomes = Counter()
    for _ in range(n_files):
        damaged = make(rng)
        if damaged != content:  # parts may have been exchanged for the same
            try_file(damaged, data, outcomes)
    assert outcomes.keys() <= {"refused", "loaded"}
    assert outcomes.total() > 0.98 * n_files
    assert outcomes["refused"] > 0.5 * n_files


def test_bytes_that_changed_are_always_noticed(original):
    content, _ = original
    rng = np.random.default_rng(2)
    for _ in range(500):
        damaged = damage_bytes(rng, content)
        if damaged != content:
            with pytest.raises(InvalidModelFileError):
                io.from_bytes(damaged)
