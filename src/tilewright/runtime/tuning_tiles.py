"""Which of a kernel's meta-parameters are the rows and columns of its tiles."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import redirect_stdout, suppress
from io import StringIO
from typing import Any

from tilewright.compiler.compilation import deferring
from tilewright.compiler.options import CompileOptions
from tilewright.compiler.source import Source
from tilewright.compiler.tile_parameters import order_tile_parameters
from tilewright.support.errors import TilewrightError
from tilewright.targets.base import describe_target, find_target


def find_tile_parameters(
    configs: Sequence[Mapping[str, Any]], others: Collection[object], compile: Callable[[Mapping[str, Any]], Any]
) -> list[str]:
    """The parameters that are sizes of tiles: of rows, of columns, and others, by the front end's module for one of the
    configurations. Its sizes are different from each other and from `others`, so that a size names a parameter.

    Empty where no configuration is like that, for GPUs, and where the module does not say."""
    names = [name for name in configs[0] if _is_varying_size([config.get(name) for config in configs])]
    with suppress(TilewrightError):
        for config in configs:
            sizes = {name: config[name] for name in names}
            if len({*sizes.values(), *others}) == len(sizes) + len(set(others)):
                source = _find_source(config, compile)
                if source is None:
                    return []
                with redirect_stdout(StringIO()):
                    return order_tile_parameters(source.module(find_target("cpu"), CompileOptions()), sizes)
    return []


def _find_source(config: Mapping[str, Any], compile: Callable[[Mapping[str, Any]], Any]) -> Source | None:
    """The front end's part of a configuration, which is not compiled for that; None of one for a GPU."""
    kernel: Any = None
    with deferring() as requests, suppress(TilewrightError):
        kernel = compile(config)
    if requests:
        return requests[0].source if describe_target(requests[0].target).backend == "cpu" else None
    return kernel.src if kernel is not None and kernel.metadata.target.backend == "cpu" else None


def _is_varying_size(values: Sequence[object]) -> bool:
    return len(set(map(repr, values))) > 1 and all(type(value) is int and value > 0 for value in values)
