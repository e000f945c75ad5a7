"""The public names of official Triton 3.9 and 3.6, module by module: each is there, or listed here with the reason."""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from functools import cache, partial
from typing import Any

import numpy as np
import pytest

import tilewright
import tilewright.language as tl
from suite import official_packages
from tilewright import compat

OFFICIAL = """
import importlib, json, pkgutil, sys, types
import triton

def names(module, is_package):
    for name, value in vars(module).items():
        if name.startswith("_") or name in ("T", "F"):
            continue
        if isinstance(value, types.ModuleType):
            if is_package and value.__name__.startswith(module.__name__ + "."):
                yield name
            continue
        home = getattr(value, "__module__", None)
        if isinstance(value, type) or callable(value):
            if home == module.__name__ or is_package and str(home).startswith("triton"):
                yield name

found = {"triton": sorted(names(triton, True))}
for entry in pkgutil.walk_packages(triton.__path__, "triton."):
    if not any(entry.name == absent or entry.name.startswith(absent + ".") for absent in sys.argv[1:]):
        module = importlib.import_module(entry.name)
        found[entry.name] = sorted(names(module, entry.ispkg))
print(json.dumps(found))
"""

ABSENT_MODULES = {
    "triton._compile_warmup": "private; a plug-in of pytest for Triton's own tests",
    "triton._compile_warmup_pool": "private",
    "triton._compile_warmup_state": "private",
    "triton._filecheck": "private",
    "triton._instrumentation": "private",
    "triton._internal_testing": "private",
    "triton._test_runner": "private",
    "triton.backends.amd": "there is no target for AMD's GPUs",
    "triton.backends.driver": "bases of Triton's own back ends; ours are targets, third parties' come by entry points",
    "triton.backends.nvidia": "the back end itself: its place is taken by targets/cuda",
    "triton.compiler.code_generator": "the front end itself: its place is taken by frontend/",
    "triton.compiler.make_launcher": "empty",
    "triton.experimental.gluon._compiler": "empty",
    "triton.experimental.gluon._runtime": "private; triton.experimental.gluon has what it exports",
    "triton.experimental.gluon.language._core": "private; gluon.language has what it exports",
    "triton.experimental.gluon.language._layouts": "private; gluon.language has what it exports",
    "triton.experimental.gluon.language._math": "private; gluon.language has what it exports",
    "triton.experimental.gluon.language._semantic": "private",
    "triton.experimental.gluon.language._standard": "private; gluon.language has what it exports",
    "triton.experimental.gluon.language.amd._layouts": "private; gluon.language.amd has what it exports",
    "triton.experimental.gluon.language.amd._ops": "private",
    "triton.experimental.gluon.language.amd.cdna5._layouts": "private; gluon.language.amd.cdna5 has what it exports",
    **{f"triton.experimental.gluon.language.amd.gfx1250.{name}": "gfx1250 has it as an attribute, as in 3.9"
       for name in ("async_copy", "mbarrier", "tdm")},
    "triton.experimental.gluon.language.amd.slice": "gluon.language.amd has the function of that name",
    "triton.experimental.gluon.language.fpsan": "a sanitizer of Triton's own",
    "triton.experimental.gluon.language.nvidia.blackwell.float2": "there is no target for Blackwell",
    "triton.experimental.gsan": "the check of races is a sanitizer of every target",
    "triton.instrumentation": "parts of the compiler that official Triton is built of",
    "triton.language.semantic": "the front end itself: its place is taken by language/",
    "triton.plugins": "passes are added by entry points",
    **dict.fromkeys(
        [f"triton.profiler.{name}" for name in ("_rocm", "context", "data", "flags", "hooks", "metric", "profile",
                                                "proton", "scope", "specs", "state", "viewer")],
        "the profiler itself; what it exports is in triton.profiler"),
    "triton.runtime.build": "compiles Triton's drivers in C++; there are none",
    "triton.tools.build_extern": "writes Triton's own libdevice.py",
    "triton.tools.gsan": "the check of races is a sanitizer of every target",
    "triton.tools.triton_to_gluon_translater": "rewrites programs; both languages are compiled",
    "triton.tools.triton_to_gluon_translator": "rewrites programs; both languages are compiled",
}  # fmt: skip

