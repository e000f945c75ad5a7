"""`%%tilewright` in a notebook: runs the cell, and shows the explorer's page of a kernel below it.

`%load_ext tilewright` makes the magic known.
"""

from __future__ import annotations

import argparse
import ast
import inspect
import shlex
from html import escape
from importlib import import_module
from typing import Any, NoReturn

from tilewright.runtime.interface import KernelInterface
from tilewright.runtime.jit import JITFunction
from tilewright.support.errors import TilewrightError
from tilewright.support.records import dataclass
from tilewright.tools.command_parser import CommandParser
from tilewright.tools.explore.page import render_page
from tilewright.tools.explore.recording import Recording, record
from tilewright.tools.explore.sources import choose_launch, find_named_target
from tilewright.tools.validation.file_launches import distinct_launches, made_up_launches, recording_launches
from tilewright.tools.validation.launches import Launch

HEIGHT = 640
"""Height of the page in CSS pixels, unless `--height` says another."""


class MagicError(TilewrightError):
    """The line of a `%%tilewright` cannot be understood."""


@dataclass(frozen=True)
class InlinePage:
    """A recording as a notebook shows it: in a frame of its own, whose styles and scripts see nothing of the notebook
    and are not seen by it."""

    recording: Recording
    height: int

    def _repr_html_(self) -> str:
        page = escape(render_page(self.recording))
        title = escape(f"{self.recording.kernel.name} for {self.recording.kernel.target}")
        style = f"width:100%;height:{self.height}px;border:0"
        return f'<iframe title="{title}" sandbox="allow-scripts" style="{style}" srcdoc="{page}"></iframe>'

    def __repr__(self) -> str:
        kernel, steps = self.recording.kernel, len(self.recording.steps)
        return f"<page of kernel {kernel.name} for {kernel.target}: {steps} steps; notebooks show it>"


class _MagicParser(CommandParser):
    def error(self, message: str) -> NoReturn:
        raise MagicError(f"%%tilewright: {message}\n{self.format_usage().rstrip()}")


def _parser() -> argparse.ArgumentParser:
    parser = _MagicParser("%%tilewright", add_help=False)
    parser.add_argument("kernel", nargs="?", help="name of the kernel (default: the first that the cell launches)")
    parser.add_argument("--height", type=int, default=HEIGHT, help=f"of the page, in pixels (default {HEIGHT})")
    parser.add_argument("--target", "-t", default="cpu", help="cpu (this machine's), cpu:x86-64-v3, cuda, cuda:90 ...")
    return parser


def register(shell: Any) -> None:
    """Give IPython's shell the cell magic."""

    def tilewright(line: str, cell: str) -> InlinePage:
        __tracebackhide__ = True
        return show_cell(shell, line, cell)

    tilewright.__doc__ = f"{__doc__}\n\n{_parser().format_help()}"
    shell.register_magic_function(tilewright, "cell", "tilewright")


def show_cell(shell: Any, line: str, cell: str) -> InlinePage:
    """Run a cell in the notebook's namespace and record what becomes of one of its kernels.

    That is the one that `line` names, else the first that the cell launches, else the first that it defines, for types
    that are made up. What the cell raises leaves as it is. Raises MagicError, ExploreError, TargetError, and what the
    front end raises.
    """
    __tracebackhide__ = True
    options = _parser().parse_args(shlex.split(line))
    target, arch = find_named_target(options.target)
    launches: list[Launch] = []
    with recording_launches(launches):
        code = _run(shell, line, cell)
    found = list(distinct_launches(launches))
    if not found:
        defined = {name: value for name, value in shell.user_ns.items() if _is_from(value, code)}
        found = list(made_up_launches(defined))
    chosen = choose_launch(found, options.kernel or "", "the cell")
    launch = chosen.launch.for_architecture(arch)
    return InlinePage(record(launch.source, launch.options, target, chosen.real_launch), options.height)


def _run(shell: Any, line: str, cell: str) -> str:
    """Run the cell as IPython would, with the value of a last expression displayed; the file name of its code.

    A comment stands for the line of the magic, so that errors and the page count lines as the notebook does.
    """
    __tracebackhide__ = True
    text = f"# %%tilewright {line}\n{cell}"
    code = shell.transform_cell(text)
    filename: str = shell.compile.cache(code, _number_of_cell(shell), raw_code=text)
    statements = ast.parse(code, filename).body
    last = statements.pop() if statements and isinstance(statements[-1], ast.Expr) else None
    exec(compile(ast.Module(statements, []), filename, "exec"), shell.user_ns)
    if isinstance(last, ast.Expr):
        value = eval(compile(ast.Expression(last.value), filename, "eval"), shell.user_ns)
        if value is not None:
            import_module("IPython.display").display(value)
    return filename


def _number_of_cell(shell: Any) -> int:
    """The 7 of `In[7]`, the cell that is run: the shell's own count is ahead of it in some versions of IPython."""
    frame = inspect.currentframe()
    while frame is not None:
        if (said := shell.compile.format_code_name(frame.f_code.co_filename)) is not None:
            return int(said[1].removeprefix("In[").removesuffix("]"))
        frame = frame.f_back
    return shell.execution_count


def _is_from(value: Any, filename: str) -> bool:
    """Return whether a value is a kernel of that file, be it inside of a tuner."""
    while isinstance(value, KernelInterface) and not isinstance(value, JITFunction):
        value = getattr(value, "fn", None)
    return isinstance(value, JITFunction) and value.fn.__code__.co_filename == filename
