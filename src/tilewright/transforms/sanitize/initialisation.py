"""The init check: memory that nothing wrote is read, or a lane that has no value is stored."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xdsl.dialects.builtin import i8
from xdsl.ir import SSAValue

from tilewright.dialects import arith, tt
from tilewright.dialects.tt.types import shape_of
from tilewright.support.sanitizing import UNDEFINED, UNWRITTEN
from tilewright.transforms.sanitize.accesses import Access
from tilewright.transforms.sanitize.emission import Emitter
from tilewright.transforms.sanitize.roots import Extent
from tilewright.transforms.sanitize.shadows import report_where, shadow_base
from tilewright.transforms.sanitize.undefined import UndefinedLanes

if TYPE_CHECKING:
    from tilewright.transforms.sanitize.sanitize import Kernel


class Initialisation:
    """Each element has a shadow byte: 0 while nothing has written it. Values have a shadow of undefined lanes."""

    def __init__(self, kernel: Kernel, table: SSAValue, function: tt.FuncOp) -> None:
        self._kernel = kernel
        self._table = table
        self._undefined = UndefinedLanes(function)

    def check(self, e: Emitter, access: Access, extent: Extent, offset: SSAValue | None) -> None:
        if access.kind != "load":
            self._check_value(e, access, extent, offset)
        if extent.argument < 0:
            return
        written = self._kernel.extra("written", extent.argument, access.element_bytes)
        if access.kind != "store":
            site = self._kernel.site(UNWRITTEN, access, extent.argument)
            report_where(e, access, written, offset, 1, _is_unwritten, self._table, site)
        if access.kind != "load":
            shape = access.load_from(e, shadow_base(e, written, offset), 1).type
            access.store_to(e, shadow_base(e, written, offset), e.constant(1, shape))

    def _check_value(self, e: Emitter, access: Access, extent: Extent, offset: SSAValue | None) -> None:
        undefined = self._undefined.of(access.op.operands[_VALUE[access.op.name]])
        if undefined is None:
            return
        bad = e.both(undefined, access.live(e))
        assert bad is not None and shape_of(bad.type) == access.shape
        suspect = e.when(e.reduce(bad, arith.OrIOp))
        places = access.offsets(suspect)
        key = suspect.first_key(bad, places if offset is None else suspect.add(places, suspect.wide(offset)))
        suspect.report_if(key, self._table, self._kernel.site(UNDEFINED, access, extent.argument))


_VALUE = {"tts.store": 1, "tts.masked_store": 1, "tts.scatter": 2, "tts.atomic_rmw": 2, "tts.atomic_cas": 3}
"""Which operand of a writing op is the value."""


def _is_unwritten(e: Emitter, marks: SSAValue) -> SSAValue:
    return e.compare("eq", marks, e.constant(0, i8))
