"""Cache policies of Gluon: what a load or store tells the caches. They change no value.

What the ops can say is passed on: a modifier, and whether lines are evicted first or last. The rest, such as policies
of the second cache for a fraction of the lines, is checked and left out.
"""

from __future__ import annotations

import math
from dataclasses import fields
from typing import Any

from tilewright.language.values import constexpr_type, unwrap
from tilewright.support.records import dataclass

_PRIORITIES = ("evict_normal", "evict_unchanged", "evict_first", "evict_last")
_MODIFIERS = ("ca", "cg", "wb", "cs", "wt", "cv")
_PREFETCHES = (64, 128, 256)


def _check(value: Any, allowed: tuple[Any, ...], what: str) -> None:
    if value not in allowed:
        raise ValueError(f"Unsupported {what} {value!r}; expected one of {', '.join(map(repr, allowed))}")


class _Policy:
    """A policy is a constant of compile time."""

    def __post_init__(self) -> None:
        for field in fields(self):  # pyright: ignore[reportArgumentType]
            object.__setattr__(self, field.name, unwrap(getattr(self, field.name)))
        self._check_fields()

    def _check_fields(self) -> None:
        """Raise ValueError or TypeError for what no policy says."""

    @property
    def type(self) -> constexpr_type:
        return constexpr_type(self)

    def mangle(self) -> str:
        words = [str(getattr(self, field.name)) for field in fields(self)]  # pyright: ignore[reportArgumentType]
        return "_".join([type(self).__name__, *words])


@dataclass(frozen=True)
class CachePolicy(_Policy):
    """Hints that every target understands, as `gl.load(..., cache_modifier, eviction_policy)`."""

    cache_modifier: str = "none"
    eviction_policy: str = "evict_normal"

    def _check_fields(self) -> None:
        object.__setattr__(self, "cache_modifier", self.cache_modifier.removeprefix("."))
        _check(self.cache_modifier, ("none", *_MODIFIERS), "cache modifier")
        _check(self.eviction_policy, ("evict_normal", "evict_first", "evict_last"), "eviction policy")


@dataclass(frozen=True)
class FractionalEvictionPolicy(_Policy):
    """Of the lines in NVIDIA's second cache `fraction` have the priority `primary`, the others `secondary`."""

    primary: str
    fraction: float
    secondary: str = "evict_unchanged"

    def _check_fields(self) -> None:
        _check(self.primary, _PRIORITIES, "L2 primary eviction priority")
        _check(self.secondary, ("evict_unchanged", "evict_first"), "L2 secondary eviction priority")
        if not math.isfinite(self.fraction) or not 0 < self.fraction <= 1:
            raise ValueError(f"L2 eviction fraction must be in (0, 1], got {self.fraction}")


@dataclass(frozen=True)
class NvidiaCachePolicy(_Policy):
    """Hints for NVIDIA's first and second cache: a modifier, priorities of eviction, how much to prefetch."""

    cache_modifier: str | None = None
    l1: str | None = None
    l2: FractionalEvictionPolicy | None = None
    l2_prefetch_size: int | None = None

    def _check_fields(self) -> None:
        if self.cache_modifier is not None:
            object.__setattr__(self, "cache_modifier", self.cache_modifier.removeprefix("."))
            _check(self.cache_modifier, _MODIFIERS, "cache modifier")
        if self.l1 is not None:
            _check(self.l1, (*_PRIORITIES, "no_allocate"), "L1 eviction priority")
        if self.l2_prefetch_size is not None:
            _check(self.l2_prefetch_size, _PREFETCHES, "L2 prefetch size")
        if self.l2 is not None and type(self.l2) is not FractionalEvictionPolicy:
            raise TypeError(f"l2 must be a FractionalEvictionPolicy, got {self.l2!r}")
        if not (self.cache_modifier or self.l1 or self.l2 or self.l2_prefetch_size):
            raise ValueError("CachePolicy requires a cache modifier, L1 policy, L2 policy, or L2 prefetch size")


def hints_of(cache_policy: Any, cache_modifier: Any, eviction_policy: Any) -> dict[str, Any]:
    """`cache_modifier` and `eviction_policy` of an access. Raises ValueError where both ways of saying them are used,
    TypeError for anything that is not a policy."""
    policy = unwrap(cache_policy)
    if policy is None:
        return {"cache_modifier": cache_modifier, "eviction_policy": eviction_policy}
    for name, value in (("cache_modifier", cache_modifier), ("eviction_policy", eviction_policy)):
        if unwrap(value) is not None:
            raise ValueError(f"cache_policy and {name} are mutually exclusive")
    if not isinstance(policy, CachePolicy | NvidiaCachePolicy):
        raise TypeError(f"cache_policy must be a CachePolicy, got {policy!r}")
    modifier = policy.cache_modifier
    eviction = policy.eviction_policy if isinstance(policy, CachePolicy) else policy.l1
    return {
        "cache_modifier": f".{modifier}" if modifier not in (None, "none") else "",
        "eviction_policy": eviction if eviction in ("evict_first", "evict_last") else "",
    }


def check_policy_of_box(cache_policy: Any) -> None:
    """ValueError or TypeError for a policy that copies of boxes cannot have: they pass by the first cache."""
    policy = unwrap(cache_policy)
    if policy is None:
        return
    if not isinstance(policy, CachePolicy | NvidiaCachePolicy):
        raise TypeError(f"cache_policy must be a CachePolicy, got {policy!r}")
    if policy.cache_modifier not in (None, "none"):
        raise ValueError("TMA operations do not support cache modifiers")
    if isinstance(policy, NvidiaCachePolicy) and (policy.l1 or policy.l2_prefetch_size):
        raise ValueError("TMA operations have policies of the second cache only, and do not prefetch")


__all__ = ["CachePolicy", "FractionalEvictionPolicy", "NvidiaCachePolicy", "check_policy_of_box", "hints_of"]
