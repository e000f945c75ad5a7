"""The launches that a Python file makes or asks for, so that tools can repeat them.

They are those of the file's `tilewright_inputs()`, which returns `(kernel, grid, keywords)` or a list of these; else
those that the file makes while it is imported; else they are made up from the parameters of its kernels.
"""

from __future__ import annotations

import ast
import contextlib
import io
import sys
from collections.abc import Generator, Iterable, Iterator, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any, TypeGuard

from tilewright.runtime.interface import KernelInterface
from tilewright.runtime.jit import JITFunction
from tilewright.support.errors import TilewrightError
from tilewright.support.records import dataclass
from tilewright.tools.user_files import UserFileError, load_file, users_errors
from tilewright.tools.validation.compare import Tolerance
from tilewright.tools.validation.launches import Launch, record_launch
from tilewright.tools.validation.made_up import made_up_arguments
from tilewright.tools.validation.observer import FLOATS

GIVEN = "tilewright_inputs"


@dataclass(frozen=True)
class FileLaunch:
    """A launch of a file's, and how exact its results are to be."""

    launch: Launch
    tolerance: Tolerance = FLOATS
    is_made_up: bool = False

    @property
    def real_launch(self) -> Launch | None:
        """The launch, where its arguments are the file's own."""
        return None if self.is_made_up else self.launch


def find_launches(path: Path, *, as_main: bool = False) -> Iterator[FileLaunch]:
    """The launches of a file, each once per kernel and specialisation; with `as_main`, of what stands under `if
    __name__ == "__main__"`, too."""
    recorded: list[Launch] = []
    with recording_launches(recorded), contextlib.redirect_stdout(io.StringIO()):
        module = load_file(path, as_main=as_main)
    if hasattr(module, GIVEN):
        arguments = getattr(module, "ARGUMENTS", None)
        exact = Tolerance(absolute={a.name: a.slack for a in arguments}) if arguments else FLOATS
        for launch in given_launches(path, module):
            yield FileLaunch(launch, exact)
    else:
        yield from distinct_launches(recorded) if recorded else made_up_launches(vars(module))


def distinct_launches(recorded: Iterable[Launch]) -> Iterator[FileLaunch]:
    """The first of the launches of each kernel and specialisation."""
    seen: set[tuple[str, str]] = set()
    for launch in recorded:
        key = (launch.name, launch.source.identity())
        if key not in seen:
            seen.add(key)
            yield FileLaunch(launch)


def made_up_launches(names: Mapping[str, Any]) -> Iterator[FileLaunch]:
    """A launch of each kernel among the values of some names, with arguments from its text; says on the error stream
    which have none."""
    for kernel, constants in kernels_of(names):
        try:
            launch = record_launch(kernel, (2,), (), made_up_arguments(kernel, constants))
        except TilewrightError as error:
            print(f"{kernel.fn.__name__}: left out: {error}", file=sys.stderr)
        else:
            yield FileLaunch(launch, is_made_up=True)


def kernels_of(names: Mapping[str, Any]) -> list[tuple[JITFunction, dict[str, Any]]]:
    """The kernels of a module or another namespace, out of their autotuners and heuristics, each with the constants of
    the first configuration. Functions that another one calls are none."""
    found: dict[JITFunction, dict[str, Any]] = {}
    for value in names.values():
        kernel: Any = value
        constants: dict[str, Any] = {}
        while isinstance(kernel, KernelInterface) and not isinstance(kernel, JITFunction):
            configurations = getattr(kernel, "configs", ())
            constants |= dict(configurations[0].kwargs) if configurations else {}
            kernel = getattr(kernel, "fn", None)
        if isinstance(kernel, JITFunction):
            found.setdefault(kernel, constants)
    called = {name for kernel in found for name in _called_names(kernel)}
    return [(kernel, constants) for kernel, constants in found.items() if kernel.fn.__name__ not in called]


def _called_names(kernel: JITFunction) -> Iterator[str]:
    for node in ast.walk(ast.parse(kernel.source.text)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            yield node.func.id


def given_launches(path: Path, module: ModuleType) -> Iterator[Launch]:
    """Those of a file's `tilewright_inputs()`. Raises UserFileError where that is missing, fails, or returns something
    else."""
    if not hasattr(module, GIVEN):
        raise UserFileError(f"{path} has no {GIVEN}()")
    with users_errors(f"{path}: {GIVEN}() fails"):
        inputs: Any = getattr(module, GIVEN)()
    given: list[Any] = inputs if isinstance(inputs, list) else [inputs]  # pyright: ignore[reportUnknownVariableType]
    for one in given:
        if not _is_launch(one):
            raise UserFileError(
                f"{path}: {GIVEN}() is to return (kernel, grid, keywords), or a list of these, not {one!r:.80}"
            )
        kernel, grid, keywords = one
        yield record_launch(kernel, grid, (), dict(keywords))


def _is_launch(given: Any) -> TypeGuard[tuple[JITFunction, Any, Mapping[str, Any]]]:
    match given:
        case (JITFunction(), _, Mapping()):
            return True
        case _:
            return False


@contextlib.contextmanager
def recording_launches(launches: list[Launch]) -> Generator[None]:
    """Note every launch that happens, just before it does."""
    original = JITFunction.run

    def run(self: JITFunction, *args: Any, grid: Any, warmup: bool = False, **keywords: Any) -> Any:
        if not warmup:
            launches.append(record_launch(self, grid, args, keywords))
        return original(self, *args, grid=grid, warmup=warmup, **keywords)

    JITFunction.run = run
    try:
        yield
    finally:
        JITFunction.run = original
