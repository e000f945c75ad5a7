"""Stable hashes of nested Python values: the same on every machine, in every process, for equal inputs."""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Mapping
from enum import Enum
from pathlib import Path
from typing import Any, Protocol


class _Hash(Protocol):
    def update(self, data: bytes, /) -> object: ...


def fingerprint(*values: Any) -> str:
    """Hexadecimal sha256 of nested values: None, bool, int, float, str, bytes, paths, enums, types, sequences, sets,
    mappings and dataclasses. Mappings and sets count as unordered. Values of different types never collide (``1``,
    ``True``, ``"1"`` and ``1.0`` all differ). Raises `TypeError` for anything else, rather than hash an address.
    """
    state = hashlib.sha256()
    _feed(state, values)
    return state.hexdigest()


def _feed(state: _Hash, value: Any) -> None:
    items: Any = value
    match value:
        case None:
            _feed_bytes(state, b"none", b"")
        case Enum():
            _feed_bytes(state, b"enum", f"{type(value).__module__}.{type(value).__qualname__}.{value.name}".encode())
        case bool() | int() | float() | complex():
            _feed_bytes(state, type(value).__name__.encode(), repr(value).encode())
        case str():
            _feed_bytes(state, b"str", value.encode("utf-8", "surrogatepass"))
        case bytes() | bytearray() | memoryview():
            _feed_bytes(state, b"bytes", bytes(items))
        case Path():
            _feed_bytes(state, b"path", str(value).encode())
        case type():
            _feed_bytes(state, b"type", f"{value.__module__}.{value.__qualname__}".encode())
        case tuple() | list():
            _feed_items(state, b"sequence", value)
        case set() | frozenset():
            _feed_items(state, b"set", sorted(fingerprint(item) for item in items))
        case Mapping():
            pairs = sorted((fingerprint(key), fingerprint(item)) for key, item in items.items())
            _feed_items(state, b"mapping", pairs)
        case _ if dataclasses.is_dataclass(value):
            _feed(state, type(value))
            _feed_items(state, b"fields", [(f.name, getattr(value, f.name)) for f in dataclasses.fields(value)])
        case _:
            raise TypeError(f"cannot fingerprint a value of type {type(value).__name__}: {value!r}")


def _feed_bytes(state: _Hash, tag: bytes, data: bytes) -> None:
    """Tag and length first, so that no two different nestings give the same stream of bytes."""
    state.update(b"%b:%d:" % (tag, len(data)))
    state.update(data)


def _feed_items(state: _Hash, tag: bytes, items: Any) -> None:
    state.update(b"%b[%d]" % (tag, len(items)))
    for item in items:
        _feed(state, item)
