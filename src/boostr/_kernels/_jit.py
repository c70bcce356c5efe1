"""The only callers of Numba's decorators, typed so that kernels keep their signatures.

A kernel is compiled when it is first needed, while somebody waits. Three things make that
take longer than it must:

- Arrays that a kernel allocates. For these Numba counts references to all arrays, which
  takes a quarter of the time. Working space is therefore passed to kernels.
- Kernels that call each other. The compiler takes in all that a kernel calls once more;
  `call_by_address` keeps large ones apart. The code of an `inner_kernel` is optimised and
  translated only as a part of its callers, which saves a sixth.
- Operations between whole arrays, which bring a message about shapes along (4 s), NumPy's
  stable sort (5 s), and, on the way of a first fit, ``min`` and ``max`` (0.2 s for every
  combination of types).

Numba takes a number in the code for a type of its own, and would compile ``f`` twice for
``f(0)`` and ``f(n)``; kernels do not. A number of 32 bits is another type, too, which
``int(np.int64(n))`` changes and ``int(n)`` does not.
"""

from __future__ import annotations

import gc
from collections.abc import Callable
from functools import cache, partial, wraps
from typing import Any, Concatenate, ParamSpec, TypeVar, cast

import numba
from numba._dispatcher import compute_fingerprint
from numba.core import cgutils
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler, Flags
from numba.extending import intrinsic

from boostr._kernels.threads import run_in_parts
from boostr._typing import Address

F = TypeVar("F", bound=Callable[..., Any])
P = ParamSpec("P")
R = TypeVar("R")
types: Any = numba.types  # of arguments
_Library: Any = JITCodeLibrary
_Compiler: Any = Compiler
_Flags: Any = Flags
_allocate: Any = cgutils.alloca_once
Compile = Callable[[Any], Any]  # a kernel for the types of its arguments
Part = tuple[int, int]  # the first individual, and the one after the last

# Steps of the compiler for closures, ``with`` and operations between whole arrays.
_IDLE = {
    "inline_closure_likes",
    "inline_overloads",
    "literal_unroll",
    "make_function_op_code_to_jit_function",
    "nopython_rewrites",
    "with_lifting",
}
_SHARED_FROM = 2_000  # individuals from which waking up threads pays
_PARTS = 4  # of the individuals for each thread: some parts take longer than others

__all__ = [
    "Part",
    "allocating_kernel",
    "call_any_by_address",
    "call_by_address",
    "inlined_kernel",
    "inner_kernel",
    "kernel",
    "shared_kernel",
    "types",
    "wide_kernel",
]


def kernel(function: F) -> F:
    """Compile one serial kernel, which allocates no arrays; it is cached on disk."""
    return _compile(function, _nrt=False)


def wide_kernel(function: F) -> F:
    """Compile one kernel that does the same to neighbouring numbers, several at a time.

    LLVM finds these ("superword-level parallelism"), but Numba does not ask it to. The bits
    stay the same.
    """

    def compile_wide(narrow: Compile, signature: Any) -> Any:
        config: Any = numba.config
        before, config.SLP_VECTORIZE = config.SLP_VECTORIZE, 1
        try:
            return narrow(signature)
        finally:
            config.SLP_VECTORIZE = before

    return cast("F", _change_compilation(kernel(function), compile_wide))


def allocating_kernel(function: F) -> F:
    """Compile one kernel that may allocate arrays, which takes longer."""
    return _compile(function, _nrt=True)


class _QuickFlags(_Flags):  # type: ignore[misc]
    """Options of a compilation, which Numba compares whenever it looks up a function.

    It would look at all of them, also at those that nobody has set: a twentieth of the
    time.
    """

    __slots__ = ()
    _hash = hash(_Flags())

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        own, others = self._values, getattr(other, "_values", {})
        if own.keys() == others.keys():
            return bool(own == others)
        return cast("bool", super().__eq__(other))


