"""The public names of the package, and the one under which each is documented."""

import importlib
import inspect
import pkgutil

import boostr


def list_rooms():
    """Return the package and its public folders that list names, `boostr` first."""
    rooms = ["boostr"]
    for found in pkgutil.iter_modules(boostr.__path__, "boostr."):
        is_private = found.name.rpartition(".")[2].startswith("_")
        if not is_private and hasattr(importlib.import_module(found.name), "__all__"):
            rooms.append(found.name)
    return rooms


def find_public_names():
    """Return every public name with the name under which its object is documented.

    An object that is public in several places is documented in the first one: `boostr`
    before its folders, which come in alphabetical order.
    """
    names, first = {}, {}
    for room in list_rooms():
        module = importlib.import_module(room)
        for name in module.__all__:
            thing = getattr(module, name)
            full = f"{room}.{name}"
            if not inspect.ismodule(thing) and not name.startswith("__"):
                names[full] = first.setdefault(id(thing), full)
    return names
