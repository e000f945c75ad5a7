"""The arguments that each access of a kernel may read or write, found like `written_arguments`: backwards from the
accesses, through address arithmetic, control flow, and calls.

Calls are not told apart, so inline first: a function that moves any pointer on would hand that of one caller to all.
"""

from __future__ import annotations

from collections import defaultdict

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue

from tilewright.analysis.written_arguments import WRITERS, edges_of, holds_pointer
from tilewright.dialects import tt, ttg, ttng
from tilewright.ir.walking import find_ops, ops_within
from tilewright.support.records import dataclass

UPDATERS = (tt.AtomicRMWOp, tt.AtomicCASOp, tt.DescriptorReduceOp, ttng.AsyncTMAReduceOp)
"""Those of the writers that read as well."""

READERS = (
    tt.LoadOp,
    tt.AtomicLoadOp,
    tt.AtomicPollOp,
    tt.DescriptorLoadOp,
    tt.DescriptorGatherOp,
    ttg.AsyncCopyGlobalToLocalOp,
    ttng.AsyncTMACopyGlobalToLocalOp,
    ttng.AsyncTMAGatherOp,
)


@dataclass(frozen=True)
class Access:
    """One op of a kernel, by the numbers of the function's arguments that its address may come from."""

    reads: bool
    writes: bool
    arguments: tuple[int, ...]


def find_accesses(module: ModuleOp) -> list[Access]:
    """The accesses to memory of a module's functions, in program order; the arguments are those of the kernel, the
    first public function.
    """
    functions = {op.sym_name.data: op for op in find_ops(module, tt.FuncOp)}
    kernel = next((op for op in functions.values() if op.is_public and not op.is_declaration), None)
    if kernel is None:
        return []
    through_integers = bool(find_ops(module, tt.PtrToIntOp))
    sources: dict[SSAValue, list[SSAValue]] = defaultdict(list)
    for op in ops_within(module):
        for source, target in edges_of(op, functions):
            if through_integers or (holds_pointer(source.type) and holds_pointer(target.type)):
                sources[target].append(source)
    numbers: dict[SSAValue, int] = {
        value: index for index, value in enumerate(kernel.body.blocks[0].args) if holds_pointer(value.type)
    }
    found: list[Access] = []
    for op in find_ops(module, *READERS, *WRITERS):
        writes = isinstance(op, WRITERS)
        origins = _origins(op.operands[0], sources)
        arguments = tuple(sorted(numbers[value] for value in origins if value in numbers))
        found.append(Access(not writes or isinstance(op, UPDATERS), writes, arguments))
    return found


def _origins(value: SSAValue, sources: dict[SSAValue, list[SSAValue]]) -> set[SSAValue]:
    seen, pending = {value}, [value]
    while pending:
        for source in sources.get(pending.pop(), ()):
            if source not in seen:
                seen.add(source)
                pending.append(source)
    return seen
