"""Ops of a kind that is known to be right are not verified again: only where nothing else decides."""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Callable, Iterator
from types import FunctionType
from typing import Any

import pytest
from xdsl.dialects.builtin import ModuleOp, UnregisteredOp, i32
from xdsl.ir import Block, Operation, Region

from tilewright.dialects import DIALECTS, arith, load_dialect, make_context
from tilewright.dialects.arith.constant import constant_int
from tilewright.ir import verify
from tilewright.ir.parsing import parse_module
from tilewright.ir.walking import ops_within
from tilewright.support.errors import VerifyError

OF_OTHERS = {"owner", "parent", "parent_op", "parent_block", "uses", "next_op", "prev_op", "get_toplevel_object"}
"""Attributes by which one gets from an op or a value to another op."""


OPS: list[type[Operation]] = [op for name in DIALECTS for op in load_dialect(name).operations]


def own_verifier(cls: type[Operation]) -> FunctionType | None:
    """The `verify_` that a class was written with, which xDSL has wrapped."""
    cells: Any = getattr(cls.verify_, "__closure__", None) or ()
    return next((c.cell_contents for c in cells if isinstance(c.cell_contents, FunctionType)), None)


def functions_of(cls: type[Operation], function: FunctionType, seen: set[str]) -> Iterator[FunctionType]:
    """A function, and what it calls of the functions of dialects and of the class's methods."""
    seen.add(function.__name__)
    yield function
    for name in function.__code__.co_names:
        for callee in (function.__globals__.get(name), inspect.getattr_static(cls, name, None)):
            callee = getattr(callee, "__func__", callee)
            if (
                isinstance(callee, FunctionType)
                and callee.__module__.startswith("tilewright.dialects")
                and name not in seen
            ):
                yield from functions_of(cls, callee, seen)


def names_read(function: Callable[..., Any]) -> set[str]:
    tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    return {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}


@pytest.mark.costly
def test_verifiers_that_look_at_other_ops_say_so() -> None:
    remembered = looking = 0
    for cls in OPS:
        function = own_verifier(cls)
        if function is None:
            continue
        looks = any(names_read(part) & OF_OTHERS for part in functions_of(cls, function, set()))
        looking += looks
        if verify._is_verified_alone(cls):  # pyright: ignore[reportPrivateUsage]
            remembered += 1
            assert not looks, f"{cls.name}: needs the trait VerifiedAmongOthers"
    assert remembered > 100
    assert looking > 3


def parse(text: str) -> ModuleOp:
    return parse_module(text, make_context())


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the ops whose verifiers ran, from the test's start on."""
    known: set[Any] = set()
    monkeypatch.setattr(verify, "_known_right", known)
    names: list[str] = []
    for cls in OPS:
        inner = cls.verify_

        def counted(op: Operation, inner: Callable[[Operation], None] = inner) -> None:
            names.append(op.name)
            inner(op)

        monkeypatch.setattr(cls, "verify_", counted)
    return names


TWO_SUMS = """func.func @f(%a: i32, %b: i64) -> i32 {
  %0 = arith.addi %a, %a : i32
  %1 = arith.addi %0, %a : i32
  %2 = arith.addi %b, %b : i64
  func.return %1 : i32
}"""


def test_a_kind_of_op_is_verified_once(calls: list[str]) -> None:
    module = parse(TWO_SUMS)
    calls.clear()
    verify._known_right.clear()  # pyright: ignore[reportPrivateUsage]
    verify.verify_module(module)
    assert calls.count("arith.addi") == 2
    assert calls.count("func.return") == 1
    verify.verify_module(module)
    assert calls.count("arith.addi") == 2
    assert calls.count("func.return") == 2


def test_what_is_wrong_stays_wrong() -> None:
    module = parse(TWO_SUMS)
    sums = [op for op in ops_within(module) if op.name == "arith.addi"]
    sums[1].operands[1] = sums[2].results[0]
    for _ in range(2):
        with pytest.raises(VerifyError, match=r"arith\.addi"):
            verify.verify_module(module)


def test_few_kinds_are_known_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    known: set[Any] = set()
    monkeypatch.setattr(verify, "_known_right", known)
    monkeypatch.setattr(verify, "MOST_KNOWN", 1)
    verify.verify_module(parse(TWO_SUMS))
    assert len(known) == 1


def test_a_user_that_was_never_inserted_is_named() -> None:
    one = constant_int(1, 32)
    module = ModuleOp([one])
    verify.verify_users(module)
    left = arith.AddiOp(one.result, one.result)
    verify.verify_module(module)
    with pytest.raises(VerifyError, match=r"'arith.constant' op has a user in no block: 'arith.addi'"):
        verify.verify_users(module)
    left.erase()
    verify.verify_users(module)
    block = Block(arg_types=[i32])
    module = ModuleOp([UnregisteredOp.with_name("test.holder").create(regions=[Region([block])])])
    verify.verify_users(module)
    arith.AddiOp(block.args[0], block.args[0])
    with pytest.raises(VerifyError, match=r"has a user in no block: 'arith\.addi'"):
        verify.verify_users(module)
