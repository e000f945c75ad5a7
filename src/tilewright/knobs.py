"""`triton.knobs`: every switch of Triton 3.6 to 3.9 under its name there.

    tilewright.knobs.runtime.debug = True
    tilewright.knobs.runtime.launch_enter_hook.add(lambda metadata: print(metadata.get()["name"]))
    with tilewright.knobs.autotuning.scope():
        tilewright.knobs.autotuning.print = True

Most are views of the one table of switches (`tilewright knobs` lists it). Those of other back ends, and of what is done
in another way here, have no effect and keep what they are set to; where a program would not get what it asks for,
setting them is a KnobError that says what to use. docs/switches.md lists all of them.
"""

from __future__ import annotations

import os
import re
import subprocess
from functools import lru_cache, partial
from importlib import import_module
from pathlib import Path

from tilewright.support import cache_managers
from tilewright.support import knobs as table
from tilewright.support.disk_cache import cache_directory_or_temporary
from tilewright.support.errors import NoAssemblerError
from tilewright.support.hook_chain import HookChain
from tilewright.support.knob_groups import Derived, Env, Group, Hooks, Ignored, Refused, Shared, Variable, env
from tilewright.support.late import late_names
from tilewright.support.records import dataclass

__all__ = [
    "Env", "NvidiaTool", "amd", "autotuning", "build", "cache", "compilation", "env", "language", "nvidia", "proton",
    "redis", "refresh_knobs", "runtime",
]  # fmt: skip

HOOKS = "tilewright.runtime.hooks"
LISTENING = "tilewright.compiler.listening"
NO_OPTIMISATION = "-O0"


@dataclass(frozen=True)
class NvidiaTool:
    """A program of the CUDA toolkit."""

    path: str
    version: str

    @staticmethod
    @lru_cache
    def from_path(path: str) -> NvidiaTool | None:
        """The program at a path, by what it says of itself; None where there is none."""
        try:
            said = subprocess.run([path, "--version"], capture_output=True, text=True, check=True).stdout
        except (OSError, subprocess.CalledProcessError):
            return None
        release = re.search(r"release (\d+\.\d+)", said)
        return None if release is None else NvidiaTool(path, release.group(1))


def _nvidia_tool(name: str) -> NvidiaTool:
    """A program of the CUDA toolkit. Raises NoAssemblerError, a RuntimeError, where there is none."""
    ptxas = import_module("tilewright.codegen.nvptx.ptxas")
    path = ptxas.find_ptxas() if name == ptxas.PROGRAM else ptxas.find_program(name)
    tool = None if path is None else NvidiaTool.from_path(str(path))
    if tool is None:
        raise NoAssemblerError(f"cannot find {name}: pip install 'tilewright[cuda]', or put a CUDA toolkit on the PATH")
    return tool


def _set_dump(value: bool | str) -> None:
    table.set_value("dump_ir", value if isinstance(value, str) else cache.dump_dir if value else "")


def _optimises_less() -> bool:
    return NO_OPTIMISATION in table.get("ptxas_options").split()


def _set_optimises_less(value: bool) -> None:
    words = [word for word in table.get("ptxas_options").split() if word != NO_OPTIMISATION]
    table.set_value("ptxas_options", " ".join([*words, *([NO_OPTIMISATION] if value else [])]))


_NO_C = "no C compiler is called"
_NO_AMD = "there is no target for AMD's GPUs"
_BY_THE_HOST = "launches are timed by the host"
_PATHS_OF_ROCM = ("hsa_runtime_path", "hsa_runtime_library", "rocprofiler_sdk_include_path", "rocprofiler_sdk_lib_path",
                  "rocprofiler_sdk_library", "roctracer_lib_path", "roctracer_library", "roctx_lib_path")  # fmt: skip

