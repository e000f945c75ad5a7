"""Every switch of tilewright, in one table: name, environment variable, type, default, and whether it changes code.

```python
from tilewright.support import knobs

if knobs.get("print_autotuning"): ...
with knobs.scope(sanitize=("bounds",), num_threads=1): ...
```

The environment is read once, at the first question (`get`), or again each time (`ask_again`). No other module reads
environment variables of ours.
"""

from __future__ import annotations

import os
import warnings
from array import array
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from difflib import get_close_matches
from typing import Any

from tilewright.support.errors import KnobError
from tilewright.support.records import dataclass

KnobValue = bool | int | str | tuple[str, ...]


@dataclass(frozen=True)
class Knob:
    """One switch. `kind` is bool, int, str, or tuple (a list of words separated by commas)."""

    name: str
    kind: type
    default: KnobValue
    doc: str
    triton_env: str = ""
    """Triton's variable with the same meaning, honoured where ours is not set."""
    changes_code: bool = False
    """Whether machine code depends on it, so that it belongs into cache keys."""
    choices: tuple[str, ...] = ()
    at_least: int | None = None
    """The smallest value of an integer that means something."""

    @property
    def env(self) -> str:
        """The environment variable, e.g. ``TILEWRIGHT_NUM_THREADS``."""
        return f"{PREFIX}{self.name.upper()}"

    def read(self, text: str, source: str) -> KnobValue:
        """The value that a text stands for; raises `KnobError` naming `source`."""
        if self.kind is bool:
            return self._read_bool(text, source)
        if self.kind is int:
            try:
                number = int(text, 0)
            except ValueError:
                raise KnobError(f"{source}={text!r}: expected an integer") from None
            return self.check(number, source)
        if self.kind is tuple:
            return self.check(tuple(word for part in text.split(",") if (word := part.strip())), source)
        return self.check(text, source)

    def _read_bool(self, text: str, source: str) -> bool:
        word = text.strip().lower()
        if word in ("1", "true", "on", "yes", "y"):
            return True
        if word in ("", "0", "false", "off", "no", "n"):
            return False
        raise KnobError(f"{source}={text!r}: expected one of 1, 0, true, false, on, off")

    def check(self, value: KnobValue, source: str) -> KnobValue:
        """The value itself if its type and words are right."""
        if isinstance(value, str) and self.kind is tuple:
            return self.read(value, source)
        if not isinstance(value, self.kind) or (self.kind is int and isinstance(value, bool)):
            raise KnobError(f"{source}: expected {self.kind.__name__}, got {value!r}")
        if isinstance(value, int) and self.at_least is not None and value < self.at_least:
            raise KnobError(f"{source}={value}: expected at least {self.at_least}; {self.doc}")
        words = value if isinstance(value, tuple) else (value,)
        unknown = [word for word in words if self.choices and word not in self.choices]
        if unknown:
            raise KnobError(f"{source}: {unknown[0]!r} is not one of {', '.join(map(repr, self.choices))}")
        return value