_FRONT_END = "a part of the front end that programs have no use for"
_SPECIALISATION = "a part of argument specialisation that programs have no use for"
_SWITCHES = "the classes of Triton's switches; the switches themselves are all there (test_triton_knobs.py)"
_INTERPRETER = "a part of the interpreter; interpreted kernels run on the reference engine"

_BY_CHANCE = "imported there by chance"

ABSENT = {
    "triton.experimental.gluon.language": {"fpsan": "a sanitizer of Triton's own"},
    "triton.experimental.gluon.language.amd": {"builtin": _BY_CHANCE},
    **{f"triton.experimental.gluon.language.amd.{name}": dict.fromkeys(("builtin", *more), _BY_CHANCE)
       for name, more in (("cdna3", ()), ("cdna4", ("DotOperandLayout", "constexpr_function")),
                          ("cdna5", ("constexpr_function", "tensor")), ("gfx1250", ("constexpr_function",)),
                          ("rdna3", ()), ("rdna4", ()))},
    "triton.experimental.gluon.language.nvidia.ampere": dict.fromkeys(
        ("DotOperandLayout", "constexpr_type"), "imported there by chance"),
    "triton.experimental.gluon.language.nvidia.hopper": {
        "unflatten_ir_values": "imported by chance"},
    "triton.experimental.gluon.language.nvidia.blackwell": dict.fromkeys(
        ("SharedLinearLayout", "base_type", "base_value", "builtin", "constexpr_function"),
        "imported there by chance"),
    "triton.experimental.gluon.language.nvidia.rubin": {"builtin": "imported there by chance"},
    "triton._utils": dict.fromkeys(
        ("apply_with_path", "canonicalize_dtype", "canonicalize_ptr_dtype", "get_primitive_bitwidth", "is_iterable",
         "is_namedtuple", "is_power_of_two", "prewarm_deprecation_warnings", "set_iterable_path",
         "validate_block_shape", "warn_once"), "private; PyTorch uses the others"),
    "triton.backends": {"amd": "there is no target for AMD's GPUs", "nvidia": "see ABSENT_MODULES",
                        "driver": "see ABSENT_MODULES"},
    "triton.backends.compiler": {"Language": "`kernel.is_gluon()` says it"},
    "triton.compiler": {"get_cache_key": "`kernel.hash` is the key"},
    "triton.compiler.compiler": dict.fromkeys(
        ("AsmDict", "CompileTimer", "convert_type_repr", "filter_traceback", "parse"),
        "a part of the compiler's driver"),
    "triton.knobs": dict.fromkeys(
        ("AutotuneListener",
         "BuildImpl", "CompilationListener", "InitHandleHook", "JITHook", "JITHookCompileInfo", "LaunchHook",
         "PipelineStagesHook", "amd_knobs", "autotuning_knobs", "base_knobs", "build_knobs", "cache_knobs",
         "compilation_knobs", "env_base", "env_bool", "env_class", "env_int", "env_nvidia_tool", "env_opt_bool",
         "env_opt_str", "env_str", "env_str_callable_default", "language_knobs", "nvidia_knobs", "proton_knobs",
         "redis_knobs", "runtime_knobs", "setenv", "toenv"), _SWITCHES),
    "triton.language": {"semantic": "see ABSENT_MODULES"},
    "triton.language.core": dict.fromkeys(
        ("binary_op_type_legalization", "builtin_max", "builtin_min", "check_bit_width", "dataclass_transform",
         "dispatch", "is_negative_zero",
         "tensor_descriptor_base", "tensor_descriptor_base_type"), _FRONT_END),
    "triton.language.extra": {"module": "what is left of a loop"},
    "triton.language.extra.cuda": dict.fromkeys(
        ("convert_custom_float8_sm70", "convert_custom_float8_sm80"), "conversions of fp8e4b15 by Triton's compiler"),
    "triton.language.extra.cuda.utils": dict.fromkeys(
        ("convert_custom_float8", "convert_custom_float8_sm70", "convert_custom_float8_sm80",
         "convert_float16_to_fp8e4b15", "convert_fp8e4b15_to_float16"), "conversions of fp8e4b15 by Triton's compiler"),
    "triton.language.standard": {"sort_impl": "`tl.sort` and `tl.topk` are made of it"},
    "triton.profiler": dict.fromkeys(
        ("context", "data", "flags", "hooks", "metric", "specs"), "see ABSENT_MODULES") | dict.fromkeys(
        ("configure_runtime", "metadata_state"), "parts of the profiler itself"),
    "triton.profiler.language": dict.fromkeys(
        ("Event", "allocate_event", "end_event", "record", "record_event", "scope",
         "start_event"), "marks inside of kernels of Gluon"),
    "triton.profiler.mode": dict.fromkeys(
        ("Default", "InstrumentationMode", "MMA", "Optimize"), "ways of recording marks inside of kernels"),
    "triton.runtime": {"build": "see ABSENT_MODULES"},
    "triton.runtime._allocation": dict.fromkeys(
        ("Buffer", "has_profile_allocator", "set_profile_allocator"), "private; there are no profile buffers"),
    "triton.runtime.driver": {"DriverConfig": "`triton.runtime.driver` is it"},
    "triton.runtime.interpreter": dict.fromkeys(
        ("ASTTransformer", "BlockPointerHandle", "ExtraFunctions", "FunctionRewriter", "GridExecutor",
         "InterpreterBuilder", "InterpreterOptions", "ReduceOps", "ReduceScanOpInterface", "ScanOps",
         "TensorDescHandle", "TensorHandle"), _INTERPRETER),
    "triton.runtime.jit": dict.fromkeys(
        ("BoundConstexprFunction", "DependenciesFinder", "JitFunctionInfo", "KernelParam",
         "convert_to_tuple_if_list", "create_function_from_signature", "get_def_col_number", "get_def_line_number",
         "get_full_name", "get_jit_fn_file_line",
         "serialize_specialization_data"), _SPECIALISATION),
    "triton.testing": {"cublas": "what is left of a helper",
                       "do_bench_cudagraph_proton": "`do_bench_cudagraph`; the profiler measures nothing else",
                       "do_bench_proton": "`do_bench`; the profiler measures nothing else",
                       "cuda_memcheck": "TILEWRIGHT_SANITIZE and the target cuda_sim check accesses",
                       "set_gpu_clock": "nobody's GPU clocks are changed"},
    "triton.tools": dict.fromkeys(("LinearLayout",), "`tilewright.layouts.linear.LinearLayout`, with more operations"),
    "triton.tools.disasm": dict.fromkeys(("parseCtrl", "processSassLines"), "parts of get_sass"),
    "triton.tools.link": dict.fromkeys(
        ("HeaderParser", "KernelLinkerMeta", "gen_signature", "gen_signature_with_full_args", "make_algo_decls",
         "make_default_algo_kernel", "make_func_pointers", "make_get_num_algos_decl", "make_get_num_algos_def",
         "make_global_decl", "make_kernel_hints_dispatcher", "make_kernel_load_def",
         "make_kernel_meta_const_dispatcher"), "parts of the command"),
}  # fmt: skip