build = Group(
    {
        "cc": Ignored(None, _NO_C),
        "cudacrt_path": Ignored(None, _NO_C),
        "cudart_path": Ignored(None, _NO_C),
        "impl": Ignored(None, _NO_C),
        "backend_dirs": Derived(set[str], None, "empty"),
    }
)
redis = Group(
    {
        "key_format": cache_managers.REDIS_KEY,
        "host": cache_managers.REDIS_HOST,
        "port": cache_managers.REDIS_PORT,
    }
)
cache = Group(
    {
        "dir": Derived(
            lambda: str(cache_directory_or_temporary()),
            partial(table.set_value, "cache_dir"),
            "`cache_dir`",
            "cache_dir",
        ),
        "home_dir": Ignored(lambda: f"{Path.home()}{os.sep}", "`cache.dir` says where kernels are kept"),
        "dump_dir": cache_managers.DUMP_DIR,
        "override_dir": cache_managers.OVERRIDE_DIR,
        "manager_class": cache_managers.MANAGER,
        "remote_manager_class": cache_managers.REMOTE,
    }
)
compilation = Group(
    {
        "always_compile": Shared("always_compile"),
        "disable_line_info": Shared("disable_line_info"),
        "front_end_debugging": Shared("tracebacks"),
        "allow_non_constexpr_globals": Shared("allow_non_constexpr_globals"),
        "dump_ir": Derived(
            lambda: bool(table.get("dump_ir")), _set_dump, "`dump_ir`; True writes to `cache.dump_dir`", "dump_ir"
        ),
        "listener": Variable(LISTENING, "listener", "called after each compilation"),
        "override": Refused(False, "the launch option `ir_override` puts a file in the place of a stage"),
        "enable_asan": Refused(False, "`TILEWRIGHT_SANITIZE=bounds` checks accesses"),
        "instrumentation_mode": Refused("", "`TILEWRIGHT_SANITIZE`, and the target `cuda_sim`, check kernels"),
        "fpsan_homomorphic_casts": Ignored(False, "`TILEWRIGHT_VALIDATE` and `cuda_sim` check what kernels compute"),
        "store_binary_only": Ignored(False, "texts of stages are not stored, but made when they are asked for"),
        "dump_ir_extract_di_local_variables": Ignored(False, "names of variables are in the locations of `ttir`"),
        "use_ir_loc": Ignored(None, "locations are those of the Python source"),
    }
)
autotuning = Group(
    {
        "print": Shared("print_autotuning"),
        "cache": Shared("cache_autotuning"),
        "listener": Variable(HOOKS, "autotune_listener", "called after each tuning"),
    }
)
runtime = Group(
    {
        "interpret": Shared("interpret"),
        "debug": Shared("debug"),
        "override_arch": Shared("override_arch", optional=True),
        "launch_enter_hook": Hooks(HOOKS, "launch_enter_hook", "called before each launch"),
        "launch_exit_hook": Hooks(HOOKS, "launch_exit_hook", "called after each launch"),
        "kernel_load_start_hook": Hooks(LISTENING, "kernel_load_start_hook", "called before machine code is loaded"),
        "kernel_load_end_hook": Hooks(LISTENING, "kernel_load_end_hook", "called once machine code is loaded"),
        "kernel_unload_hook": Ignored(HookChain, "machine code stays loaded until the process ends"),
        "jit_cache_hook": Variable(HOOKS, "jit_cache_hook", "called before each compilation"),
        "jit_post_compile_hook": Variable(HOOKS, "jit_post_compile_hook", "called after each compilation"),
        "add_stages_inspection_hook": Refused(
            None, "the stages are lists of passes that targets give, third parties' too"
        ),
    }
)
language = Group(
    {
        "fp32_default": Shared("f32_default", optional=True),
        "default_fp_fusion": Shared("default_fp_fusion"),
        "force_disable_fp_fusion": Shared("force_disable_fp_fusion"),
    }
)
nvidia = Group(
    {
        "ptxas": Derived(
            partial(_nvidia_tool, "ptxas"), partial(table.set_value, "ptxas_path"), "`ptxas_path`: path and version",
            "ptxas_path",
        ),
        "ptxas_blackwell": Derived(partial(_nvidia_tool, "ptxas"), None, "the same as `ptxas`"),
        "cuobjdump": Derived(partial(_nvidia_tool, "cuobjdump"), None, "path and version of the one that is found"),
        "nvdisasm": Derived(partial(_nvidia_tool, "nvdisasm"), None, "path and version of the one that is found"),
        "ptxas_options": Shared("ptxas_options", optional=True),
        "disable_ptxas_opt": Derived(_optimises_less, _set_optimises_less, "`-O0` in `ptxas_options`", "ptxas_options"),
        "libdevice_path": Shared("libdevice_path", optional=True),
        "libcuda_path": Ignored(None, "cuda-bindings finds the driver"),
        "dump_nvptx": Ignored(False, '`kernel.asm["ptx"]` is the PTX'),
        "dump_ptxas_log": Ignored(False, "an AssemblerError holds what ptxas said"),
        "mock_ptx_version": Ignored(None, "the launch option `ptx_version` sets it"),
    }
)  # fmt: skip
amd = Group(
    {
        "use_buffer_ops": Ignored(True, _NO_AMD),
        "use_buffer_atomics": Ignored(True, _NO_AMD),
        "buffer_ops_analyze_small_tensor_range": Ignored(False, _NO_AMD),
        "dump_amdgcn": Ignored(False, _NO_AMD),
        "libhip_path": Ignored(None, _NO_AMD),
        "use_block_pingpong": Ignored(None, _NO_AMD),
        "use_in_thread_transpose": Ignored(None, _NO_AMD),
        "use_async_copy": Ignored(None, _NO_AMD),
        "scalarize_packed_fops": Ignored(False, _NO_AMD),
        "codegen_path": Ignored(None, _NO_AMD),
        "dump_mir": Ignored(None, _NO_AMD),
        "swap_mir": Ignored(None, _NO_AMD),
        "swap_mir_enable_misched": Ignored(False, _NO_AMD),
        "use_coexec_scheduler": Ignored(None, _NO_AMD),
        "use_expert_scheduling": Ignored(None, _NO_AMD),
    }
)
proton = Group(
    {
        "disable": Shared("proton_disable"),
        "cupti_lib_dir": Ignored("", _BY_THE_HOST),
        "cupti_lib_blackwell_dir": Ignored("", _BY_THE_HOST),
        "enable_hw_trace": Ignored(False, _BY_THE_HOST),
        "enable_nvtx": Ignored(True, _BY_THE_HOST),
        "profile_buffer_size": Ignored(64 << 20, _BY_THE_HOST),
        "profile_metric_buffer_size": Ignored(64 << 20, _BY_THE_HOST),
        **{name: Ignored(None, _NO_AMD) for name in _PATHS_OF_ROCM},
        "roctx_library": Ignored("libroctx64.so", _NO_AMD),
    }
)

