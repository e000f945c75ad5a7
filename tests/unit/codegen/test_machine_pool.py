"""Target machines are used again, by one user at a time, and give the same code as fresh ones."""

from __future__ import annotations

import pytest

from tilewright.codegen import llvm_backend
from tilewright.codegen.llvm_backend import LlvmError, MachinePool, compile_text, create_target_machine, parse
from tilewright.targets.cpu.facts import host_facts

TEXT = """
define void @f(ptr %p) {
  %x = load <8 x float>, ptr %p
  %y = fmul <8 x float> %x, %x
  store <8 x float> %y, ptr %p
  ret void
}
"""


def test_a_machine_has_one_user_at_a_time() -> None:
    pool, made = MachinePool(), iter(range(9))
    with pool.borrow("a", lambda: next(made)) as first, pool.borrow("a", lambda: next(made)) as second:
        assert (first, second) == (0, 1)
        with pool.borrow("b", lambda: next(made)) as other:
            assert other == 2
    with pool.borrow("a", lambda: next(made)) as again, pool.borrow("a", lambda: next(made)) as once_more:
        assert {again, once_more} == {0, 1}


def test_a_machine_that_failed_is_not_used_again() -> None:
    pool, made = MachinePool(), iter(range(9))
    with pytest.raises(LlvmError), pool.borrow("a", lambda: next(made)):
        raise LlvmError("refused")
    with pool.borrow("a", lambda: next(made)) as machine:
        assert machine == 1


def test_machines_that_were_used_give_the_same_code(monkeypatch: pytest.MonkeyPatch) -> None:
    pool = MachinePool()
    monkeypatch.setattr(llvm_backend, "machines", pool)
    facts = host_facts()
    other = TEXT.replace("fmul", "fadd").replace("@f", "@g")
    images = [compile_text(text, facts) for text in (TEXT, other, TEXT)]
    module, machine = parse(TEXT), create_target_machine(facts)
    llvm_backend.optimise(module, machine, llvm_backend.Effort.LIGHT)
    assert images[0] == images[2] == llvm_backend.emit_object(module, machine) != images[1]
    assert [len(idle) for idle in pool.idle.values()] == [1]