@cache
def official_names(version: str) -> dict[str, list[str]]:
    command = [sys.executable, "-W", "ignore", "-c", OFFICIAL, *ABSENT_MODULES]
    environment = official_packages.environment(version)
    answer = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    return json.loads(answer.stdout)


def check_names(version: str) -> None:
    """Every public name of a version of official Triton is there, or listed."""
    missing: dict[str, set[str]] = {}
    listed: dict[str, set[str]] = {}
    with compat.standing_in():
        for module, names in official_names(version).items():
            ours = importlib.import_module(module)
            missing[module] = {name for name in names if not hasattr(ours, name)}
            listed[module] = set(names).intersection(ABSENT.get(module, ()))
    assert missing == listed


@pytest.mark.costly
@pytest.mark.needs("triton-3.9")
def test_every_public_name_of_the_newest_triton_is_there_or_listed() -> None:
    check_names(official_packages.NEWEST)


@pytest.mark.costly
@pytest.mark.needs("triton-3.6")
def test_every_public_name_of_the_oldest_triton_is_there_or_listed() -> None:
    check_names(official_packages.OLDEST)


@pytest.mark.costly
@pytest.mark.needs("triton-3.6", "triton-3.9")
def test_every_name_that_is_listed_is_one_of_theirs() -> None:
    versions = [official_names(version) for version in (official_packages.OLDEST, official_packages.NEWEST)]
    for module, names in ABSENT.items():
        assert set(names) <= {name for found in versions for name in found.get(module, ())}, module


