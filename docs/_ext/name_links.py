"""Names of the package in code font lead to their page of the reference.

`BoostR.forecast` becomes a link wherever it stands as code, in Markdown pages and in
docstrings alike; methods of `BoostR` also without the name of the class. Names that are
documented nowhere stay as they are.
"""

import re
from functools import cache

from docutils import nodes
from public_names import find_public_names, list_rooms
from sphinx import addnodes

_NAME = re.compile(r"^([A-Za-z_][\w.]*)(\(.*\))?$", re.DOTALL)


@cache
def _targets():
    """Return the documented name of every way to write a public name."""
    public = find_public_names()
    targets = {room: room for room in list_rooms() if room != "boostr"}
    for name, documented in public.items():
        short = name.rpartition(".")[2]
        targets[name] = documented
        # A plain word, such as `load`, may mean something else, for instance a column.
        if "_" in short or short != short.lower():
            targets.setdefault(short, documented)
    return targets


@cache
def _methods():
    import boostr

    return {name for name in dir(boostr.BoostR) if not name.startswith("_")}


def find_target(text):
    """Return the documented name that code may refer to, or None."""
    match = _NAME.match(text)
    if match is None:
        return None
    name, call = match.groups()
    if name in _methods() and (call or "_" in name.strip("_")):
        return f"boostr.BoostR.{name}"
    head, rest = name, ""
    while head:
        if head in _targets():
            return _targets()[head] + rest
        head, _, tail = head.rpartition(".")
        rest = f".{tail}{rest}"
    return None


def _link_names(app, doctree):
    for code in list(doctree.findall(nodes.literal)):
        target = find_target(code.astext())
        inside = (
            nodes.reference,
            nodes.title,
            addnodes.pending_xref,
            addnodes.desc_signature,
        )
        parent = code.parent
        while parent is not None and not isinstance(parent, inside):
            parent = parent.parent
        if target is None or parent is not None:
            continue
        link = addnodes.pending_xref(
            "",
            refdomain="py",
            reftype="obj",
            reftarget=target,
            refexplicit=True,
            guessed=True,
        )
        code.replace_self(link)
        link += code


@cache
def _aliases():
    """Return the documented name of every public name, short ones included."""
    public = find_public_names()
    return {name.rpartition(".")[2]: shown for name, shown in public.items()} | public


def _resolve(app, env, node, contnode):
    """Resolve other names of what is documented; leave a guess as code where it fails."""
    head, rest = node.get("reftarget", ""), ""
    while head and head not in _aliases():
        head, _, tail = head.rpartition(".")
        rest = f".{tail}{rest}"
    if head and node.get("refdomain") == "py" and not node.get("guessed"):
        place = node.get("refdoc", "")
        return env.domains["py"].resolve_xref(
            env, place, app.builder, "obj", _aliases()[head] + rest, node, contnode
        )
    return contnode if node.get("guessed") else None


def setup(app):
    """Connect to Sphinx."""
    app.connect("doctree-read", _link_names)
    app.connect("missing-reference", _resolve)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
