"""Machine code as text."""

from __future__ import annotations

import importlib
import subprocess
from pathlib import Path
from types import SimpleNamespace

import pytest

from tilewright import compat
from tilewright.codegen.nvptx import disasm
from tilewright.codegen.nvptx.ptxas import find_program
from tilewright.support.errors import AssemblerError, NoAssemblerError

DUMP = """
	code for sm_80
		Function : loop
	.headerflags	@"EF_CUDA_SM80"
        /*0000*/                   S2R R3, SR_TID.X ;                 /* 0x0000000000037919 */
                                                                      /* 0x000e220000002100 */
        /*0010*/                   IADD3 R3, R3.reuse, 0x1, RZ ;      /* 0x0000000103037810 */
                                                                      /* 0x041fe20007ffe0ff */
        /*0020*/              @!P0 BRA 0x10 ;                         /* 0xffffffe000008947 */
                                                                      /* 0x000fea000383ffff */
		Function : empty
"""

TEXT = """Function:loop
--:-:0:-:1	S2R R3, SR_TID.X;
LBB0:
01:-:-:-:1	IADD3 R3, R3.reuse, 0x1, RZ;
--:-:-:-:5	@!P0 BRA LBB0;

Function:empty

"""

PTX = """
.version 7.0
.target sm_80
.address_size 64
.visible .entry stop() { ret; }
"""


def test_barriers_stalls_and_labels(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(disasm, "find_program", lambda name: Path("/bin") / name)
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: SimpleNamespace(returncode=0, stdout=DUMP))
    assert disasm.extract("any.cubin") == TEXT


def test_a_machine_without_the_disassembler(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(disasm, "find_program", lambda _: None)
    with pytest.raises(NoAssemblerError, match="no cuobjdump"):
        disasm.path_to_cuobjdump()


@pytest.mark.costly
def test_a_cubin(tmp_path: Path) -> None:
    ptxas = find_program("ptxas")
    if ptxas is None or find_program("cuobjdump") is None:
        pytest.skip("ptxas or cuobjdump is not installed")
    source, cubin = tmp_path / "stop.ptx", tmp_path / "stop.cubin"
    source.write_text(PTX)
    subprocess.run([ptxas, "-arch=sm_80", source, "-o", cubin], check=True)
    with compat.standing_in():
        assert importlib.import_module("triton.tools.disasm") is disasm
    get_sass = disasm.get_sass
    text = get_sass(cubin.read_bytes())
    assert text.startswith("Function:stop\n") and "\tEXIT;\n" in text
    assert get_sass(cubin.read_bytes(), "stop") == text == disasm.extract(cubin)
    with pytest.raises(AssemblerError, match="cannot read"):
        get_sass(b"no machine code")