class _KernelCompiler(_Compiler):  # type: ignore[misc]
    """The compiler of kernels."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.state.flags = _QuickFlags(self.state.flags)

    def define_pipelines(self) -> list[Any]:
        """Return the usual steps but for those that find nothing to do in kernels."""
        pipelines = super().define_pipelines()
        for pipeline in pipelines:
            pipeline.passes = [
                (step, words) for step, words in pipeline.passes if step.name() not in _IDLE
            ]
            pipeline.finalize()
        return cast("list[Any]", pipelines)


def inner_kernel(function: F) -> F:
    """Compile one kernel that other kernels contain, and that Python never calls."""
    return _compile(
        function,
        _nrt=False,
        no_cpython_wrapper=True,
        pipeline_class=_PartCompiler,
    )


class _Part(_Library):  # type: ignore[misc]
    """Code that other code contains, which is optimised there alone."""

    def _optimize_final_module(self) -> None:
        pass

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._finalized = True

    @property
    def codegen(self) -> _Part:
        """The object whose `set_env` Numba calls."""
        return self

    def set_env(self, *_: Any) -> None:
        """Set nothing: only code that Python calls has an environment."""

    def serialize_using_object_code(self) -> tuple[Any, ...]:
        """Keep what other code can contain, as there is nothing to run."""
        return cast("tuple[Any, ...]", self.serialize_using_bitcode())


class _PartCompiler(_KernelCompiler):
    """The compiler of parts."""

    def define_pipelines(self) -> list[Any]:
        """Return the usual steps, which write a part."""
        state = self.state
        state.library = _Part(state.targetctx.codegen(), state.func_id.func_qualname)
        state.library.enable_object_caching()
        return super().define_pipelines()


def inlined_kernel(function: F) -> F:
    """Compile one kernel as a part of the only other one that calls it, which is faster."""
    jit = numba.njit(nogil=True, error_model="numpy", inline="always")
    return cast("F", jit(function))


def shared_kernel(
    function: Callable[Concatenate[Part, P], None],
) -> Callable[Concatenate[int, P], None]:
    """Compile one kernel for a part of the individuals, so that threads can share them.

    The kernel is called with the number of individuals in the place of the part.
    """
    serial = allocating_kernel(function)

    def run(n: int, *args: P.args, **kwargs: P.kwargs) -> None:
        n_parts = _PARTS * numba.get_num_threads() if n >= _SHARED_FROM else 1
        run_in_parts(n, n_parts, lambda own: serial((own.start, own.stop), *args, **kwargs))

    return cast("Callable[Concatenate[int, P], None]", wraps(function)(run))


def call_by_address(
    kernel: Callable[P, R], *signatures: Any
) -> tuple[Callable[Concatenate[Address, P], R], Callable[..., Address]]:
    """Return how other kernels call a kernel without containing it, and its address.

    Such a kernel is compiled once, and another process may compile it at the same time as
    its caller.

    Parameters
    ----------
    kernel : callable
        The kernel that is called.
    *signatures : numba.core.typing.Signature
        Types of its arguments and of its result, one or several.

    Returns
    -------
    tuple of (callable, callable)
        The call, for kernels alone, whose first argument is an address; and a function
        that returns the address for one of the signatures, given its number. It compiles
        the kernel if need be.
    """
    if not hasattr(kernel, "compile"):  # Numba is switched off
        return cast("Any", _call), lambda number=0: kernel
    known = {signature.args: signature.return_type for signature in signatures}
    call = _make_call(lambda kinds: known[tuple(map(_simplify, kinds))])

    @cache
    def find(number: int = 0) -> int:
        return _compile_apart(kernel, signatures[number].args, signatures[number])

    return call, find


def call_any_by_address(
    kernel: Callable[P, R], result: Any
) -> tuple[Callable[Concatenate[Address, P], R], Callable[P, Address]]:
    """Do the same for all types of arguments, given the type of the result.

    The function that returns the address is given arguments of the kernel.
    """
    if not hasattr(kernel, "compile"):
        return cast("Any", _call), cast("Any", lambda *args: kernel)

    known: dict[bytes, int] = {}  # to find types takes long

    def find(*args: P.args, **_: P.kwargs) -> int:
        mark = compute_fingerprint(cast("Any", args))
        if mark not in known:
            kinds = tuple(map(numba.typeof, args))
            known[mark] = _compile_apart(kernel, kinds, result(*kinds))
        return known[mark]

    return _make_call(lambda kinds: result), find


def _make_call(find_result: Callable[[tuple[Any, ...]], Any]) -> Any:
    """Return how other kernels call a kernel, given the type of what it returns."""

    @intrinsic
    def call(context: Any, address: Any, *args: Any) -> Any:
        del context
        kinds = tuple(map(types.unliteral, args))
        result = find_result(kinds)

        def generate(context: Any, builder: Any, _: Any, values: Any) -> Any:
            function = context.call_conv.get_function_type(result, kinds)
            places = [_allocate(builder, kind.pointee) for kind in function.args[:2]]
            given = [builder.extract_value(values[1], place) for place in range(len(kinds))]
            given = context.get_arg_packer(kinds).as_arguments(builder, given)
            pointer = builder.inttoptr(values[0], function.as_pointer())
            builder.call(pointer, [*places, *given])  # what is returned tells of errors
            returned = builder.load(places[0])
            return context.get_returned_value(builder, result, returned)

        return result(address, types.Tuple(kinds)), generate

    return call


def _compile_apart(kernel: Any, kinds: tuple[Any, ...], signature: Any) -> int:
    """Compile a kernel for types of arguments, and return its address."""
    # By arguments alone, as where Python calls it: what is on disk serves both.
    kernel.compile(kinds)
    found = kernel.overloads[kinds]
    assert found.signature == signature  # noqa: S101 - callers rely on it
    return int(found.library.get_pointer_to_function(found.fndesc.llvm_func_name))


def _call(function: Callable[..., Any], *args: Any) -> Any:
    return function(*args)


def _simplify(kind: Any) -> Any:
    """Return the type of an argument, whatever its value, and whether it may be changed."""
    kind = types.unliteral(kind)
    return kind.copy(readonly=False) if isinstance(kind, types.Array) else kind


def _compile(function: F, **options: Any) -> F:
    make: Any = numba.njit
    options |= {"cache": True, "nogil": True, "error_model": "numpy"}
    options.setdefault("pipeline_class", _KernelCompiler)
    jit = make(no_cfunc_wrapper=True, **options)  # no kernel needs one
    dispatcher = _without_literals(jit(function))
    _change_compilation(dispatcher, partial(_compile_anew, dispatcher))
    return cast("F", _change_compilation(dispatcher, _compile_undisturbed))


def _change_compilation(dispatcher: Any, change: Callable[[Compile, Any], Any]) -> Any:
    """Return the kernel, compiled by ``change(usual, signature)``; usual is Numba's way."""
    usual = getattr(dispatcher, "compile", None)
    if usual is not None:  # there is none where Numba is switched off
        dispatcher.compile = partial(change, usual)
    return dispatcher


def _compile_undisturbed(usual: Compile, signature: Any) -> Any:
    """Compile a kernel with garbage collection paused.

    The compiler creates so many objects that Python would search through them, and through
    those of all libraries, again and again.
    """
    if not gc.isenabled():
        return usual(signature)
    gc.disable()
    try:
        return usual(signature)
    finally:
        gc.enable()


def _compile_anew(dispatcher: Any, usual: Compile, signature: Any) -> Any:
    """Compile a kernel, also if an earlier version of it is on disk.

    Numba notices that it is, but not before it has looked for the types of its arguments,
    which may be gone.
    """
    try:
        return usual(signature)
    except (AttributeError, ImportError):
        dispatcher._cache.flush()
        return usual(signature)


def _without_literals(dispatcher: Any) -> Any:
    """Return the kernel, which other kernels call by types alone, not by values."""
    resolve = getattr(dispatcher, "get_call_template", None)
    unliteral = types.unliteral
    if resolve is not None:  # there is none where Numba is switched off

        def get_call_template(args: Any, kws: Any) -> Any:
            plain = {name: unliteral(own) for name, own in kws.items()}
            return resolve(tuple(unliteral(own) for own in args), plain)

        dispatcher.get_call_template = get_call_template
    return dispatcher
