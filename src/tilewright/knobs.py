"""`triton.knobs`: the switches that mean the same here, under Triton's names.

    tilewright.knobs.runtime.debug = True
    tilewright.knobs.runtime.launch_enter_hook.add(lambda metadata: print(metadata.get()["name"]))
    with tilewright.knobs.autotuning.scope():
        tilewright.knobs.autotuning.print = True

They are views of the one table of switches (`tilewright knobs` lists it); a name of Triton's that has no meaning here
is an AttributeError.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping
from contextlib import contextmanager
from importlib import import_module
from typing import Any

from tilewright.support import knobs as table


class Namespace:
    """One group of switches, as attributes."""

    _names: Mapping[str, str]

    def __init__(self, names: Mapping[str, str]) -> None:
        object.__setattr__(self, "_names", dict(names))

    def __getattr__(self, name: str) -> Any:
        return table.get(self._known(name))

    def __setattr__(self, name: str, value: Any) -> None:
        table.set_value(self._known(name), value)

    def __dir__(self) -> list[str]:
        return sorted(self._names)

    def _known(self, name: str) -> str:
        if name not in self._names:
            known = ", ".join(sorted(self._names))
            raise AttributeError(f"no switch {name!r} in this group; it has {known}")
        return self._names[name]

    @contextmanager
    def scope(self) -> Generator[None]:
        """Give all switches of the group their present values back at the end of a `with`."""
        with table.scope(**{name: table.get(name) for name in self._names.values()}):
            yield


compilation = Namespace(
    {
        "always_compile": "always_compile",
        "disable_line_info": "disable_line_info",
        "front_end_debugging": "tracebacks",
        "allow_non_constexpr_globals": "allow_non_constexpr_globals",
        "dump_ir": "dump_ir",
    },
)


class RuntimeNamespace(Namespace):
    """The switches of launches, and the hooks around launches and compilations: `launch_enter_hook` and
    `launch_exit_hook`, to which functions are added or one of which takes the place of all; `jit_cache_hook` and
    `jit_post_compile_hook`, which are a function or None."""

    def __getattr__(self, name: str) -> Any:
        if name in HOOKS:
            return getattr(import_module("tilewright.runtime.hooks"), name)
        return super().__getattr__(name)

    def __setattr__(self, name: str, value: Any) -> None:
        if name in HOOKS:
            import_module("tilewright.runtime.hooks").set_hook(name, value)
        else:
            super().__setattr__(name, value)

    def __dir__(self) -> list[str]:
        return sorted([*super().__dir__(), *HOOKS])


HOOKS = ("launch_enter_hook", "launch_exit_hook", "jit_cache_hook", "jit_post_compile_hook")
runtime = RuntimeNamespace({"interpret": "interpret", "debug": "debug", "override_arch": "override_arch"})
autotuning = Namespace({"print": "print_autotuning", "cache": "cache_autotuning"})
language = Namespace({"fp32_default": "f32_default", "default_fp_fusion": "default_fp_fusion"})
nvidia = Namespace({"ptxas": "ptxas_path", "ptxas_options": "ptxas_options", "libdevice_path": "libdevice_path"})
cache = Namespace({"dir": "cache_dir"})


def __getattr__(name: str) -> Any:
    if name == "HookChain":
        return import_module("tilewright.runtime.hooks").HookChain
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
