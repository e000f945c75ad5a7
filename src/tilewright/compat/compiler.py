"""What Triton calls `triton.compiler.compiler`: what programs that drive the compiler themselves import, as PyTorch's
compiler does."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from types import SimpleNamespace
from typing import Any

from tilewright.compat.backends.compiler import BaseBackend
from tilewright.compiler.kernel import CompiledKernel, LaunchMetadata
from tilewright.compiler.options import CompileOptions
from tilewright.compiler.source import ASTSource, TextSource
from tilewright.compiler.toolchain import toolchain_fingerprint
from tilewright.runtime.compiling import compile, find_described
from tilewright.runtime.driver import driver
from tilewright.support.errors import OutOfResources
from tilewright.support.records import dataclass
from tilewright.targets.base import GPUTarget, Target

IRSource = TextSource
LazyDict = LaunchMetadata

__all__ = [
    "ASTSource",
    "CompiledKernel",
    "GPUTarget",
    "IRSource",
    "LazyDict",
    "OutOfResources",
    "compile",
    "make_backend",
    "max_shared_mem",
    "triton_key",
]


@dataclass(frozen=True)
class Backend(BaseBackend):
    """A target, as far as programs ask Triton's back ends about themselves."""

    target: Target

    def hash(self) -> str:
        """Return what machine code depends on."""
        return self.target.fingerprint()

    def parse_options(self, options: Mapping[str, Any]) -> SimpleNamespace:
        """Launch options, completed and checked."""
        return SimpleNamespace(**asdict(CompileOptions.from_keywords(dict(options))))

    def load_dialects(self, context: Any) -> None:
        """All dialects are there."""

    def get_codegen_implementation(self, options: Any) -> dict[str, Any]:
        """Return nothing: no function of Triton's front end is replaced."""
        return {}

    def get_module_map(self) -> dict[str, Any]:
        """Modules that stand for others in kernels: the front end knows them."""
        return {}


def make_backend(target: Any) -> Backend:
    """The back end for Triton's description of a target."""
    return Backend(find_described(target))


def max_shared_mem(device: int | None = None) -> int:
    """Return how many bytes of shared memory a program can have on a device of the current target."""
    return driver.active.utils.get_device_properties(device)["max_shared_mem"]


def triton_key() -> str:
    """Return what compiled code depends on besides kernel and target: the compiler itself."""
    return toolchain_fingerprint()
