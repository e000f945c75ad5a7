"""A pass of a package outside of the tree, as its author would write it: it makes factors of 2 factors of 3."""

from __future__ import annotations

from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, FloatAttr, ModuleOp

from tilewright.compiler.plugins import Placement
from tilewright.dialects import arith, tt
from tilewright.ir.passes import Pass, PassContext, register_pass
from tilewright.ir.walking import find_ops

FROM, TO = 2.0, 3.0


@register_pass
class ThirdFactorPass(Pass):
    """Each constant 2.0 becomes 3.0."""

    name = "third-factor"

    def run(self, module: ModuleOp, context: PassContext) -> None:
        for op in find_ops(module, arith.ConstantOp):
            match op.value:
                case FloatAttr() if op.value.value.data == FROM:
                    op.properties["value"] = FloatAttr(TO, op.value.type)
                case DenseIntOrFPElementsAttr() if set(op.value.get_values()) == {FROM}:
                    op.properties["value"] = DenseIntOrFPElementsAttr.from_list(op.value.type, [TO])
                case _:
                    pass


@register_pass
class NameFunctionsPass(Pass):
    """Marks each function."""

    name = "name-functions"

    def run(self, module: ModuleOp, context: PassContext) -> None:
        for op in find_ops(module, tt.FuncOp):
            op.attributes["toy.seen"] = op.sym_name


def make_number() -> int:
    return 3


IN_TTIR = Placement(ThirdFactorPass, "cpu/ttir", after="triton-combine")
IN_TTGIR = Placement(NameFunctionsPass, "cuda/ttgir", before="cse", occurrence=-1)
AT_THE_END = Placement(NameFunctionsPass, "cuda/ttir")
IN_LOOPS = Placement(NameFunctionsPass, "cpu/loops", before="linalg-to-loops")

NO_TARGET = Placement(ThirdFactorPass, "cup/ttir")
NO_STAGE = Placement(ThirdFactorPass, "cpu/tir")
NO_PASS = Placement(ThirdFactorPass, "cpu/ttir", after="triton-combin")
NO_OCCURRENCE = Placement(ThirdFactorPass, "cpu/structured", after="cse", occurrence=7)
NO_MAKER = Placement(make_number, "cpu/ttir")
TWO_PLACES = Placement(ThirdFactorPass, "cpu/ttir", before="cse", after="cse")
NO_PLACEMENT = ThirdFactorPass
