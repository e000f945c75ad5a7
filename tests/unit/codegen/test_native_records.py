"""Records that Python and native code share have their fields where both look for them."""

from __future__ import annotations

import ctypes
from ctypes import Structure

import pytest

from tilewright.codegen.llvm_backend import ObjectLoader, compile_text
from tilewright.codegen.native_records import ArenaHeader, Habits, Launch, declare, names_of
from tilewright.targets.cpu.facts import host_facts
from tilewright.targets.cpu.native_runtime import Again
from tilewright.targets.cuda.native_launch import CudaLaunch
from tilewright.targets.launch_cache.records import RECORDS


@pytest.mark.parametrize(
    "record", [ArenaHeader, Launch, Habits, Again, CudaLaunch, *RECORDS], ids=lambda record: record.__name__
)
def test_offsets(record: type[Structure]) -> None:
    """LLVM counts as ctypes does: the offset of each field, the size behind them."""
    name, numbers = record.__name__, names_of(record)
    fields = [field[0] for field in record._fields_]
    addresses = [f"(%{name}, ptr null, i32 0, i32 {numbers[f'{name}_{field}']})" for field in fields]
    addresses.append(f"(%{name}, ptr null, i32 1)")
    offsets = ", ".join(f"i64 ptrtoint (ptr getelementptr {address} to i64)" for address in addresses)
    facts = host_facts()
    text = (
        f'target triple = "{facts.triple}"\n{declare(record)}\n@offsets = constant [{len(addresses)} x i64] [{offsets}]'
    )
    loader = ObjectLoader()
    library = loader.load(compile_text(text, facts), ("offsets",))
    found = list((ctypes.c_int64 * len(addresses)).from_address(library.address("offsets")))
    assert found == [*(getattr(record, field).offset for field in fields), int(numbers[f"sizeof_{name}"])]
