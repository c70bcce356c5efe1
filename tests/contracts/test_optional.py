"""Optional packages are found under all names that they are installed by."""

import importlib.metadata

import pytest

from boostr._optional import find_version


@pytest.mark.parametrize("installed", ["xgboost", "xgboost-cpu", None])
def test_a_build_without_gpus_counts(monkeypatch, installed):
    def version(name):
        if name == installed:
            return "3.0"
        raise importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(importlib.metadata, "version", version)
    assert find_version("xgboost") == (None if installed is None else "3.0")
