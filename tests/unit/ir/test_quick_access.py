"""Type checks and accessors of IR mean what xDSL's mean, and take no detours."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from enum import Enum
from typing import Any, Protocol

import pytest
from xdsl.dialects.builtin import (
    UNKNOWN_LOC,
    ArrayAttr,
    CallSiteLoc,
    DenseArrayBase,
    FloatAttr,
    IndexType,
    IntAttr,
    IntegerAttr,
    IntegerType,
    ModuleOp,
    NameLoc,
    StringAttr,
    f32,
    i1,
    i32,
)
from xdsl.ir import Attribute, Block, Operation, SSAValue, SSAValues
from xdsl.irdl import IRDLOperation, VarIRConstruct, get_construct_defs, irdl_op_definition
from xdsl.irdl.operations import BaseAccessor, BaseAttrAccessor, get_op_constructs
from xdsl.traits import OpTrait

from tilewright.dialects import arith, cf, make_context, memref, scf, tt
from tilewright.ir import quick_access
from tilewright.ir.locations import call_site, file_location, located_place, named_place
from tilewright.ir.parsing import parse_module

TEXT = """
tt.func @f(%p: !tt.ptr<f32>, %n: i32, %m: memref<?x?xf32>) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : index
  %c = arith.cmpi slt, %n, %c0 : i32
  %x = tt.load %p : !tt.ptr<f32>
  %y = tt.load %p, %c : !tt.ptr<f32>
  %z = tt.load %p, %c, %x : !tt.ptr<f32>
  %v = memref.subview %m[%c1, 0] [4, %c1] [1, 1] : memref<?x?xf32> to memref<4x?xf32, strided<[?, 1], offset: ?>>
  %s, %t = scf.for %i = %c0 to %n step %n iter_args(%a = %x, %b = %y) -> (f32, f32) : i32 {
    scf.yield %b, %a : f32, f32
  }
  cf.cond_br %c, ^one(%x : f32), ^two
^one(%w: f32):
  cf.br ^two