GROUPS = {
    "build": build, "redis": redis, "cache": cache, "compilation": compilation, "autotuning": autotuning,
    "runtime": runtime, "language": language, "nvidia": nvidia, "amd": amd, "proton": proton,
}  # fmt: skip


def refresh_knobs() -> None:
    """Ask the environment again for what Triton reads but once."""
    table.restore("debug")


def render_groups() -> str:
    """All of Triton's switches as a Markdown table, for the documentation."""
    lines = ["| Triton's switch | here |", "|---|---|"]
    for group, knobs in GROUPS.items():
        lines += [f"| `{group}.{name}` | {meaning} |" for name, meaning in knobs.described().items()]
    return "\n".join(lines) + "\n"


_PAGE = """\
# Switches

Each switch of tilewright is an environment variable, a name in `tilewright.support.knobs` (`get`, `set_value`,
`scope`), and, if Triton has it, an attribute of `tilewright.knobs` under Triton's name. If our variable is not set,
Triton's is honoured. The environment is read when a switch is first needed; for the cache's folder, for what has
kernels compiled again, and in `triton.knobs`, each time. Lists are comma-separated; 1, true, and on mean yes.
`tilewright knobs` prints all switches with their values.

Switches that print, dump, time, or verify also cause kernels that are in the disk cache to be compiled again. Their
output goes to standard error.

{table}
Three standard variables are honoured as well: `CUDA_HOME` and `CUDA_PATH` name a CUDA toolkit (ptxas, libdevice), and
`XDG_CACHE_HOME` names the folder that contains the cache of compiled kernels if `TILEWRIGHT_CACHE_DIR` is not set.

## `triton.knobs`

All switches of `triton.knobs` in Triton 3.6 to 3.9 are attributes of `tilewright.knobs`. Setting one does not change
the environment of child processes.

{groups}"""


def render_page() -> str:
    """`docs/switches.md`."""
    return _PAGE.format(table=table.render_table(), groups=render_groups())


__getattr__ = late_names(
    __name__, {"HookChain": "tilewright.support.hook_chain:HookChain", "CompileTimes": f"{LISTENING}:CompileTimes"}
)
