"""Older instruction sets that the benchmark can be kept to on a newer processor, on all sides.

Everybody has a switch of their own for it; NumPy's loops (not its products) have none that outlives its releases.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class InstructionSet:
    """One of them, as each side spells it; empty where there is nothing to say."""

    title: str
    without: str
    """Features that we do without."""
    onednn: str
    mkl: str
    aten: str = ""
    openblas: str = ""
    numba: str = ""

    @property
    def environment(self) -> dict[str, str]:
        """The variables that have to be set before any of the libraries is loaded."""
        variables = {
            "TILEWRIGHT_CPU_WITHOUT": self.without,
            "ONEDNN_MAX_CPU_ISA": self.onednn,
            "MKL_ENABLE_INSTRUCTIONS": self.mkl,
            "ATEN_CPU_CAPABILITY": self.aten,
            "OPENBLAS_CORETYPE": self.openblas,
            "NUMBA_CPU_NAME": self.numba,
        }
        return {name: value for name, value in variables.items() if value}


INSTRUCTION_SETS = {
    "avx512-bf16": InstructionSet("AVX-512 with BF16, no AMX", "amx-tile", "AVX512_CORE_BF16", "AVX512_E2"),
    "avx512-vnni": InstructionSet(
        "AVX-512 with VNNI, no BF16", "amx-tile,avx512bf16,avx512fp16", "AVX512_CORE_VNNI", "AVX512"
    ),
    "avx2-vnni": InstructionSet(
        "AVX2 with VNNI", "amx-tile,avx512f", "AVX2_VNNI", "AVX2", "avx2", "Haswell", "haswell"
    ),
    "avx2": InstructionSet("AVX2", "amx-tile,avx512f,avxvnni", "AVX2", "AVX2", "avx2", "Haswell", "haswell"),
}
"""By the name that `--isa` takes."""

WITHOUT_AMX = INSTRUCTION_SETS["avx512-bf16"]
