"""What Triton calls `triton.runtime.cache`: folders of files by key, which programs keep things of their own in and
derive classes from.

    files = get_cache_manager(key)
    path = files.get_file("tuned.json") or files.put(text, "tuned.json")

They lie beside the compiled kernels (`knobs.cache.dir`), whose own cache is of another form (`support/disk_cache.py`)
unless `knobs.cache.manager_class` (TRITON_CACHE_MANAGER) names a class: then that one keeps kernels, too.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from importlib import import_module
from typing import Any

from tilewright.compiler.toolchain import toolchain_fingerprint
from tilewright.support.cache_managers import (
    CacheManager,
    FileCacheManager,
    RedisRemoteCacheBackend,
    RemoteCacheBackend,
    RemoteCacheManager,
    base32,
    cache_manager,
)
from tilewright.support.disk_cache import cache_directory_or_temporary
from tilewright.support.fingerprint import fingerprint

__all__ = [
    "CacheManager",
    "FileCacheManager",
    "RedisRemoteCacheBackend",
    "RemoteCacheBackend",
    "RemoteCacheManager",
    "default_cache_dir",
    "get_cache_key",
    "get_cache_manager",
    "get_dump_manager",
    "get_override_manager",
    "make_so_cache_key",
    "triton_key",
]

_base32 = base32
"""PyTorch asks for it by this name."""


def __getattr__(name: str) -> Any:
    """PyTorch takes the switches from here."""
    if name == "knobs":
        return import_module("triton.knobs")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def get_cache_manager(key: str) -> CacheManager:
    """The files of a key, a digest in hexadecimal."""
    return cache_manager(key)


def get_override_manager(key: str) -> CacheManager:
    """The files that would take the place of a key's stages."""
    return cache_manager(key, override=True)


def get_dump_manager(key: str) -> CacheManager:
    """The files that stages of a key are written to."""
    return cache_manager(key, dump=True)


def default_cache_dir() -> str:
    """Return where compiled kernels are kept."""
    return str(cache_directory_or_temporary())


def make_so_cache_key(
    version_hash: str, signature: Mapping[str, str], constants: Any, ids: Any, **keywords: Any
) -> str:
    """The key of a launcher that a back end compiles: pointers are alike."""
    kinds = "".join("ptr" if kind.startswith("*") else kind for kind in signature.values())
    said = "-".join([f"{version_hash}-{kinds}-{constants}-{ids}", *map(str, keywords.values())])
    return base32(hashlib.sha256(said.encode()).hexdigest())


def triton_key() -> str:
    """Return what compiled code depends on besides kernel and target: the compiler itself."""
    return toolchain_fingerprint()


def get_cache_key(src: Any, backend: Any, backend_options: Any, env_vars: Mapping[str, str]) -> str:
    """A key of what is compiled from a source."""
    given: dict[str, Any] = backend_options.__dict__
    options = backend_options.hash() if hasattr(backend_options, "hash") else fingerprint(sorted(given.items()))
    source = src.hash() if hasattr(src, "hash") else src.identity()
    return f"{triton_key()}-{source}-{backend.hash()}-{options}-{sorted(env_vars.items())}"