KNOBS: tuple[Knob, ...] = (
    # What is compiled, and for which machine.
    Knob("target", str, "", "Target to compile for; by default it follows from where the arguments' data is.",
         changes_code=True),
    Knob("cpu", str, "", "LLVM name of the processor that the CPU target compiles for; by default the host's.",
         changes_code=True),
    Knob("cpu_without", tuple, (), "CPU features not to use, by LLVM's names, such as amx-tile or avx512f; features "
         "that depend on them are disabled as well. Read once.", changes_code=True),
    Knob("override_arch", str, "", "GPU architecture to compile for, such as sm90, instead of the device's.",
         triton_env="TRITON_OVERRIDE_ARCH", changes_code=True),
    Knob("sanitize", tuple, (), "Checks compiled into kernels: any of bounds, race, init.",
         changes_code=True, choices=("bounds", "race", "init")),
    Knob("opt", str, "1", "How the CPU target compiles. 0: with the baseline, without optimising passes on linalg. 1: "
         "with optimising passes, and with the baseline what they cannot lower. strict: with optimising passes; what "
         "they cannot lower is an error.",
         changes_code=True, choices=("0", "1", "strict")),
    Knob("debug", bool, False, "Compile tl.device_assert and Python assert into kernels.",
         triton_env="TRITON_DEBUG", changes_code=True),
    Knob("interpret", bool, False, "Run kernels on the reference engine (NumPy) instead of compiling them, "
         "if no target is named.",
         triton_env="TRITON_INTERPRET"),
    Knob("triton_backend", str, "", "With tilewright as a back end of the official triton package: the target that "
         "its launches run on; by default none."),
    Knob("triton_version", str, "3.9", "The version of Triton to stand in for: which version is reported, what is "
         "deprecated, and how modules are printed.", changes_code=True,
         choices=("3.6", "3.7", "3.8", "3.9")),
    Knob("force_disable_fp_fusion", bool, False, "No a*b+c becomes one fused operation, whatever a launch asks for.",
         triton_env="TRITON_FORCE_DISABLE_FP_FUSION", changes_code=True),
    Knob("default_fp_fusion", bool, True, "Allow a*b+c to become one fused operation.",
         triton_env="TRITON_DEFAULT_FP_FUSION", changes_code=True),
    Knob("f32_default", str, "", "Precision of float32 dots that do not specify one.",
         triton_env="TRITON_F32_DEFAULT", changes_code=True,
         choices=("", "ieee", "tf32", "tf32x3", "bf16x3", "bf16x6")),
    Knob("allow_non_constexpr_globals", bool, False, "Let kernels read globals that are not constexpr.",
         triton_env="TRITON_ALLOW_NON_CONSTEXPR_GLOBALS", changes_code=True),
    Knob("disable_line_info", bool, False, "Leave source lines out of the machine code.",
         triton_env="TRITON_DISABLE_LINE_INFO", changes_code=True),
    Knob("debug_symbols", bool, False, "Put source lines into the CPU's machine code, and register loaded kernels "
         "with gdb and perf.", changes_code=True),
    Knob("overlap_products", str, "auto", "On Hopper, overlap the arithmetic between a loop's matmuls with the "
         "matmuls of the previous iteration: auto, if a model of the machine predicts a gain; always, if there are "
         "enough registers; never.",
         changes_code=True, choices=("auto", "always", "never")),
    Knob("specialize_warps", str, "auto", "On Hopper, let a dedicated warp copy the operands of a loop's matmuls: "
         "auto, in loops that gain from it; always, wherever possible; never.",
         changes_code=True, choices=("auto", "always", "never")),
    Knob("take_turns", str, "auto", "On Hopper, with a dedicated copying warp, let two warp groups take turns to "
         "compute between their matmuls: auto, or never.",
         changes_code=True, choices=("auto", "never")),
    Knob("tma_loads", str, "auto", "On Hopper, use TMA for blocks that a loop's matmuls read through pointers: auto, "
         "in loops that gain from it; always, wherever it is proved equivalent; never.",
         changes_code=True, choices=("auto", "always", "never")),
    Knob("persist_programs", str, "auto", "On Hopper, start only as many programs as can run at a time, and let each "
         "do the work of several: auto, for matmuls that gain from it; always, wherever programs are independent; "
         "never.",
         changes_code=True, choices=("auto", "always", "never")),
    Knob("copy_kept", bool, True, "On Hopper, in persistent kernels, use TMA for operands that all iterations read, "
         "and copy them while the previous program is still running.", changes_code=True),
    Knob("longest_first", bool, True, "On Hopper, in persistent kernels whose programs have more work, or less, the "
         "further along x they are, run the last ones in that order.", changes_code=True),
    Knob("defer_row_sums", bool, True, "On Hopper, let loops that carry row sums of matmul results keep a partial sum "
         "per thread, and combine these after the loop.", changes_code=True),
    Knob("start_products_early", bool, True, "On Hopper, start matmuls that need no result of their iteration before "
         "the first result is used.", changes_code=True),
    Knob("enter_roles_directly", bool, True, "On Hopper, in kernels that are nothing but a matmul with a dedicated "
         "copying warp, let that warp prepare its first copies before it meets the others, and each warp end by "
         "itself.", changes_code=True),
    Knob("store_by_warps", bool, True, "On Hopper, in persistent kernels whose warp groups take turns, let each warp "
         "store its own rows of the result by TMA.", changes_code=True),
    Knob("store_parts", bool, True, "On Hopper, in persistent matmul kernels, store results in parts if there is too "
         "little shared memory for the whole beside the stages that were asked for.", changes_code=True),
    Knob("widen_in_registers", bool, True, "On Hopper, keep right operands of matmuls that are widened from narrower "
         "elements in registers, by computing the transposed matmul.", changes_code=True),
    Knob("scale_after_max", bool, True, "On Hopper, compute the maximum of scaled values before scaling them, if the "
         "scale is known to be positive.", changes_code=True),
    Knob("join_loops", bool, True, "On Hopper, join two loops with matmuls over adjacent ranges if the second does "
         "everything that the first does and more.", changes_code=True),
    Knob("guard_masks", bool, True, "On Hopper, let loops with matmuls skip masks that scalars prove to be all true.",
         changes_code=True),
    Knob("ptxas_path", str, "", "The ptxas to use; by default one found on the system.",
         triton_env="TRITON_PTXAS_PATH", changes_code=True),
    Knob("ptxas_options", str, "", "Extra options for ptxas, if a launch does not set `ptx_options`.",
         triton_env="PTXAS_OPTIONS", changes_code=True),
    Knob("libdevice_path", str, "", "NVIDIA's math library as bitcode; by default one found on the system.",
         triton_env="TRITON_LIBDEVICE_PATH", changes_code=True),
    # Running.
    Knob("num_threads", int, 0, "CPU threads per grid; 0 means as many as PyTorch uses if it is imported, and "
         "otherwise all cores.", at_least=0),
    Knob("print_autotuning", bool, False, "Print the autotuner's measurements and choice as a table.",
         triton_env="TRITON_PRINT_AUTOTUNING"),
    Knob("keep_autotuning", bool, True, "Keep measurements that the autotuner made with its own clock on disk, for "
         "later processes."),
    Knob("model_autotuning", bool, True, "With more than 40 configurations of a CPU kernel's tiles, measure only a "
         "tenth of them, but at least 10, chosen by a model of the times."),
    Knob("cache_autotuning", bool, False, "Keep measurements that the autotuner made with any clock on disk.",
         triton_env="TRITON_CACHE_AUTOTUNING"),
    Knob("autotuning_reports", str, "", "Directory for the autotuner's reports: one HTML page per kernel and key."),
    Knob("proton_disable", bool, False, "Start no sessions of the profiler.", triton_env="TRITON_PROTON_DISABLE"),
    Knob("farm", str, "", "Address of a dask.distributed scheduler whose workers compile the autotuner's candidates."),
    # Cache.
    Knob("cache_dir", str, "", "Directory of compiled kernels, by default the user's cache directory.",
         triton_env="TRITON_CACHE_DIR"),
    Knob("cache_size", int, 1024, "Limit for compiled kernels on disk, in MiB; the least recently used are deleted "
         "first. 0 means no limit.", at_least=0),
    Knob("always_compile", bool, False, "Compile even if the cache has the kernel.",
         triton_env="TRITON_ALWAYS_COMPILE"),
    # Looking inside.
    Knob("dump_ir", str, "", "Directory for dumps of the module after every pass, in one folder per kernel and stage."),
    Knob("print_after", tuple, (), "Print the module after these passes; 'all' means every pass, and 'changed' every "
         "pass that changed something."),
    Knob("verify_each", bool, False, "Verify the module after every pass, not only at the ends of stages."),
    Knob("validate", bool, False, "Run the module on the reference after every pass and compare."),
    Knob("bisect", str, "", "How many passes may run, and how many rewrites of the last one: passes[:rewrites[:log]]; "
         "used by `tilewright bisect`.", changes_code=True),
    Knob("timing", bool, False, "Print how long each pass took.", triton_env="MLIR_ENABLE_TIMING"),
    Knob("remarks", bool, False, "Print what passes left alone, and why."),
    Knob("llvm_dump", bool, False, "Print the LLVM module before and after optimisation.",
         triton_env="LLVM_IR_ENABLE_DUMP"),
    Knob("reproducer_dir", str, "", "Directory for crash reproducers, by default the system's temporary one."),
    Knob("tracebacks", bool, False, "Keep tilewright's own frames in the traceback of an error.",
         triton_env="TRITON_FRONT_END_DEBUGGING"),
)  # fmt: skip

