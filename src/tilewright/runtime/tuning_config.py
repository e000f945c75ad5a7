"""`Config`: one choice of constants and launch options that the autotuner measures."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tilewright.support.errors import (
    NoConfigError,
    TilewrightError,
)


class AutotunerError(TilewrightError):
    """Autotuning cannot choose: every configuration was pruned away."""


class Config:
    """One point of the search: values of meta-parameters (`kwargs`) and launch options.

    `pre_hook(args)` runs before each launch with this configuration; args maps names to values.
    """

    def __init__(
        self,
        kwargs: Mapping[str, Any],
        num_warps: int = 4,
        num_stages: int = 3,
        num_ctas: int = 1,
        maxnreg: int | None = None,
        pre_hook: Callable[[dict[str, Any]], Any] | None = None,
        ir_override: str | None = None,
    ) -> None:
        self.kwargs = dict(kwargs)
        self.num_warps = num_warps
        self.num_stages = num_stages
        self.num_ctas = num_ctas
        self.maxnreg = maxnreg
        self.pre_hook = pre_hook
        self.ir_override = ir_override

    def all_kwargs(self) -> dict[str, Any]:
        """Meta-parameters and the options that are set."""
        options = {
            "num_warps": self.num_warps,
            "num_ctas": self.num_ctas,
            "num_stages": self.num_stages,
            "maxnreg": self.maxnreg,
            "ir_override": self.ir_override,
        }
        return {**self.kwargs, **{name: value for name, value in options.items() if value is not None}}

    def _identity(self) -> tuple[Any, ...]:
        return (*sorted(self.all_kwargs().items()), self.pre_hook)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Config) and self._identity() == other._identity()

    def __hash__(self) -> int:
        return hash(self._identity())

    def __str__(self) -> str:
        return ", ".join(f"{name}: {value}" for name, value in self.all_kwargs().items())

    __repr__ = __str__


def checked_configs(configs: Sequence[Any]) -> list[Config]:
    """The configurations. Raises TypeError for what is none."""
    if isinstance(configs, Config):
        raise NoConfigError("autotune(configs=...): expected a list, got one: write [triton.Config(...)]")
    for config in configs:
        if not isinstance(config, Config):
            raise NoConfigError(f"autotune(configs=...): expected triton.Config({{...}}), got {type(config).__name__}")
    return list(configs)
