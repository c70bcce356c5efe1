"""Formulas as MathML, which browsers draw by themselves: no script, no network."""

from docutils import nodes
from docutils.utils.math.latex2mathml import tex2mathml


def _convert(node, **options):
    return tex2mathml(node.astext().replace(r"\dots", r"\ldots"), **options)


def _write_inline(translator, node):
    translator.body.append(_convert(node))


def _write_block(translator, node):
    translator.body.append(f'<div class="math">{_convert(node, as_block=True)}</div>')


def _skip_children(write):
    def visit(translator, node):
        write(translator, node)
        raise nodes.SkipNode

    return visit


def setup(app):
    """Register the renderer, and make it the default."""
    app.add_html_math_renderer(
        "mathml",
        inline_renderers=(_skip_children(_write_inline), None),
        block_renderers=(_skip_children(_write_block), None),
    )
    app.config.html_math_renderer = "mathml"
    return {"parallel_read_safe": True, "parallel_write_safe": True}