PREFIX = "TILEWRIGHT_"
PREFIX_OF_TESTS = "TILEWRIGHT_TEST_"
"""Of what the test suite tells its own processes."""

_warned_of: set[str] = set()
_BY_NAME = {knob.name: knob for knob in KNOBS}
_values: dict[str, KnobValue] = {}
_said: dict[str, tuple[str | None, ...]] = {}
"""What the environment said of the switches whose values it gave, when it was asked."""

generation: int = 0
"""Counts the changes of switches: what was derived from them holds while this stays the same."""

_generation_cell = array("q", [0])


def get(name: str) -> Any:
    """The value of a switch: the innermost `scope` that sets it, else the environment, else the default."""
    try:
        return _values[name]
    except KeyError:
        if not _values:
            _warn_of_unknown(os.environ)
        value = _values[name] = _read_environment(_find(name), os.environ)
        _said[name] = _variables(name)
        return value


def ask_again(name: str) -> Any:
    """As `get`; where the environment gave the value, it is asked again: programs change it while they run."""
    if name in _said and _said[name] != _variables(name):
        restore(name)
    return get(name)


def _variables(name: str) -> tuple[str | None, ...]:
    knob = _find(name)
    return tuple(os.environ.get(variable) if variable else None for variable in (knob.env, knob.triton_env))


