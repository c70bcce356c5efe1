"""The application: one module per command, and errors as messages."""

from __future__ import annotations

import _thread
import importlib
import os
import signal
import sys
import threading
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Annotated, Any

import typer
from typer.core import TyperGroup
from typer.main import get_command

import boostr
from boostr._command import INTERRUPTED
from boostr.cli._output import echo
from boostr.exceptions import BoostrError

__all__ = ["app"]

# Command ``x`` is the function ``x`` of the module ``_x``, imported when it is run.
_COMMANDS = {  # name: what it does, an example
    "demo": (
        (
            "Simulate a fleet of wells with sensors, learn from it, and forecast its "
            "failures."
        ),
        "boostr demo --out demo",
    ),
    "fit": (
        ("Learn from event histories how many events each individual will have, and when."),
        "boostr fit events.csv --static pumps.csv --out pumps.boostr",
    ),
    "forecast": (
        "Forecast events from each individual's own present, most at risk first.",
        (
            "boostr forecast pumps.boostr events.csv --static pumps.csv --horizon 90 "
            "--out next.csv"
        ),
    ),
    "evaluate": (
        "Compare what a model expects with what happened.",
        (
            "boostr evaluate pumps.boostr new.csv --static new_pumps.csv --as-of "
            "2024-06-30 --horizon 90"
        ),
    ),
    "backtest": (
        "Refit models as of past times, and compare their forecasts with what came.",
        (
            "boostr backtest events.csv --static pumps.csv --as-of 2024-01-31 --as-of "
            "2024-04-30 --horizon 90 --out table.csv"
        ),
    ),
    "report": (
        "Write a page that opens offline: who is at risk, why, how good the model is.",
        (
            "boostr report pumps.boostr events.csv --static pumps.csv --horizon 90 "
            "--out report.html"
        ),
    ),
    "reproduce": (
        "Make a page with the figures of the paper, ours, and those of the baselines.",
        "boostr reproduce A kelly --quick --out reproduction",
    ),
}
_AS_IT_IS = "\b\n"  # keeps the lines of a paragraph of help


class _Commands(TyperGroup):
    """A group of commands that shows errors as messages and warnings as lines."""

    def invoke(self, ctx: Any) -> Any:
        with _noted_interrupts() as seen, _messages(seen), warnings.catch_warnings():
            warnings.showwarning = _warner()
            return super().invoke(ctx)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        name, command, rest = super().resolve_command(ctx, args)
        return name, _import_command(name) if name else command, rest


@contextmanager
def _messages(interrupts: Sequence[int]) -> Iterator[None]:
    """Exit with status 2 for bad input, 1 for a bug in boostr, 130 if interrupted."""
    try:
        yield
    except BrokenPipeError:  # the reader of the output has closed it
        raise
    except BaseException as error:
        if interrupts or _is_interrupt(error):
            echo("Stopped.")
            raise typer.Exit(code=INTERRUPTED) from error
        told = _tell(error)
        if told is None or _TRACEBACK in os.environ:
            raise
        echo(told[0])
        raise typer.Exit(code=told[1]) from error


_TRACEBACK = "BOOSTR_TRACEBACK"
_PAUSE = 0.05  # seconds, in which a callback returns


@contextmanager
def _noted_interrupts() -> Iterator[list[int]]:
    """Note interrupts, and repeat one that came where Python cannot raise.

    LLVM calls back into Python while it loads a kernel; an exception there is only shown.
    Libraries make errors of their own of others.
    """
    seen: list[int] = []
    hook, handler = sys.unraisablehook, signal.getsignal(signal.SIGINT)
    is_usual = handler is signal.default_int_handler
    is_usual &= threading.current_thread() is threading.main_thread()

    def note(number: int, frame: Any) -> None:
        seen.append(number)
        signal.default_int_handler(number, frame)

    def repeat(unraisable: Any) -> None:
        if not issubclass(unraisable.exc_type, KeyboardInterrupt):
            hook(unraisable)
            return
        again = threading.Timer(_PAUSE, _thread.interrupt_main)
        again.daemon = True
        again.start()

    if is_usual:
        signal.signal(signal.SIGINT, note)
    sys.unraisablehook = repeat
    try:
        yield seen
    finally:
        sys.unraisablehook = hook
        if is_usual:
            signal.signal(signal.SIGINT, handler)


def _is_interrupt(error: BaseException) -> bool:
    """Return whether the user stopped the run, also if a library wrapped it in an error."""
    cause: BaseException | None = error
    while cause is not None and not isinstance(cause, KeyboardInterrupt):
        cause = cause.__cause__ or cause.__context__
    return cause is not None


def _tell(error: BaseException) -> tuple[str, int] | None:
    """Return message and status of an error; None for those that typer shows."""
    if isinstance(error, (BoostrError, UnicodeError, ValueError)):
        return f"error: {error}", 2
    if isinstance(error, OSError):
        where = f"{error.filename!r}: " if error.filename else ""
        return f"error: {where}{error.strerror or error}", 2
    if isinstance(error, MemoryError):
        return "error: there is not enough memory for these data", 2
    polars = sys.modules.get("polars")
    if polars is not None and isinstance(error, polars.exceptions.PolarsError):
        return f"error: {error}", 2
    # Panics of polars are no exceptions; usage errors of typer show themselves.
    is_panic = type(error).__name__ == "PanicException"
    is_shown = hasattr(error, "exit_code") or isinstance(error, typer.Abort)
    if is_shown or not (is_panic or isinstance(error, Exception)):
        return None
    return (
        f"error: something went wrong in boostr itself ({type(error).__name__}: {error})."
        f"\n\nHint: {_TRACEBACK}=1 in the environment shows where; please report it.",
        1,
    )


def _warner() -> Any:
    """Return a function that shows each warning once, as a line."""
    shown = set()

    def show(message: Warning | str, *_where: Any, **_more: Any) -> None:
        if str(message) not in shown:
            shown.add(str(message))
            echo(f"warning: {message}")

    return show


def _show_version(is_asked: bool) -> None:
    if is_asked:
        typer.echo(f"boostr {boostr.__version__}")
        raise typer.Exit


def _describe(
    _version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Version."),
    ] = False,
) -> None:
    """Boosted trees for recurrent events: how many each individual will have, and when."""


def _import_command(name: str) -> Any:
    """Return the command that runs, with its options."""
    module = importlib.import_module(f"boostr.cli._{name}")
    single = typer.Typer(rich_markup_mode=None, pretty_exceptions_enable=False)
    epilog = f"{_AS_IT_IS}Example:\n  {_COMMANDS[name][1]}"
    single.command(name, epilog=epilog)(getattr(module, name))
    return get_command(single)


def _make_app() -> typer.Typer:
    """Return the application, which knows of each command what its own help shows."""
    examples = "\n".join(f"  {example}" for _, example in _COMMANDS.values())
    made = typer.Typer(
        cls=_Commands,
        no_args_is_help=True,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
        epilog=f"{_AS_IT_IS}Examples:\n{examples}",
    )
    made.callback()(_describe)
    for name, (summary, _) in _COMMANDS.items():
        made.command(name, help=summary)(lambda: None)
    return made


app = _make_app()
