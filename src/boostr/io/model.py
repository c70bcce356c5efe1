"""Model files: one JSON document and arrays, no code."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from types import SimpleNamespace
from typing import Any, BinaryIO

import numpy as np

import boostr
from boostr.exceptions import BoostrError, InvalidModelFileError, InvalidParameterError
from boostr.io._container import HEAD_SIZE, check_size, pack, unpack
from boostr.io.files import check_output, write_atomically
from boostr.io.rules import Rule, require, shorten
from boostr.io.values import Reader, Writer

__all__ = [
    "MODELS",
    "from_bytes",
    "load",
    "own_version",
    "register_model",
    "save",
    "to_bytes",
]

_FORMAT = "boostr model"
_ENTRIES = {"format", "boostr", "model", "params", "attributes"}
_ATTRIBUTE = re.compile(r"[a-z][a-z0-9_]{0,98}_")
_MAX_ATTRIBUTES = 1000


@dataclass(frozen=True, slots=True, eq=False)
class ModelKind:
    """An estimator that files may hold."""

    type: Any
    params: Mapping[str, Any]  # by default
    rules: Mapping[str, Rule]  # of fitted attributes that every file must have
    later_rules: Mapping[str, Rule]  # of those that files may lack
    check_params: Callable[[dict[str, Any]], None]
    check: Callable[[Any], None]  # of what must hold between fitted attributes
    list_attributes: Callable[[Any], Mapping[str, Any]]  # of a fitted model
    set_attributes: Callable[[Any, Mapping[str, Any]], None]  # of an unfitted one


MODELS: dict[str, ModelKind] = {}


def register_model(
    cls: Any,
    rules: Mapping[str, Rule],
    later_rules: Mapping[str, Rule],
    *,
    check_params: Callable[[dict[str, Any]], None],
    check: Callable[[Any], None],
    list_attributes: Callable[[Any], Mapping[str, Any]],
    set_attributes: Callable[[Any, Mapping[str, Any]], None],
) -> None:
    """Allow fitted estimators of a class in files.

    ``rules`` are for attributes used by predictions and forecasts, ``later_rules`` for
    those missing in older files; others are stored by type.
    """
    MODELS[cls.__name__] = ModelKind(
        cls,
        cls().get_params(deep=False),
        rules,
        later_rules,
        check_params,
        check,
        list_attributes,
        set_attributes,
    )


def save(model: Any, path: str | os.PathLike[str]) -> None:
    """Write a fitted model to a file.

    The file appears as a whole or not at all; one that was there is replaced. Links are
    followed; a folder, a device or a pipe is refused.

    Parameters
    ----------
    model : BoostR
        A fitted model.
    path : str or path
        The file, by custom with the ending ``.boostr``.

    See Also
    --------
    load : Reads it.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from boostr import BoostR, io
    >>> from boostr.simulate import dataset_a
    >>> data = dataset_a(n=50, random_state=1)
    >>> model = BoostR(n_estimators=5, validation=None).fit(data.X, data.y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     io.save(model, Path(folder) / "machines.boostr")
    ...     [file.name for file in Path(folder).iterdir()]
    ['machines.boostr']
    """
    target = check_output(path, "The model")
    write_atomically(target, to_bytes(model))


def load(path: str | os.PathLike[str]) -> Any:
    """Return the model in a file, which predicts as it did when it was saved.

    Nothing in a file is run: it holds numbers and text, which are checked.

    Parameters
    ----------
    path : str or path
        A file that `save` has written.

    Returns
    -------
    BoostR
        The fitted model.

    Raises
    ------
    InvalidModelFileError
        If the file is no model, damaged, or from a version that is newer than this one.

    See Also
    --------
    save : Writes it.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import boostr
    >>> from boostr.simulate import dataset_a
    >>> data = dataset_a(n=50, random_state=1)
    >>> model = boostr.BoostR(n_estimators=5, validation=None).fit(data.X, data.y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     model.save(Path(folder) / "machines.boostr")
    ...     loaded = boostr.load(Path(folder) / "machines.boostr")
    >>> bool((loaded.predict(data.X) == model.predict(data.X)).all())
    True
    """
    mode = Path(path).stat().st_mode
    # To open a folder is an error of the system; to open a pipe would wait for its writer.
    if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
        raise InvalidModelFileError(
            f"A model must be in a file, but {str(path)!r} is none.\n\n"
            "Hint: boostr.io.from_bytes reads what comes from elsewhere."
        )
    try:
        with Path(path).open("rb") as file:
            content = _read_all(file)
        return from_bytes(content)
    except InvalidModelFileError as error:
        raise InvalidModelFileError(f"{str(path)!r} cannot be read. {error}") from error


def to_bytes(model: Any) -> bytes:
    """Return a fitted model as the bytes of a file.

    Parameters
    ----------
    model : BoostR
        A fitted model.

    Returns
    -------
    bytes
        What `save` would write.

    See Also
    --------
    from_bytes : Reads them.

    Examples
    --------
    >>> from boostr import BoostR, io
    >>> from boostr.simulate import dataset_a
    >>> data = dataset_a(n=50, random_state=1)
    >>> model = BoostR(n_estimators=5, validation=None).fit(data.X, data.y)
    >>> io.from_bytes(io.to_bytes(model)).n_estimators_
    5
    """
    kind = MODELS.get(type(model).__name__)
    if kind is None or kind.type is not type(model):
        raise InvalidParameterError(
            f"`model` must be one of {', '.join(MODELS)}, but it is a "
            f"{type(model).__name__}.\n\nHint: search.best_estimator_ is the model of a "
            "search, pipeline[-1] that of a pipeline."
        )
    writer = Writer()
    document = {
        "format": _FORMAT,
        "boostr": own_version(),
        "model": type(model).__name__,
        "params": {
            name: writer.write(value, name)
            for name, value in model.get_params(deep=False).items()
        },
        "attributes": {
            name: writer.write(value, name)
            for name, value in kind.list_attributes(model).items()
        },
    }
    content = pack(document, writer.arrays)
    _read_back(content)
    return content


def from_bytes(content: bytes | bytearray | memoryview) -> Any:
    """Return the model in the bytes of a file.

    Parameters
    ----------
    content : bytes
        What `to_bytes` has made.

    Returns
    -------
    BoostR
        The fitted model.

    Raises
    ------
    InvalidModelFileError
        If the bytes are no model, damaged, or from a version that is newer than this one.

    See Also
    --------
    to_bytes : Makes them.

    Examples
    --------
    >>> from boostr import io
    >>> io.from_bytes(b"something else")
    Traceback (most recent call last):
    ...
    boostr.exceptions.InvalidModelFileError: ...
    """
    try:
        with np.errstate(all="ignore"):
            return _read_model(memoryview(content))
    except InvalidModelFileError:
        raise
    except Exception as error:
        # Every rule has a message of its own; this is for what no rule foresees.
        what = f"{type(error).__name__}: {shorten(error)}"
        raise InvalidModelFileError(
            f"The file must hold a model, but reading it fails ({what}).\n\n"
            "Hint: save the model again."
        ) from error


def _read_model(content: memoryview) -> Any:
    container = unpack(content)
    document = container.document
    what = document.get("format")
    if what != _FORMAT:
        raise InvalidModelFileError(
            f"The file must hold a model, but it holds a {str(what)[:40]}.\n\n"
            "Hint: fit(…, checkpoint=path) continues a training; model.save(path) saves "
            "its result."
        )
    require(document.keys() == _ENTRIES, f"A model must have {', '.join(sorted(_ENTRIES))}")
    name = document["model"]
    # Classes of models register themselves when they are imported, as this does.
    _ = boostr.estimators
    require(isinstance(name, str) and name in MODELS, "The model must be of a known class")
    for part in ("params", "attributes"):
        require(isinstance(document[part], dict), f"The {part} must be an object")
    kind = MODELS[name]
    reader = Reader(container.arrays)
    model = _make_unfitted(kind, reader, document["params"])
    n_attributes = len(document["attributes"])
    require(n_attributes <= _MAX_ATTRIBUTES, "A model must not have that many attributes")
    values = {}
    for attribute, code in document["attributes"].items():
        require(_ATTRIBUTE.fullmatch(attribute), "Attributes must have fitting names")
        values[attribute] = reader.read(code, attribute)
    _check_attributes(kind, values)
    kind.check(SimpleNamespace(**values))
    kind.set_attributes(model, values)
    return model


def _check_attributes(kind: ModelKind, values: Mapping[str, Any]) -> None:
    for attribute, rule in {**kind.rules, **kind.later_rules}.items():
        is_there = attribute in values
        is_needed = attribute in kind.rules
        require(is_there or not is_needed, f"The model must have `{attribute}`")
        if is_there:
            is_right = rule.admits(values[attribute])
            require(is_right, f"`{attribute}` must be: {rule.words}")


def _make_unfitted(kind: ModelKind, reader: Reader, codes: dict[str, Any]) -> Any:
    """Return the estimator with its parameters; missing ones have defaults."""
    strange = [str(name)[:40] for name in codes if name not in kind.params]
    if strange:
        raise InvalidModelFileError(
            f"All parameters must be known, but {', '.join(strange[:5])} are not.\n\n"
            "Hint: a newer boostr may have written the file; pip install --upgrade boostr"
        )
    params = {name: reader.read(code, name) for name, code in codes.items()}
    try:
        kind.check_params({**kind.params, **params})
    except BoostrError as error:
        raise InvalidModelFileError(
            f"The parameters in the file must be possible. {shorten(error)}\n\n"
            "Hint: save the model again."
        ) from error
    return kind.type(**params)


@cache
def own_version() -> str:
    """Return the version of the running package."""
    try:
        return version("boostr")
    except PackageNotFoundError:  # run from its source, without being installed
        return "unknown"


def _read_back(content: bytes) -> None:
    """Check that the bytes to be written can be read."""
    try:
        from_bytes(content)
    except InvalidModelFileError as error:
        raise InvalidParameterError(f"The model cannot be saved. {error}") from error


def _read_all(file: BinaryIO) -> bytes:
    """Return the content of a file; refuse a size other than in its header."""
    head = file.read(HEAD_SIZE)
    n_bytes = os.fstat(file.fileno()).st_size
    check_size(head, n_bytes)
    try:
        return head + file.read(n_bytes - len(head))
    except MemoryError as error:
        raise InvalidModelFileError(
            "The file must fit into memory, but it does not.\n\n"
            "Hint: a model has some megabytes; this may be another file."
        ) from error
