"""Lists of all ops below an op are what xDSL's walks yield."""

from __future__ import annotations

import pytest
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from tilewright.dialects import arith, cf, make_context, scf
from tilewright.ir.parsing import parse_module
from tilewright.ir.walking import find_ops, is_subclass, ops_within

TEXT = """
func.func @f(%c: i1, %n: index) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  scf.for %i = %zero to %n step %one {
    %two = arith.constant 2 : index
    scf.if %c {
      %three = arith.constant 3 : index
    }
  }
  cf.br ^end
^end:
  %four = arith.constant 4 : index
  return
}
func.func private @declared()
"""


@pytest.fixture
def module() -> ModuleOp:
    return parse_module(TEXT, make_context())


def test_as_a_walk(module: ModuleOp) -> None:
    assert ops_within(module) == list(module.walk())
    assert ops_within(module.body) == list(module.body.walk())


def test_the_ir_may_change_meanwhile(module: ModuleOp) -> None:
    for op in find_ops(module, arith.ConstantOp):
        if not any(result.uses for result in op.results):
            op.detach()
            op.erase()
    assert len(find_ops(module, arith.ConstantOp)) == 2


def test_of_some_classes(module: ModuleOp) -> None:
    loop, branch = find_ops(module, scf.ForOp, cf.BranchOp)
    assert isinstance(loop, scf.ForOp) and isinstance(branch, cf.BranchOp)
    assert find_ops(loop, scf.ForOp) == [loop]
    assert find_ops(loop.body, scf.ForOp) == []
    assert find_ops(module, Operation) == ops_within(module)


def test_subclasses() -> None:
    assert is_subclass(scf.ForOp, (scf.IfOp, scf.ForOp))
    assert is_subclass(scf.ForOp, (Operation,))
    assert not is_subclass(Operation, (scf.ForOp,))
    assert not is_subclass(scf.ForOp, ())
