"""What PyTorch's compiler writes around kernels: launches become sites, `runtime/launch_sites.py`.

Inductor lets back ends choose the class that writes a compiled graph's Python code (`register_backend_for_device`).
Ours is its own class for CPUs, which differs in the calls of Triton kernels of tensors and sizes. PyTorch's caches
hold what it writes, and their keys name no compiler for CPUs: a pass, registered beside the class, puts ours in.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from importlib import import_module
from typing import Any

from tilewright.compat.inductor_cats import compute_cats_where_used
from tilewright.compat.inductor_kernels import compile_for_disjoint_first
from tilewright.compat.inductor_products import file_lowering, fuse_few_rows
from tilewright.compat.inductor_scheduling import scheduling_class
from tilewright.compiler.toolchain import toolchain_fingerprint

KNOWN = ("2.13",)
"""Versions of PyTorch whose kernels get blocks and tiles for a CPU; others get Inductor's own, which are right."""
HEADER = "from tilewright.runtime.launch_sites import launch_site, varying_site"


@lru_cache(maxsize=1)
def use_launch_sites() -> None:
    """Have graphs that are compiled from now on launch Triton kernels on the CPU by sites, where PyTorch's compiler is
    one whose classes are known here and nobody else has put in theirs.
    """
    common = import_module("torch._inductor.codegen.common")
    base = import_module("torch._inductor.codegen.wrapper").PythonWrapperCodegen
    common.init_backend_registration()
    present = common.device_codegens.get("cpu")
    if present is None or present.wrapper_codegen is not base or not hasattr(base, "_generate_kernel_call_helper"):
        return
    compile_for_disjoint_first()
    common.register_backend_for_device(
        "cpu",
        _scheduling(present.scheduling),
        _wrapper_class(base),
        present.cpp_wrapper_codegen,
        present.fx_wrapper_codegen,
        _keyed_pass(common.custom_backend_passes.get("cpu")),
        common.custom_backend_codegen_configs.get("cpu"),
    )


def is_known(version: str) -> bool:
    """Return whether a version of PyTorch, such as ``2.13.0+cpu``, is one whose scheduling is known here."""
    return ".".join(version.split(".")[:2]) in KNOWN


def _scheduling(present: Any) -> Any:
    """Return a function from a scheduler to what writes its kernels: ours where that is Triton for the CPU, and the
    PyTorch is known."""
    config = import_module("torch._inductor.config")
    if not is_known(import_module("torch").__version__):
        return present
    ours = scheduling_class(import_module("torch._inductor.codegen.triton").TritonScheduling)

    def scheduling(scheduler: Any) -> Any:
        return (ours if config.cpu_backend == "triton" else present)(scheduler)

    return scheduling


def _keyed_pass(present: Any) -> Any:
    """Return a pass over graphs that does what the present one does, if any, and says in the keys of PyTorch's caches
    which state of this compiler wrote a graph's code.
    """
    base: Any = import_module("torch._inductor.custom_graph_pass").CustomGraphModulePass
    config = import_module("torch._inductor.config")
    file_lowering()

    class KeyedPass(base):
        """The present pass, and our state in its name."""

        def __call__(self, graph: Any) -> None:
            if present is not None:
                present(graph)
            if config.cpu_backend != "triton":
                return
            rewritten = [rewrite(graph.graph) for rewrite in (fuse_few_rows, compute_cats_where_used)]
            if any(rewritten):
                graph.recompile()

        def uuid(self) -> Any:
            theirs = "" if present is None else present.uuid()
            return None if theirs is None else (toolchain_fingerprint(), theirs)

    return KeyedPass()


def _wrapper_class(base: Any) -> type:
    config, dtype = import_module("torch._inductor.config"), import_module("torch").dtype

    class SiteWrapper(base):
        """Writes the code of a graph whose Triton kernels are launched at sites."""

        sites = 0

        @staticmethod
        def create(is_subgraph: bool, *others: Any, **keywords: Any) -> Any:
            if is_subgraph or config.cpu_backend != "triton" or config.triton.autotune_at_compile_time:
                return base.create(is_subgraph, *others, **keywords)
            return SiteWrapper()

        def _generate_kernel_call_helper(self, kernel_name: str, call_args: Sequence[Any], **facts: Any) -> None:
            sizes = _count_trailing_integers(call_args)
            args: list[str] = self.prepare_triton_kernel_call(call_args)
            tensors, numbers = args[: len(args) - sizes], args[len(args) - sizes :]
            types = (facts.get("arg_types") or ())[: len(tensors)]
            are_tensors = len(types) == len(tensors) and all(isinstance(type, dtype) for type in types)
            is_usual = facts.get("triton", True) and getattr(facts.get("device"), "type", "") == "cpu"
            if not is_usual or not are_tensors or not all(map(_is_name, tensors)):
                as_usual: Any = super()
                as_usual._generate_kernel_call_helper(kernel_name, call_args, **facts)
                return
            self.write_triton_header_once()
            if not self.sites:
                self.imports.writeline(HEADER)
            site, shown = f"site_{self.sites}", "".join(f"{number}, " for number in numbers)
            follows = ", follows=True" if self.sites else ""
            self.sites += 1
            if all(map(str.isdecimal, numbers)):
                self.header.writeline(f"{site} = launch_site(globals(), {kernel_name!r}, ({shown}){follows})")
            else:
                self.header.writeline(f"{site} = varying_site(globals(), {kernel_name!r}{follows})")
                site += f"[({shown})]"
            self.writeline(f"{site}({', '.join(tensors)})")

    return SiteWrapper


def _count_trailing_integers(call_args: Sequence[Any]) -> int:
    """Return how many integers a call ends with: sizes, as numbers or as expressions that each call computes."""
    count = 0
    for arg in reversed(call_args):
        value = getattr(arg, "inner_expr", arg)
        if value.__class__ is not int and not getattr(value, "is_integer", False):
            break
        count += 1
    return count


def _is_name(shown: str) -> bool:
    """Return whether an argument is a variable of the code or a view of one."""
    return shown.isidentifier() or shown.startswith("reinterpret_tensor(")
