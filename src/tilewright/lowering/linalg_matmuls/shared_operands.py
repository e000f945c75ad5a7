"""Whether several programs of a launch multiply by the same B, as far as the grid and the address of B say."""

from __future__ import annotations

from xdsl.ir import Block, SSAValue

from tilewright.dialects import arith, scf
from tilewright.lowering.linalg_to_loops.emitter import INDEX, Index, LoopEmitter
from tilewright.transforms.linalg.index_proofs import constant_of, find_cut
from tilewright.transforms.linalg.needed_bounds import make_available


def is_shared(emitter: LoopEmitter, loop: scf.ForOp, offset: Index, needed: Index, columns: int) -> SSAValue | bool:
    """Return whether several programs may multiply by the same B in a loop over k; True where nothing else is known.

    Two arguments say that none is shared by two, unless a program makes several blocks. `offset` is where B starts;
    `needed`: how many `columns` of its block are not cut off at the last one.
    """
    grid = emitter.grid_arguments()
    if not grid or emitter.cursor.block is not emitter.entry:
        return True
    programs = [emitter.index_cast(extent, INDEX) for extent in grid[:3]]
    shared: SSAValue | bool = True
    cut = find_cut(needed, columns)
    if cut is not None and make_available(cut.end, loop, {}):
        # Each block of columns has a program or several: no more programs than blocks, and each has one.
        all_programs = emitter.mul(emitter.mul(programs[0], programs[1]), programs[2])
        shared = emitter.compare("sge", emitter.mul(all_programs, columns), emitter.add(cut.end, columns))
    terms = _linear_terms(offset)
    if terms is not None:
        # Where B starts grows with some of the program's ids: programs that differ in these have another one.
        others: Index = 1
        for program, number in zip(programs, grid[3:], strict=True):
            if number not in terms:
                others = emitter.mul(others, program)
        shared = emitter.both(shared, emitter.compare("sgt", others, 1))
    return shared


def _linear_terms(value: Index, depth: int = 12) -> set[SSAValue] | None:
    """The arguments that sums and multiples are made of; None where something else is in them."""
    if constant_of(value) is not None:
        return set()
    assert isinstance(value, SSAValue)
    if isinstance(value.owner, Block):
        return {value}
    if depth == 0 or not isinstance(value.owner, arith.AddiOp | arith.SubiOp | arith.MuliOp | arith.IndexCastOp):
        return None
    found = [_linear_terms(operand, depth - 1) for operand in value.owner.operands]
    return None if None in found else set[SSAValue]().union(*(terms for terms in found if terms is not None))