^two:
  tt.return
}
"""


@pytest.fixture
def module() -> ModuleOp:
    return parse_module(TEXT, make_context(), "accessors.mlir")


def accessors(op: Operation) -> dict[str, Any]:
    """What stands in the class of an op for its operands, results, regions and successors."""
    definition = type(op).get_irdl_definition()  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType]
    names = [name for construct in VarIRConstruct for name, _ in get_construct_defs(definition, construct)]
    members = {name: value for cls in reversed(type(op).__mro__) for name, value in vars(cls).items()}
    return {name: members[name] for name in names if isinstance(members[name], BaseAccessor | BaseAttrAccessor)}


def slow(op: Operation, accessor: Any) -> Any:
    """What an accessor finds in a view of all values, by the bytes of the attribute with their numbers."""
    values = get_op_constructs(op, accessor.construct)
    if isinstance(accessor, BaseAttrAccessor):
        sizes: Any = accessor.option.container(op)[accessor.option.attribute_name]
        found = accessor.index(sizes.elt_type.unpack(sizes.data.data, len(sizes)), values)
    else:
        found = accessor.index(values)
    are_values = isinstance(found, tuple) and accessor.construct in (VarIRConstruct.OPERAND, VarIRConstruct.RESULT)
    return SSAValues(found) if are_values else found


def test_accessors_find_the_same(module: ModuleOp) -> None:
    kinds: set[type[Any]] = set()
    constructs: set[VarIRConstruct] = set()
    for op in module.walk():
        for name, accessor in accessors(op).items():
            found, expected = getattr(op, name), slow(op, accessor)
            same = found is expected or (tuple(found) == tuple(expected) and type(found) is type(expected))
            assert same, (op.name, name)
            kinds.add(type(accessor))
            constructs.add(accessor.construct)
    assert len(kinds) >= 5
    assert constructs == set(VarIRConstruct)


def test_views_of_operands(module: ModuleOp) -> None:
    (op,) = (op for op in module.walk() if isinstance(op, memref.SubviewOp))
    values = list(op.operands)
    assert [op.operands[n] for n in range(-3, 3)] == [*values, *values]
    assert (op.operands[1:], op.operands[:-1], op.results[:]) == (tuple(values[1:]), tuple(values[:-1]), (op.result,))
    assert op.offsets.types == tuple(value.type for value in op.offsets) != ()
    with pytest.raises(IndexError):
        op.operands[3]
    op.operands[1] = op.operands[2]
    assert list(op.operands) == [values[0], values[2], values[2]]
    op.operands[-1] = values[0]
    assert list(op.operands) == [values[0], values[2], values[0]]
    assert sorted(use.index for use in values[0].uses if use.operation is op) == [0, 2]
    op.operands = values
    assert list(op.operands) == values and op.operands == tuple(values)
    copy = op.clone()
    copy.operands[0] = values[0]
    assert copy.operands[0].uses.get_length() == 2 and list(op.operands) == values
    copy.erase()
    assert [use.operation for use in values[0].uses] == [op]
    copy.operands = values[:2]
    assert list(copy.operands) == values[:2] and values[0].uses.get_length() == 2
    copy.drop_all_references()


def test_operands_are_taken_without_detours(module: ModuleOp) -> None:
    op = next(op for op in module.walk() if isinstance(op, arith.CmpiOp))
    found: list[object] = []
    assert python_calls(lambda: found.extend((*op.operands, op.operands[0], op.results[0], op.operands[1:]))) == []
    assert found == [op.lhs, op.rhs, op.lhs, op.result, (op.rhs,)]


def test_values_are_named_as_xdsl_names_them(module: ModuleOp) -> None:
    value = next(op for op in module.walk() if isinstance(op, arith.CmpiOp)).result
    for given, kept in (("x_12", "x"), ("x", "x"), (None, None), ("a.b$1", "a.b$1")):
        value.name_hint = given
        assert value.name_hint == kept
    with pytest.raises(ValueError, match="name format"):
        value.name_hint = "1x"


def test_an_op_that_is_used_does_not_go(module: ModuleOp) -> None:
    loop = next(op for op in module.walk() if isinstance(op, scf.ForOp))
    inside = loop.body.block.args[0].uses.get_length()
    load = next(op for op in module.walk() if isinstance(op, tt.LoadOp))
    load.detach()
    with pytest.raises(ValueError, match="still has uses"):
        load.erase()
    loop.detach()
    bounds = loop.operands[1]
    before = bounds.uses.get_length()
    loop.erase(safe_erase=False)
    assert bounds.uses.get_length() == before - 2 and inside == 0


def test_accessors_follow_what_changes(module: ModuleOp) -> None:
    (loop,) = (op for op in module.walk() if isinstance(op, scf.ForOp))
    loop.operands[2] = loop.operands[0]
    assert loop.step is loop.lb
    (branch,) = (op for op in module.walk() if isinstance(op, cf.ConditionalBranchOp))
    first, second = branch.successors
    branch.successors = [second, first]
    assert (branch.then_block, branch.else_block) == (second, first)


def test_numbers_of_arrays() -> None:
    array = DenseArrayBase.from_list(i32, [3, -1])
    assert array.get_values() == array.get_values() == (3, -1)
    assert array == DenseArrayBase.from_list(i32, [3, -1]) != DenseArrayBase.from_list(i32, [3, 1])


def python_calls(action: Callable[[], object]) -> list[str]:
    """The functions of Python that run in one."""
    names: list[str] = []
    outer = sys.getprofile()
    sys.setprofile(lambda frame, event, _: names.append(frame.f_code.co_name) if event == "call" else None)
    try:
        action()
    finally:
        sys.setprofile(outer)
    return names[1:]


def test_no_detours(module: ModuleOp) -> None:
    op = next(op for op in module.walk() if isinstance(op, arith.CmpiOp))
    checks: list[tuple[object, type[Any]]] = [(op, tt.StoreOp), (op, Operation), (op.lhs, SSAValue), (i1, IndexType)]
    checks += [(i1, Attribute), (i1, ArrayAttr), (i1, IntegerType), (op, Block)]
    found: list[bool] = []

    def check() -> None:
        for value, cls in checks:
            found.append(isinstance(value, cls))

    assert python_calls(check) == []
    assert found == [False, True, True, False, True, False, True, False]
    assert python_calls(lambda: op.lhs) == ["_get_single"]


def test_ops_are_made_directly(module: ModuleOp) -> None:
    value = next(op for op in module.walk() if isinstance(op, arith.ConstantOp)).results[0]
    before, made = value.uses.get_length(), list[Operation]()
    called = python_calls(lambda: made.append(arith.AddiOp(value, value)))
    assert not {"operands", "successors", "_unknown_loc"} & set(called)
    (op,) = made
    uses = list(value.uses)
    assert [(use.operation, use.index) for use in uses[:2]] == [(op, 1), (op, 0)]
    assert len(uses) == before + 2
    assert [(result.op, result.index, result.type) for result in op.results] == [(op, 0, value.type)]
    assert op.location == UNKNOWN_LOC
    op.operands = []
    assert value.uses.get_length() == before


def test_users_get_another_value_in_the_order_of_uses(module: ModuleOp) -> None:
    n = next(op for op in module.walk() if isinstance(op, tt.FuncOp)).body.blocks[0].args[1]
    uses = [(use.operation, use.index) for use in n.uses]
    assert len(uses) == 3  # of the comparison and, twice, of the loop
    n.name_hint = "many"
    new = arith.ConstantOp(IntegerAttr(7, i32))
    new_user = arith.AddiOp(new.result, new.result)
    before = [(use.operation, use.index) for use in new.result.uses]
    n.replace_all_uses_with(new.result)
    assert not n.uses and n.first_use is None
    assert [(use.operation, use.index) for use in new.result.uses] == [*reversed(uses), *before]
    assert all(op.operands[index] is new.result and isinstance(op._operands, SSAValues) for op, index in uses)
    assert new.result.name_hint == "many" and new_user.operands[0] is new.result
    new.result.replace_all_uses_with(new.result)
    assert new.result.uses.get_length() == 5


def test_defaults_are_filled_in() -> None:
    flags = arith.AddfOp.get_irdl_definition().properties["fastmath"].default_value
    x = arith.ConstantOp(FloatAttr(1.0, f32))
    add = arith.AddfOp.create(operands=[x.result, x.result], result_types=[f32])
    assert flags is not None and add.properties["fastmath"] == flags
    own = arith.FastMathFlagsAttr("fast")
    assert (
        arith.AddfOp.create(operands=[x.result, x.result], properties={"fastmath": own}).properties["fastmath"] is own
    )


def test_traits_added_later_are_found() -> None:
    class Marked(OpTrait):
        pass

    @irdl_op_definition
    class PlainOp(IRDLOperation):
        name = "test.plain"

    assert PlainOp.get_trait(Marked) is None and PlainOp.get_traits_of_type(OpTrait) == []
    PlainOp.traits.add_trait(Marked())
    assert isinstance(PlainOp.get_trait(Marked), Marked) and PlainOp.has_trait(Marked)
    assert PlainOp.get_trait(Marked()) == Marked() and len(PlainOp.get_traits_of_type(OpTrait)) == 1


def test_a_block_takes_no_op_twice(module: ModuleOp) -> None:
    loop = next(op for op in module.walk() if isinstance(op, scf.ForOp))
    inner = loop.body.block
    with pytest.raises(ValueError, match="already attached"):
        inner.add_op(loop)
    loop.detach()
    with pytest.raises(ValueError, match="contained in the operation"):
        inner.add_op(loop)


def test_keys_are_told_apart_in_c(module: ModuleOp) -> None:
    keys: list[Any] = [key for op in module.walk() for key in (op, *op.results, *op.regions)]
    keys += [block for op in module.walk() for region in op.regions for block in region.blocks]
    keys += [use for op in module.walk() for result in op.results for use in result.uses]

    def check() -> None:
        assert len(dict.fromkeys(keys)) == len(set(map(id, keys)))
        assert keys[1] != keys[2] and keys[1] == keys[1] and keys[1] in keys

    assert len(set(map(type, keys))) > 10
    assert python_calls(check) == []


def test_classes_of_ir_may_implement_protocols() -> None:
    class Named(Protocol):
        def title(self) -> str: ...

    class Titled(tt.ReturnOp, Named):
        def title(self) -> str:
            return "end"

    assert isinstance(Titled([]), tt.ReturnOp)
    assert not isinstance(tt.ReturnOp([]), Titled)


def test_ops_of_a_block_may_go_while_they_are_walked(module: ModuleOp) -> None:
    (function,) = module.ops
    block = function.regions[0].blocks[0]
    names = [op.name for op in block.ops]
    assert names[0] == "arith.constant"
    seen: list[str] = []
    for op in block.ops:
        seen.append(op.name)
        op.detach()
    assert (seen, list(block.ops)) == (names, [])


def test_locations_made_without_verification_are_the_same() -> None:
    place, line = located_place(StringAttr("k.py"), IntAttr(3), IntAttr(5)), file_location("k.py", 3, 5)
    assert (place, hash(place)) == (line, hash(line))
    assert named_place(StringAttr("x"), place) == NameLoc(StringAttr("x"), line)
    site, verified = call_site(place, line), CallSiteLoc(line, place)
    site.verify()
    assert (site, hash(site), str(site)) == (verified, hash(verified), str(verified))


@pytest.mark.costly
def test_effects_do_not_depend_on_what_is_imported_first() -> None:
    """Sets of kinds of effects are made before other modules are imported: the hash of a kind stays what it was."""
    program = """
from xdsl.traits import MemoryEffectKind
import tilewright.ir.effects as effects
import tilewright.ir.locations
from tilewright.dialects import tt
assert effects.memory_effects(tt.CallOp("f", (), ())) == frozenset(MemoryEffectKind)
assert not effects.is_trivially_dead(tt.CallOp("f", (), ()))
"""
    subprocess.run([sys.executable, "-c", program], check=True)
    assert not any(issubclass(cls, Enum) for cls in quick_access.COMPARED_BY_IDENTITY)


@pytest.mark.costly
def test_ops_keep_their_hashes_whatever_is_imported_later() -> None:
    """The first op of a dialect of ours is made when the classes are changed already."""
    program = """
from tilewright.dialects import arith
from xdsl.dialects.builtin import i32
op = arith.ConstantOp(1, i32)
found = {op, op.results[0]}
import tilewright.ir.passes
assert op in found and op.results[0] in found
"""
    subprocess.run([sys.executable, "-c", program], check=True)
