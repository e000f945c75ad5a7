"""Stands in for the `triton` package: after `install()`, `import triton` means tilewright.

The modules are the very same objects under a second name (`triton.language.core` is `tilewright.language.core`), so
dtypes and tensors of both spellings mix freely. Only `triton` itself is a module of its own, with tilewright's names
and the version of Triton whose language they follow.
"""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import sys
import warnings
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from types import CodeType, ModuleType
from typing import Any

from tilewright.compat.after_import import AfterImport
from tilewright.compat.children import hand_on, keep
from tilewright.compat.dynamo import hide_from_dynamo
from tilewright.support.errors import DistributionClashError
from tilewright.support.triton_version import triton_release

ALIAS = "triton"
REAL = "tilewright"
#: Where a module or package of Triton has another place here.
RENAMED = {
    "triton._C": "tilewright.compat.native",
    "triton._utils": "tilewright.compat.paths",
    "triton.backends": "tilewright.compat.backends",
    "triton.compiler.compiler": "tilewright.compat.compiler",
    "triton.errors": "tilewright.compat.errors",
    "triton.experimental.gluon.language": "tilewright.language.gluon",
    "triton.experimental.gluon": "tilewright.gluon",
    "triton.experimental": "tilewright.compat.experimental",
    "triton.profiler": "tilewright.compat.profiler",
    "triton.runtime._allocation": "tilewright.runtime.scratch",
    "triton.runtime._async_compile": "tilewright.runtime.async_compile",
    "triton.runtime.cache": "tilewright.compat.cache",
    "triton.runtime.interpreter": "tilewright.compat.interpreter",
    "triton.tools.disasm": "tilewright.codegen.nvptx.disasm",
    "triton.tools.tensor_descriptor": "tilewright.runtime.tensor_descriptor",
}


class StandIn(ModuleType):
    """The module `triton`."""

    def __init__(self, real: ModuleType) -> None:
        super().__init__(ALIAS, real.__doc__)
        self._real = real

    @property
    def __version__(self) -> str:
        """Programs choose by it how they call Triton: the switch `triton_version` says which one this is."""
        return triton_release()

    def __getattr__(self, name: str) -> Any:
        if f"{ALIAS}.{name}" in RENAMED:
            return importlib.import_module(f"{ALIAS}.{name}")
        try:
            return getattr(self._real, name)
        except AttributeError:
            raise AttributeError(f"module 'triton' (tilewright stands in for it) has no attribute {name!r}") from None

    def __dir__(self) -> list[str]:
        return dir(self._real)


class _AliasFinder(importlib.abc.MetaPathFinder, importlib.abc.InspectLoader):
    """Finds `triton[.x]` as the module `tilewright[.x]`."""

    def __init__(self) -> None:
        self._specs: dict[str, importlib.machinery.ModuleSpec | None] = {}

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if fullname != ALIAS and not fullname.startswith(ALIAS + "."):
            return None
        real = real_name(fullname)
        try:
            found = importlib.util.find_spec(real)
        except ModuleNotFoundError:
            found = None
        if found is None:
            return None
        is_package = found.submodule_search_locations is not None
        return importlib.machinery.ModuleSpec(fullname, self, origin=found.origin, is_package=is_package)

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType:
        module = importlib.import_module(real_name(spec.name))
        if spec.name == ALIAS:
            return StandIn(module)
        self._specs[spec.name] = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        """Nothing to execute: the module is loaded. The machinery put the alias's spec on it; its own comes back."""
        spec = module.__spec__
        if spec is not None and spec.name in self._specs:
            module.__spec__ = self._specs[spec.name]

    # -- `python -m triton.tools.compile`, and programs that read sources: what loaders of files have ------------------
    def get_code(self, fullname: str) -> CodeType | None:
        return _file_loader(fullname).get_code(real_name(fullname))

    def get_source(self, fullname: str) -> str | None:
        return _file_loader(fullname).get_source(real_name(fullname))

    def is_package(self, fullname: str) -> bool:
        return _file_loader(fullname).is_package(real_name(fullname))


def _file_loader(alias: str) -> importlib.abc.InspectLoader:
    """Return what loads the module that a name of Triton's stands for. Raises ImportError where that is not a file."""
    spec = importlib.util.find_spec(real_name(alias))
    if spec is None or not isinstance(spec.loader, importlib.abc.InspectLoader):
        raise ImportError(f"{alias} is not a module of tilewright's", name=alias)
    return spec.loader


def real_name(alias: str) -> str:
    """The module of ours that a name of Triton's stands for."""
    for renamed, real in RENAMED.items():
        if alias == renamed or alias.startswith(renamed + "."):
            return real + alias.removeprefix(renamed)
    return REAL + alias.removeprefix(ALIAS)


_finder = _AliasFinder()


def _serve_inductor() -> None:
    """Have PyTorch's compiler write launches and blocks for a CPU, where it is one whose inner modules are known."""
    wrapper = importlib.import_module("tilewright.compat.inductor_wrapper")
    try:
        wrapper.use_launch_sites()
    except (ImportError, AttributeError) as error:
        warnings.warn(
            f"tilewright does not know this PyTorch's compiler, and leaves it as it is: {error}", stacklevel=2
        )


def _answer_torch() -> None:
    importlib.import_module("tilewright.compat.torch_descriptors").answer_for_cpus()


_in_torch = (
    AfterImport("torch.utils._triton", _answer_torch),
    AfterImport("torch._dynamo.trace_rules", hide_from_dynamo),
    AfterImport("torch._inductor.compile_fx", _serve_inductor),
)


def install(*, children: bool = True) -> None:
    """Make `triton` mean tilewright in this process and, with `children`, in those that it starts (see `children.py`).
    Calling it again does nothing.

    Raises DistributionClashError when the official package has been imported already: its kernels and ours do not mix.
    """
    if _finder not in sys.meta_path and not isinstance(sys.modules.get(ALIAS), StandIn | None):
        raise DistributionClashError(
            "the official triton package is already imported; call tilewright.compat.install() before `import triton`"
        )
    if children:
        hand_on()
    if _finder not in sys.meta_path:
        sys.meta_path.insert(0, _finder)
        for module in _in_torch:
            module.wait()


def uninstall() -> None:
    """Undo `install`: later imports of `triton` find the official package again, if there is one."""
    if _finder in sys.meta_path:
        sys.meta_path.remove(_finder)
    for module in _in_torch:
        module.stop()
    keep()
    _take_modules()


@contextmanager
def standing_in() -> Generator[None]:
    """Stand in for `triton` for the length of a `with`.

    What is imported there keeps our modules; the official package, imported before or after, stays what it is.
    """
    already = _finder in sys.meta_path
    official = {} if already else _take_modules()
    install(children=False)
    try:
        yield
    finally:
        if not already:
            uninstall()
            sys.modules.update(official)


def _take_modules() -> dict[str, ModuleType]:
    """Remove every module of the name `triton` from the loaded ones, and return them."""
    names = [name for name in sys.modules if name == ALIAS or name.startswith(ALIAS + ".")]
    return {name: sys.modules.pop(name) for name in names}
