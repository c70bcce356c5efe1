"""Rules of the source that no linter knows."""

import ast
from pathlib import Path

import pytest

import boostr

ROOT = Path(boostr.__file__).parent
FILES = sorted(ROOT.rglob("*.py"))
# Commands and heavy rooms are imported when they are first needed.
LAZY = {"__init__.py", "cli/__init__.py", "cli/_app.py"}


def name_of(path):
    return path.relative_to(ROOT).as_posix()


def room_of(path):
    parts = path.relative_to(ROOT).parts
    return parts[0] if len(parts) > 1 else "."


def calls_in(tree):
    return [node for node in ast.walk(tree) if isinstance(node, ast.Call)]


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_no_room_imports_private_modules_of_another(path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("boostr."):
            room, *inner = node.module.split(".")[1:]
            is_private = any(name.startswith("_") for name in inner)
            assert room == room_of(path) or not is_private, f"line {node.lineno}"


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_state_is_passed_by_name(path):
    for call in calls_in(ast.parse(path.read_text())):
        function = ast.unparse(call.func)
        assert not (function == "vars" and call.args), f"line {call.lineno}"
        assert not function.endswith("__dict__.update"), f"line {call.lineno}"
        if name_of(path) not in LAZY:
            is_own = function.endswith("import_module") and "boostr" in ast.unparse(call)
            assert not is_own, f"line {call.lineno}"
