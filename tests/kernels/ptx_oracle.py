"""Official Triton's PTX for the kernels of `ttgir_cases`, and what of PTX is compared."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import Any

from official_answers import answer, ask, official_source
from ttgir_cases import GpuCase

_ACCESS = re.compile(
    r"\b(?P<kind>ld|st|atom|red)\.(?:\w+\.)*?global[\w.:]*?(?:\.v(?P<count>\d))?\.[bufs](?P<bits>\d+)(?P<pair>x2)?\b"
)
_COPY = re.compile(r"\bcp\.async\.c[ag]\.shared\.global[\w.:]*\s*\[[^]]*\],\s*\[[^]]*\],\s*(?P<bytes>0x[0-9a-f]+|\d+)")


def official_ptx(capability: int, cases: Sequence[GpuCase]) -> dict[str, str]:
    """The PTX that official Triton makes of each kernel, by name; without those that it refuses."""
    return ask(__file__, capability, cases)


def accesses(ptx: str) -> Counter[tuple[str, int]]:
    """How many instructions access global memory, by kind (`ld`, `st`, `atom`, `red`) and bytes of a thread. Copies to
    shared memory count as loads."""
    found: Counter[tuple[str, int]] = Counter()
    for line in ptx.splitlines():
        code = line.partition("//")[0]
        if copy := _COPY.search(code):
            found["ld", int(copy["bytes"], 0)] += 1
        elif access := _ACCESS.search(code):
            count = int(access["count"] or 1) * (2 if access["pair"] else 1)
            found[access["kind"], count * int(access["bits"]) // 8] += 1
    return found


def _compile(case: GpuCase, capability: int) -> str:
    """PTX of one kernel."""
    source = official_source(case, capability)
    stages: dict[str, Any] = {}
    source.backend.add_stages(stages, source.options, source.language)
    module = source.module
    for name in ("ttir", "ttgir", "llir", "ptx"):
        module = stages[name](module, source.metadata)
    return module


if __name__ == "__main__":
    answer(_compile)