def keep(name: str) -> Callable[[], None]:
    """Note the present value; the result gives it back, and has the environment asked again where it gave the value."""
    value, said = get(name), _said.get(name)

    def give_back() -> None:
        _update({name: value})
        if said is not None:
            _said[name] = said

    return give_back


def _find(name: str) -> Knob:
    knob = _BY_NAME.get(name)
    if knob is None:
        near = get_close_matches(name, _BY_NAME, n=1)
        raise KnobError(f"unknown switch '{name}'" + (f"; did you mean '{near[0]}'?" if near else ""))
    return knob


def _warn_of_unknown(environment: Mapping[str, str]) -> None:
    """Warn of variables that no switch reads: a misspelt one would be without effect, and without a word."""
    known = {knob.env: knob for knob in KNOBS}
    for name in sorted(environment):
        if not name.startswith(PREFIX) or name in known or name.startswith(PREFIX_OF_TESTS) or name in _warned_of:
            continue
        _warned_of.add(name)
        near = get_close_matches(name, known, n=1)
        hint = f"; did you mean {near[0]}?" if near else "; `tilewright knobs` lists all switches"
        warnings.warn(f"the environment variable {name} has no effect: there is no such switch{hint}", stacklevel=3)


def _read_environment(knob: Knob, environment: Mapping[str, str]) -> KnobValue:
    for variable in (knob.env, knob.triton_env):
        text = environment.get(variable) if variable else None
        if text is not None:
            return knob.read(text, variable)
    return knob.default


def set_value(name: str, value: KnobValue) -> None:
    """Set a switch for the rest of the process; prefer `scope`."""
    _update({name: _find(name).check(value, name)})


def _update(values: Mapping[str, KnobValue]) -> None:
    global generation
    _values.update(values)
    for name in values:
        _said.pop(name, None)
    generation += 1
    _generation_cell[0] = generation


def generation_address() -> int:
    """Return where native code finds `generation`, as an i64."""
    return _generation_cell.buffer_info()[0]


def renew() -> None:
    """Count a change of what launches depend on that is not a switch."""
    _update({})


@contextmanager
def scope(**values: KnobValue) -> Generator[None]:
    """Set switches for the length of a `with`, for the whole process (threads that compile see them too)."""
    saved = [keep(name) for name in values]
    checked = {name: _find(name).check(value, name) for name, value in values.items()}
    _update(checked)
    try:
        yield
    finally:
        for give_back in saved:
            give_back()


def restore(*names: str) -> None:
    """Give switches what the environment says, or their defaults."""
    _update({name: _read_environment(_find(name), os.environ) for name in names})
    _said.update({name: _variables(name) for name in names})


def reload() -> None:
    """Forget what was read and set; the environment is asked again."""
    _values.clear()
    _update({})


def code_key() -> tuple[tuple[str, KnobValue], ...]:
    """The switches that change machine code, with their values: a part of every cache key."""
    return tuple((knob.name, get(knob.name)) for knob in KNOBS if knob.changes_code)


def render_table() -> str:
    """All switches as a Markdown table, for the documentation."""
    lines = [
        "| switch | variable | Triton's variable | type | default | changes code | meaning |",
        "|---|---|---|---|---|---|---|",
    ]
    for knob in KNOBS:
        default = ",".join(knob.default) if isinstance(knob.default, tuple) else str(knob.default)
        kind = "words" if knob.kind is tuple else knob.kind.__name__
        triton = f"`{knob.triton_env}`" if knob.triton_env else ""
        changes = "yes" if knob.changes_code else ""
        shown = f"`{default}`" if default else ""
        lines.append(f"| `{knob.name}` | `{knob.env}` | {triton} | {kind} | {shown} | {changes} | {knob.doc} |")
    return "\n".join(lines) + "\n"
