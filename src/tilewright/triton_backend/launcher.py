"""Launches of what official Triton compiled with us."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

from tilewright.compiler.compilation import compile_source, load_entry
from tilewright.compiler.kernel import CompiledKernel
from tilewright.compiler.options import CompileOptions
from tilewright.compiler.source import runtime_leaves
from tilewright.runtime.binding import Bound
from tilewright.runtime.driver import check_places
from tilewright.runtime.fast_path import Shortcuts
from tilewright.runtime.grid import normalize_grid
from tilewright.runtime.launching import launch
from tilewright.runtime.specialization import DIVISIBILITY, Classified, ParameterRule, Pointer, Scalar, classify
from tilewright.runtime.tensor_descriptor import TensorDescriptor
from tilewright.support import knobs
from tilewright.support.disk_cache import Entry
from tilewright.support.errors import ArgumentValueError, MisalignedPointerError
from tilewright.support.records import dataclass
from tilewright.support.tracebacks import ends_tracebacks
from tilewright.targets.capabilities import configured
from tilewright.triton_backend.compiler import compile_options
from tilewright.triton_backend.naming import find_named
from tilewright.triton_backend.source import OfficialSource

Path = tuple[int, ...]
GPU = "cuda"
"""The target whose data may lie on several devices."""

Hook = Callable[[Any], Any]


@dataclass(frozen=True)
class Parameter:
    """A parameter that is passed at run time: where it is among the arguments, and what the kernel was promised."""

    path: Path
    rule: ParameterRule
    is_divisible: bool

    def find(self, arguments: Sequence[Any]) -> Any:
        """Its value among the arguments of a launch."""
        value: Any = arguments
        for index in self.path:
            value = value[index]
        return value


def _separate(*values: Any) -> tuple[tuple[Any, ...], tuple[type, ...], dict[str, Any]]:
    """As `Binder.separate`, of values that are in order already."""
    return values, tuple([value.__class__ for value in values]), {}


class Launcher:
    """Launches one kernel of official Triton's, which calls it with a grid, and a value for each parameter.

    The kernel was compiled for pointers that share no memory. The first launch with pointers that do compiles it again
    without that promise, from the Triton IR that it came from.
    """

    def __init__(self, src: Any, metadata: Any) -> None:
        self._metadata = metadata
        names: list[str] = list(src.fn.arg_names) if hasattr(src, "fn") else []
        attributes: Mapping[Path, Any] = getattr(src, "attrs", {})
        self._parameters = [
            Parameter(path, ParameterRule(_name(path, names), specialize=False, forced_type=kind), divisible)
            for path, kind, divisible in _runtime_parameters(list(src.signature.values()), attributes)
        ]
        self._slots = tuple(
            parameter.rule.name for parameter in self._parameters for _ in runtime_leaves(parameter.rule.forced_type)
        )
        self._rules = [parameter.rule for parameter in self._parameters]
        self._shortcuts = Shortcuts(_separate)
        self._image = b""

    @ends_tracebacks
    def __call__(
        self,
        x: int,
        y: int,
        z: int,
        stream: int,
        function: bytes,
        packed_metadata: Any,
        launch_metadata: Any,
        enter_hook: Hook | None,
        exit_hook: Hook | None,
        *arguments: Any,
    ) -> None:
        """Run a grid, between Triton's two hooks. Raises what launches raise, and ArgumentError classes for what the
        kernel was not compiled for."""
        self._image = function
        grid = normalize_grid((x, y, z), dict, self._metadata.name)
        values = tuple([parameter.find(arguments) for parameter in self._parameters])
        if enter_hook is not None:
            enter_hook(launch_metadata)
        if not self._repeat(values, grid):
            self._launch(values, grid)
        if exit_hook is not None:
            exit_hook(launch_metadata)

    def _repeat(self, values: tuple[Any, ...], grid: tuple[int, int, int]) -> bool:
        """Launch by the fast path; False where arguments like these have not been seen."""
        shortcuts = self._shortcuts
        seen = shortcuts.recognise(values, {}) if shortcuts.generation == knobs.generation else None
        return seen is not None and seen[0].launch(seen[1], values, grid)

    def _launch(self, values: tuple[Any, ...], grid: tuple[int, int, int]) -> None:
        """Launch by the slow path, which knows all kinds of arguments; the fast path knows such arguments then."""
        items = tuple(map(self._classified, self._parameters, values))
        bound = Bound(tuple([parameter.rule.name for parameter in self._parameters]), values, items, {})
        check_places(self._target.name, bound)
        apart = bound.sharing().merged(self._kernel.parameters.written) == ()
        kernel = self._kernel if apart else self._kernel_for_shared_memory
        slots, storages = bound.slots()
        launch(kernel, slots, storages, grid)
        devices = [storage.device for storage in storages.values()]
        if self._target.name == GPU and "cpu" in devices:
            return  # pinned memory: on which device it is used, the other arguments say
        if self._shortcuts.generation != knobs.generation:
            self._shortcuts = Shortcuts(_separate, generation=knobs.generation)
        classes = tuple([value.__class__ for value in values])
        ordinal = next((int(device.partition(":")[2] or 0) for device in devices), 0)
        written = self._kernel.parameters.find_written([rule.name for rule in self._rules])
        self._shortcuts.learn(values, classes, self._rules, {}, kernel, ordinal, written)

    def _classified(self, parameter: Parameter, value: Any) -> Classified:
        rule = parameter.rule
        if (rule.forced_type or "").startswith("tensordesc"):
            if getattr(value, "round_f32_to_tf32", False):
                what, expected = "a descriptor with round_f32_to_tf32=True", "False: kernels read what is in memory"
                raise ArgumentValueError(rule.name, what, expected, kernel=self._metadata.name)
            value = TensorDescriptor(value.base, value.shape, value.strides, value.block_shape, value.padding)
        item = classify(value, rule)
        if not parameter.is_divisible:
            return item
        match item:
            case Pointer(_, storage, _) if storage.address % DIVISIBILITY:
                raise MisalignedPointerError(
                    rule.name,
                    f"an address ({storage.address:#x}) that is not a multiple of {DIVISIBILITY} bytes",
                    "one that is, as the kernel was compiled for",
                    kernel=self._metadata.name,
                )
            case Scalar(_, bits, _) if bits % DIVISIBILITY:
                expected = f"a multiple of {DIVISIBILITY}, as the kernel was compiled for"
                raise ArgumentValueError(rule.name, f"{value}", expected, kernel=self._metadata.name)
            case _:
                return item

    @cached_property
    def _options(self) -> CompileOptions:
        return compile_options(self._metadata)

    @cached_property
    def _target(self) -> Any:
        described = self._metadata.target
        return configured(find_named(described.backend, described.arch), self._options)

    @cached_property
    def _source(self) -> OfficialSource:
        kept = self._metadata.tilewright
        filename = f"{self._metadata.name}.{kept['stage']}"
        return OfficialSource(kept["text"], kept["stage"], filename, self._slots)

    @cached_property
    def _kernel(self) -> CompiledKernel:
        """The kernel that Triton compiled, loaded at its first launch."""
        entry = Entry(self._metadata.tilewright["known"], {"obj": self._image, "llir": b""})
        return load_entry(entry, self._metadata.hash, self._source, self._options, self._target)

    @cached_property
    def _kernel_for_shared_memory(self) -> CompiledKernel:
        """The kernel for pointers that share memory, from our own cache or compiled now."""
        return compile_source(replace(self._source, noalias=False), self._options, self._target)


def _runtime_parameters(
    kinds: Sequence[Any], attributes: Mapping[Path, Any], outer: Path = ()
) -> Iterator[tuple[Path, str, bool]]:
    """Path, type and divisibility by 16 of anything that is not a constant, tuples by their items."""
    for index, kind in enumerate(kinds):
        path = (*outer, index)
        if isinstance(kind, tuple):
            yield from _runtime_parameters(kind, attributes, path)  # pyright: ignore[reportUnknownArgumentType]
        elif kind != "constexpr":
            promised = dict(attributes.get(path, ()))
            yield path, kind, promised.get("tt.divisibility", 1) % DIVISIBILITY == 0


def _name(path: Path, names: Sequence[str]) -> str:
    """The parameter's name; where none is known, its number."""
    return names[path[0]] if names else str(path[0])
