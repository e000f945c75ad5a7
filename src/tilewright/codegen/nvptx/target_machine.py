"""LLVM's NVPTX target: from LLVM IR text to PTX.

The lowering writes straight-line code per register with few memory operations, so a short list of passes does what O3
does, in a fraction of the time. Loops are not unrolled: ptxas does that where it pays.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

from tilewright.codegen.llvm_backend import LlvmError, dumped, machines, parse
from tilewright.codegen.llvm_backend import llvm as _llvm
from tilewright.codegen.nvptx.facts import NvptxFacts
from tilewright.codegen.nvptx.libdevice import PREFIX, LibdeviceNotFoundError, find_libdevice

llvm: Any = _llvm

FLUSH_FLAG = '!{i32 4, !"nvvm-reflect-ftz", i32 1}'
"""Module flag that libdevice asks: its f32 functions may flush subnormals to zero."""

RUNTIME_FUNCTIONS = frozenset({"vprintf", "__assertfail", "malloc", "free", "__nvvm_reflect"})
"""What every device program may call without linking anything."""


@lru_cache(maxsize=1)
def _target() -> Any:
    # Options must be set before the first target machine. Shared memory is addressed with 32 bits; accesses are as
    # wide as they can be when LLVM sees them.
    for option in ("--nvptx-short-ptr", "--disable-nvptx-load-store-vectorizer"):
        llvm.set_option("tilewright", option)
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    return llvm.Target.from_triple("nvptx64-nvidia-cuda")


def create_target_machine(facts: NvptxFacts) -> Any:
    """A fresh LLVM target machine: one per use at a time, as they are not thread-safe."""
    return _target().create_target_machine(cpu=facts.cpu, features=f"+ptx{facts.ptx_version}", opt=2)


def emit_ptx(
    llir: str,
    facts: NvptxFacts,
    *,
    uses_libdevice: bool = False,
    bitcode_paths: Sequence[str] = (),
    verify: bool = False,
    dump: bool = False,
) -> str:
    """The PTX of LLVM IR text; `dump` prints the module (see `dumped`).

    Raises LlvmError with LLVM's message, LibdeviceNotFoundError where that is missing.
    """
    module = parse(llir, verify=verify)
    links = uses_libdevice or bool(bitcode_paths)
    if links:
        link_libraries(module, bitcode_paths)
    with machines.borrow((facts.cpu, facts.ptx_version), partial(create_target_machine, facts)) as machine:
        with dumped(module, dump):
            optimise(module, machine, links=links)
        return _without_debug_target(machine.emit_assembly(module))


class BitcodeError(LlvmError):
    """A file of bitcode that the user named cannot be read or linked, or none defines a function that is called."""

    internal = False


def link_libraries(module: Any, bitcode_paths: Sequence[str]) -> None:
    """Add the definitions of library functions that the module calls: of files in their order, then of libdevice where
    its functions are still missing, those that the files call among them.

    Raises LibdeviceNotFoundError, and BitcodeError for files that cannot be read and functions that nothing defines.
    """
    own = {function.name for function in module.functions if not function.is_declaration}
    for path in bitcode_paths:
        _link(Path(path), _contents(Path(path)), module)
    if missing := [name for name in _undefined(module) if name.startswith(PREFIX)]:
        libdevice = find_libdevice()
        if libdevice is None:
            raise LibdeviceNotFoundError(missing[0])
        _link(libdevice, _definitions(libdevice, frozenset(missing)), module)
    if missing := _undefined(module):
        given = ", ".join(bitcode_paths) or "the option extern_libs names none"
        raise BitcodeError(f"the kernel calls {missing[0]}, which no bitcode defines ({given})")
    _hide_libraries(module, own)


def _undefined(module: Any) -> list[str]:
    """Functions that are declared only."""
    names = [function.name for function in module.functions if function.is_declaration]
    return [name for name in names if not name.startswith("llvm.") and name not in RUNTIME_FUNCTIONS]


def _link(path: Path, contents: bytes, module: Any) -> None:
    library = _parse_bitcode(path, contents, module._context)
    library.data_layout = module.data_layout
    library.triple = module.triple
    try:
        module.link_in(library)
    except RuntimeError as error:
        raise BitcodeError(f"cannot link {path}: {error}") from error


@lru_cache(maxsize=64)
def _definitions(path: Path, names: frozenset[str]) -> bytes:
    """Return bitcode of the functions of a library that have some names, and of what they need. It is linked in a
    millisecond or two; the whole library takes 60 to 90 ms."""
    library = _parse_bitcode(path, _contents(path), llvm.create_context())
    for function in library.functions:
        if not function.is_declaration and function.name not in names:
            function.linkage = "internal"
    manager = llvm.create_new_module_pass_manager()
    manager.add_global_dead_code_eliminate_pass()
    machine = _target().create_target_machine()
    manager.run(library, llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options()))
    return library.as_bitcode()


def _hide_libraries(module: Any, own: set[str]) -> None:
    """Library functions become internal and inlined, so that what is not called goes."""
    for function in module.functions:
        if not function.is_declaration and function.name not in own:
            function.linkage = "internal"
            if not any(b"noinline" in attributes for attributes in function.attributes):
                function.add_function_attribute("alwaysinline")


def _parse_bitcode(path: Path, contents: bytes, context: Any) -> Any:
    try:
        return llvm.parse_bitcode(contents, context)
    except RuntimeError as error:
        raise BitcodeError(f"cannot read bitcode from {path}: {error}") from error


@lru_cache(maxsize=4)
def _contents(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise BitcodeError(f"cannot read bitcode from {path}: {error}") from error


def optimise(module: Any, machine: Any, *, links: bool) -> None:
    """Run the pass list on a module in place; `links` when libraries were linked in."""
    options = llvm.create_pipeline_tuning_options(speed_level=3)
    builder = llvm.create_pass_builder(machine, options)
    manager = llvm.create_new_module_pass_manager()
    if links:
        manager.add_global_dead_code_eliminate_pass()
    manager.add_always_inliner_pass()
    manager.add_sroa_pass()
    manager.add_instruction_combine_pass()
    manager.add_simplify_cfg_pass()
    manager.run(module, builder)


_TARGET_LINE = re.compile(r"^(\.target \S+), debug$", flags=re.M)


def _without_debug_target(ptx: str) -> str:
    """Line tables alone do not make a module for the debugger."""
    return _TARGET_LINE.sub(r"\1", ptx)
