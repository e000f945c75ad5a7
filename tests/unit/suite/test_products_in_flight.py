"""The reader of machine code finds what is written too early, in the next round of a loop, too."""

from __future__ import annotations

import pytest

from suite.products_in_flight import overwritten

LOOP = """
LBB1:
--:-:-:-:1	{early}
--:-:-:-:1	WARPGROUP.DEPBAR.LE gsb0, 0x0;
--:-:-:-:1	HMUL2 R8, R2, R3;
--:-:-:-:1	HGMMA.64x64x16.F32 R24, R8, gdesc[UR12], R24;
--:-:-:-:1	HGMMA.64x64x16.F32 R24, R12, gdesc[UR16], R24, gsb0;
--:-:-:-:1	{late}
--:-:-:-:5	@!P1 BRA LBB1;
"""


def check(early: str = "NOP;", late: str = "NOP;") -> list[str]:
    return overwritten(LOOP.format(early=early, late=late))


def test_what_is_written_after_the_wait() -> None:
    assert not check()
    assert not check("IMAD R7, R8, R9, R10;", "STG.E.128 R8, R4;")


@pytest.mark.parametrize(
    "write", ["IMAD R8, R2, R3, R4;", "LDS.128 R12, [R2];", "IADD.64 R10, R2, R4;", "@P0 MOV R15, R2;"]
)
def test_what_is_written_before_it(write: str) -> None:
    assert len(check(early=write)) == 1
    assert len(check(late=write)) == 2


def test_groups_that_may_go_on() -> None:
    assert overwritten(LOOP.format(early="NOP;", late="NOP;").replace("0x0", "0x1"))


def test_nothing_to_look_at() -> None:
    with pytest.raises(ValueError, match="no loop"):
        overwritten(LOOP.replace("R24, R8,", "R24, gdesc[UR4],").replace("R24, R12,", "R24, gdesc[UR4],"))