def test_modules_that_are_listed_as_absent_are() -> None:
    with compat.standing_in():
        for module in ABSENT_MODULES:
            with pytest.raises(ModuleNotFoundError):
                importlib.import_module(module)


@tilewright.jit
def fill(x_ptr, VALUE: tl.constexpr, N: tl.constexpr):
    tl.store(x_ptr + tl.arange(0, N), tl.full((N,), VALUE, tl.float32))


def test_compiling_in_threads() -> None:
    x = np.zeros(64, np.float32)
    with ThreadPoolExecutor(2) as pool, tilewright.AsyncCompileMode(pool):
        futures = [fill.warmup(np.float32, VALUE=value, N=64, grid=(1,)) for value in range(3)]
        assert all(isinstance(future, tilewright.FutureKernel) for future in futures)
        with pytest.raises(RuntimeError, match="active already"), tilewright.AsyncCompileMode(pool):
            pass
        fill[(1,)](x, VALUE=2, N=64)
    assert (x == 2).all()
    for value, future in enumerate(futures):
        future.result()[(1, 1, 1)](x, value, 64)
        assert (x == value).all()


class Later(Executor):
    """Runs nothing before it is told to."""

    def __init__(self) -> None:
        self.waiting: list[tuple[Future[Any], Callable[[], Any]]] = []

    def submit(self, fn: Callable[..., Any], /, *args: Any, **keywords: Any) -> Future[Any]:
        future: Future[Any] = Future()
        self.waiting.append((future, partial(fn, *args, **keywords)))
        return future

    def run(self) -> None:
        while self.waiting:
            future, task = self.waiting.pop(0)
            if future.set_running_or_notify_cancel():
                future.set_result(task())


def test_what_is_asked_for_twice_is_compiled_once() -> None:
    pool = Later()
    with tilewright.AsyncCompileMode(pool):
        first = fill.warmup(np.float32, VALUE=1, N=64, grid=(1,))
        assert fill.warmup(np.float32, VALUE=1, N=64, grid=(1,)) is first
        assert fill.warmup(np.float16, VALUE=1, N=64, grid=(1,)) is not first and len(pool.waiting) == 2
        pool.run()
        assert first is not None and "tt.store" in first.asm["ttir"]


def test_an_error_ends_compiling_in_threads() -> None:
    """Where the executor runs nothing any more, there is nothing to wait for."""
    pool = Later()
    with pytest.raises(KeyError), tilewright.AsyncCompileMode(pool):
        fill.warmup(np.float32, VALUE=5, N=64, grid=(1,))
        raise KeyError
    pool.run()


def test_errors_of_compiling_in_threads() -> None:
    futures: list[tilewright.FutureKernel] = []
    with ThreadPoolExecutor(1) as pool:
        with pytest.raises(tilewright.CompilationError), tilewright.AsyncCompileMode(pool):
            futures.append(fill.warmup(np.float32, VALUE=1, N=63, grid=(1,)))
        assert [future.result(ignore_errors=True) for future in futures] == [None]
        with tilewright.AsyncCompileMode(pool, ignore_errors=True):
            fill.warmup(np.float32, VALUE=1, N=63, grid=(1,))
