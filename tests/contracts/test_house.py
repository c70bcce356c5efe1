"""Rules of the source that no linter knows."""

import ast
import re
from pathlib import Path

import pytest

import boostr

ROOT = Path(boostr.__file__).parent
TREES = {
    path.relative_to(ROOT).as_posix(): ast.parse(path.read_text())
    for path in sorted(ROOT.rglob("*.py"))
}
# Commands and heavy rooms are imported when they are first needed.
LAZY = {"__init__.py", "cli/__init__.py", "cli/_app.py"}


def find(name, kind):
    return [node for node in ast.walk(TREES[name]) if isinstance(node, kind)]


@pytest.mark.slow
def test_no_room_imports_private_modules_of_another():
    found = []
    for name in TREES:
        own = name.split("/")[0] if "/" in name else "."
        for node in find(name, ast.ImportFrom):
            room, *inner = (node.module or "").removeprefix("boostr.").split(".")
            is_ours = (node.module or "").startswith("boostr.")
            if is_ours and room != own and any(part.startswith("_") for part in inner):
                found.append(f"{name}:{node.lineno} {node.module}")
    assert found == []


@pytest.mark.slow
def test_state_is_passed_by_name():
    found = []
    for name in TREES:
        for call in find(name, ast.Call):
            function = ast.unparse(call.func)
            is_hidden = function == "vars" and call.args
            is_hidden = is_hidden or function.endswith("__dict__.update")
            if name not in LAZY and function.endswith("import_module"):
                is_hidden = is_hidden or "boostr" in ast.unparse(call)
            if is_hidden:
                found.append(f"{name}:{call.lineno} {ast.unparse(call)}")
    assert found == []


KERNELS = {
    node.name: node
    for name, tree in TREES.items()
    if name.startswith("_kernels/")
    for node in tree.body
    if isinstance(node, ast.FunctionDef) and node.decorator_list
}


def is_decorated(node, *names):
    return any(isinstance(d, ast.Name) and d.id in names for d in node.decorator_list)


def list_calls(node):
    calls = [call.func for call in ast.walk(node) if isinstance(call, ast.Call)]
    return {call.id for call in calls if isinstance(call, ast.Name)}


def test_kernels_that_own_no_arrays_are_given_none():
    # Numba would not free an array that a kernel without reference counts receives.
    harmless = re.compile(r"None|int|float|bool|tuple\[.*\]")
    owners = {
        name
        for name, node in KERNELS.items()
        if is_decorated(node, "allocating_kernel")
        and not harmless.fullmatch(ast.unparse(node.returns))
    }
    assert "shrink_categories" in owners
    for name, node in KERNELS.items():  # what is inlined belongs to its caller
        if is_decorated(node, "inlined_kernel") and list_calls(node) & owners:
            owners.add(name)
    for name, node in KERNELS.items():
        if is_decorated(node, "kernel", "inner_kernel"):
            assert not list_calls(node) & owners, name
