"""The files of a compiled kernel, as Triton's cache has them: one for each stage, and one of what is known of it.

    {"add.ttir": ".../add.ttir", ..., "add.json": ".../add.json"}

The kernel cache itself keeps one file for each kernel (`support/disk_cache.py`); tools that read a compilation's files
find these by `kernel.metadata_group` or in a hook (`compiler/listening.py`). Only then are they written: the texts of
most stages have to be made for it by compiling again.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any

from tilewright.support.cache_managers import cache_manager
from tilewright.support.errors import NoAssemblerError


class StageFiles(Mapping[str, str]):
    """Paths by name of the files of a kernel, which are written, unless they are there, when somebody looks.

    `key` is the kernel's in the cache, `texts` has its stages. A stage that cannot be had (machine code without an
    assembler) has no file; where nothing can be written, a warning says so and there are none.
    """

    def __init__(self, key: str, name: str, metadata: Mapping[str, Any], texts: Mapping[str, str | bytes]) -> None:
        self._key = key
        self._name = name
        self._metadata = metadata
        self._texts = texts

    @cached_property
    def _paths(self) -> dict[str, str]:
        try:
            return self._find() or self._write()
        except OSError as error:
            warnings.warn(f"the files of kernel '{self._name}' cannot be written: {error}", stacklevel=3)
            return {}

    @property
    def _described(self) -> str:
        """The name of the file with the metadata, under which the manager keeps the whole group."""
        return f"{self._name}.json"

    def _find(self) -> dict[str, str] | None:
        return cache_manager(self._key).get_group(self._described)

    def _write(self) -> dict[str, str]:
        manager = cache_manager(self._key)
        paths: dict[str, str] = {}
        for stage in self._texts:
            try:
                text = self._texts[stage]
            except NoAssemblerError:
                continue
            paths[f"{self._name}.{stage}"] = manager.put(text, f"{self._name}.{stage}")
        metadata = json.dumps(dict(self._metadata), default=_plain)
        paths[self._described] = manager.put(metadata, self._described, binary=False)
        manager.put_group(self._described, paths)
        return paths

    def __getitem__(self, name: str) -> str:
        return self._paths[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._paths)

    def __len__(self) -> int:
        return len(self._paths)

    def __repr__(self) -> str:
        return repr(self._paths)


def _plain(value: Any) -> Any:
    """Return an object as the dictionary of its attributes, as Triton's files have a target; or else as its text."""
    attributes: dict[str, Any] | None = getattr(value, "__dict__", None)
    return str(value) if attributes is None else attributes
