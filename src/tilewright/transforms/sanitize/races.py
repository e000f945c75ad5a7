"""The race check: two programs of a grid touch one element, one of them writes, and not both by atomics.

Every element of an argument that is written has shadow words, of who wrote and of who read it last, and of who changed
it by an atomic where some op does:

    0                 nobody
    2 (p + 1) + s     program number p (x fastest); s = 1 where p had acquired something before
    -1, -2            (readers, atomics) several programs; -1 where all had acquired something

An access conflicts with a shadow word of another program, unless both programs had acquired something: an acquiring
atomic that comes before an access is taken for a lock that orders it after what other programs did under theirs. It
orders a plain access after the atomics of others, too, which may be what it looked at.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import i32
from xdsl.ir import Operation, SSAValue

from tilewright.dialects import arith, tt
from tilewright.dialects.attributes import NOALIAS
from tilewright.dialects.tt.enums import MemSemantic
from tilewright.ir.builder import OpBuilder
from tilewright.support.sanitizing import RACE_ATOMIC, RACE_READ, RACE_WRITE
from tilewright.transforms.sanitize.accesses import ATOMICS, Access
from tilewright.transforms.sanitize.emission import Emitter
from tilewright.transforms.sanitize.roots import Extent, Extents
from tilewright.transforms.sanitize.shadows import report_where, shadow_base, sizes_by_argument

if TYPE_CHECKING:
    from tilewright.transforms.sanitize.sanitize import Kernel


class Races:
    """Checks accesses against the shadow words, and brings those up to date."""

    def __init__(self, kernel: Kernel, table: SSAValue, accesses: Sequence[Access], extents: Extents) -> None:
        self._kernel = kernel
        self._table = table
        of = [(access, extents.argument_of(access.base)) for access in accesses]
        stored = {argument for access, argument in of if access.kind != "load"}
        self._changed = {argument for access, argument in of if access.kind == "atomic"}
        may_alias = NOALIAS not in kernel.function.attributes
        everything = {argument for _, argument in of}
        self._watched = everything if stored and (may_alias or -1 in stored) else stored
        self._sizes = sizes_by_argument(of)
        self._under_lock = _after_acquire(kernel.function)
        self._numbers: dict[int, SSAValue] = {}

    def check(self, e: Emitter, access: Access, extent: Extent, offset: SSAValue | None) -> None:
        argument = extent.argument
        if argument < 0 or argument not in self._watched:
            return
        if len(self._sizes.get(argument, ())) != 1:
            return
        locked = access.op in self._under_lock
        me = self._number(locked)
        writers = self._kernel.extra("writers", argument, access.element_bytes)
        readers = self._kernel.extra("readers", argument, access.element_bytes)

        def conflicts(e: Emitter, word: SSAValue) -> SSAValue:
            return _conflicts(e, word, me, locked)

        site = self._kernel.site(RACE_WRITE, access, argument)
        report_where(e, access, writers, offset, 0, conflicts, self._table, site)
        if access.kind != "atomic" and argument in self._changed and not locked:
            atomics = self._kernel.extra("atomics", argument, access.element_bytes)
            site = self._kernel.site(RACE_ATOMIC, access, argument)
            report_where(e, access, atomics, offset, 0, conflicts, self._table, site)
        if access.kind == "load":
            _note_one_more(e, access, shadow_base(e, readers, offset), me)
            return
        site = self._kernel.site(RACE_READ, access, argument)
        report_where(e, access, readers, offset, 0, conflicts, self._table, site)
        if access.kind == "atomic":
            atomics = self._kernel.extra("atomics", argument, access.element_bytes)
            _note_one_more(e, access, shadow_base(e, atomics, offset), me)
            return
        shape = access.load_from(e, shadow_base(e, writers, offset), 0).type
        access.store_to(e, shadow_base(e, writers, offset), e.like(me, shape))

    def _number(self, locked: bool) -> SSAValue:
        """The shadow word of this program, computed where the function starts."""
        if not self._numbers:
            e = Emitter(OpBuilder.at_start(self._kernel.function.body.blocks[0], self._kernel.function.location))
            x, y, z = (e.insert(tt.GetProgramIdOp(axis)) for axis in range(3))
            width, height = (e.insert(tt.GetNumProgramsOp(axis)) for axis in range(2))
            number = e.add(e.mul(e.add(e.mul(z, height), y), width), x)
            word = e.mul(e.add(number, e.constant(1, i32)), e.constant(2, i32))
            self._numbers = {0: word, 1: e.add(word, e.constant(1, i32))}
        return self._numbers[int(locked)]


def _after_acquire(function: tt.FuncOp) -> set[Operation]:
    """The ops that come after an atomic with acquire semantics whose result is used: what nothing looks at locks
    nothing."""
    after: set[Operation] = set()
    acquired = False
    for op in function.walk():
        if acquired:
            after.add(op)
        if isinstance(op, ATOMICS) and any(result.first_use for result in op.results):
            acquired |= MemSemantic(op.sem.value.data) in (MemSemantic.ACQUIRE, MemSemantic.ACQ_REL)
    return after


def _conflicts(e: Emitter, word: SSAValue, me: SSAValue, locked: bool) -> SSAValue:
    """`word != 0`, of another program than `me`, and not both under a lock."""
    someone = e.compare("ne", word, 0)
    another = e.compare("ugt", e.binary(arith.XOrIOp, word, me), 1)
    bad = e.both(someone, another)
    if locked:
        unlocked = e.compare("eq", e.binary(arith.AndIOp, word, e.constant(1, i32)), 0)
        bad = e.both(bad, unlocked)
    assert bad is not None
    return bad


def _note_one_more(e: Emitter, access: Access, shadow: SSAValue, me: SSAValue) -> None:
    """Add `me` to those whom the shadow words of an access stand for."""
    access.store_to(e, shadow, _joined(e, access.load_from(e, shadow, 0), me))


def _joined(e: Emitter, old: SSAValue, me: SSAValue) -> SSAValue:
    """A word of readers, or of atomics, after `me` has come to them."""
    me = e.like(me, old.type)
    common = e.binary(arith.AndIOp, old, me)
    several = e.binary(arith.OrIOp, common, e.constant(-2, old.type))
    same = e.compare("ule", e.binary(arith.XOrIOp, old, me), 1)
    return e.select(e.compare("eq", old, 0), me, e.select(same, common, several))
