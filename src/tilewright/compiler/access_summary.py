"""A kernel as a module with nothing but its accesses, to be walked as `triton._C.libtriton.ir.module` is.

PyTorch asks Triton for a user kernel's IR to find out which arguments the kernel writes: it walks the ops from the
inside out, and goes back from stores and loads through operands to the function's arguments. Its walk follows every
path anew, does not know all ops that write, and loses pointers that loops and branches exchange. So it is handed what
our own analysis found:

    tt.func public @kernel(%x, %y, %n) {
      tt.load %x
      tt.store %y
      tt.return
    }

An op for each access and argument: PyTorch also counts them, to know whether an epilogue may go into the only store.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import field
from typing import TYPE_CHECKING

from tilewright.support.records import dataclass

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp

FUNCTION, LOAD, STORE, ASSEMBLY, RETURN = "tt.func", "tt.load", "tt.store", "tt.elementwise_inline_asm", "tt.return"


@dataclass(frozen=True)
class Value:
    """A value or a region: what is told apart by a number."""

    number: int

    def id(self) -> int:
        return self.number


@dataclass(frozen=True)
class Block:
    """The only block of a function."""

    arguments: tuple[Value, ...]
    region: Value

    def id(self) -> int:
        return self.region.id()

    def get_num_arguments(self) -> int:
        return len(self.arguments)

    def get_argument(self, index: int) -> Value:
        return self.arguments[index]

    def get_parent(self) -> Value:
        return self.region


@dataclass(frozen=True)
class Operation:
    """An op without results: one of the function's, or the function, whose `symbol` is its name."""

    name: str
    block: Block | None
    operands: tuple[Value, ...] = ()
    regions: tuple[Value, ...] = ()
    symbol: str = ""

    def get_name(self) -> str:
        return self.name

    def get_block(self) -> Block | None:
        return self.block

    def get_num_operands(self) -> int:
        return len(self.operands)

    def get_operand(self, index: int) -> Value:
        return self.operands[index]

    def get_num_results(self) -> int:
        return 0

    def get_num_regions(self) -> int:
        return len(self.regions)

    def get_region(self, index: int) -> Value:
        return self.regions[index]

    def get_str_attr(self, name: str) -> str | None:
        return self.symbol if name == "sym_name" and self.symbol else None

    def get_bool_attr(self, name: str) -> bool:
        """Assembly is shown only where it is not `pure`."""
        return False


@dataclass(frozen=True)
class AccessSummary:
    """The module of one kernel."""

    kernel: str
    num_arguments: int
    ops: Sequence[tuple[str, tuple[int, ...]]]
    """Name and arguments of each."""
    context: object = field(default=None, compare=False)

    def verify(self) -> bool:
        """Accept everything: what was made from a module that compiles is sound."""
        return True

    def walk(self, visit: Callable[[Operation], None]) -> None:
        """Call a function for each op, from the inside out."""
        region = Value(self.num_arguments)
        values = tuple(map(Value, range(self.num_arguments)))
        block = Block(values, region)
        for name, arguments in self.ops:
            visit(Operation(name, block, tuple(values[number] for number in arguments)))
        visit(Operation(RETURN, block))
        visit(Operation(FUNCTION, None, (), (region,), self.kernel))
        visit(Operation("builtin.module", None))

    def __str__(self) -> str:
        shown = ", ".join(f"%arg{number}" for number in range(self.num_arguments))
        ops = [f"    {name} {', '.join(f'%arg{number}' for number in arguments)}\n" for name, arguments in self.ops]
        return f"module {{\n  {FUNCTION} public @{self.kernel}({shown}) {{\n{''.join(ops)}    {RETURN}\n  }}\n}}\n"


def summarise(module: ModuleOp, context: object = None) -> AccessSummary:
    """Return the accesses of the kernel in a module that the front end made, which is changed."""
    from tilewright.analysis.accessed_arguments import find_accesses
    from tilewright.dialects import tt
    from tilewright.ir.passes import PassContext
    from tilewright.ir.walking import find_ops
    from tilewright.transforms.common.inline import InlinePass

    InlinePass(insists=True).run(module, PassContext())
    ops: list[tuple[str, tuple[int, ...]]] = []
    for access in find_accesses(module):
        names = [LOAD] * access.reads + [STORE] * access.writes
        ops += [(name, (argument,)) for name in names for argument in access.arguments]
    if any(not op.pure.value.data for op in find_ops(module, tt.ElementwiseInlineAsmOp)):
        ops.append((ASSEMBLY, ()))
    kernel = next(op for op in find_ops(module, tt.FuncOp) if op.is_public)
    return AccessSummary(kernel.sym_name.data, len(kernel.body.blocks[0].args), ops, context)
