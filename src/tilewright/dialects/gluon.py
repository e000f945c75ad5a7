"""The `gluon` dialect: layouts of tensors that are still to be found.

```mlir
%0 = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32, #gluon.auto_encoding>
%1 = gluon.set_auto_layout %0 : tensor<128xi32, #gluon.auto_encoding> -> tensor<128xi32, #blocked>
```
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Attribute, Dialect, ParametrizedAttribute
from xdsl.irdl import irdl_attr_definition, traits_def
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.construction import Value, init_op, value_of
from tilewright.dialects.fields import Operand, Result, operand_def, result_def
from tilewright.dialects.tt.constraints import TENSOR
from tilewright.dialects.tt.inference import LayoutInference
from tilewright.dialects.tt.types import tensor_type
from tilewright.dialects.ttg.constraints import TritonGPUOp
from tilewright.dialects.types import as_tensor


class FollowingEncoding(ParametrizedAttribute, LayoutInference):
    """An encoding that a pass replaces: whatever is made of such a tensor follows it."""

    def infer_reduce(self, axis: int) -> Attribute:
        return self

    def infer_expand_dims(self, axis: int, shape: tuple[int, ...]) -> Attribute:
        return self

    def infer_trans(self, shape: tuple[int, ...], order: tuple[int, ...]) -> Attribute:
        return self

    def infer_reshape(self, shape: tuple[int, ...], new_shape: tuple[int, ...]) -> Attribute:
        return self

    def infer_join(self, shape: tuple[int, ...]) -> Attribute:
        return self

    def infer_split(self, shape: tuple[int, ...]) -> Attribute:
        return self

    def is_equivalent(self, other: Attribute, shape: tuple[int, ...]) -> bool:
        return other == self

    def check_dot(self, operands: Sequence[Attribute]) -> None:
        raise VerifyException("a matmul needs a known layout")


@irdl_attr_definition
class AutoEncodingAttr(FollowingEncoding):
    """The layout follows from `gluon.set_auto_layout`: `#gluon.auto_encoding`."""

    name = "gluon.auto_encoding"


@irdl_attr_definition
class CoalescedEncodingAttr(FollowingEncoding):
    """The layout follows from the addresses that are accessed: `#gluon.coalesced_encoding`."""

    name = "gluon.coalesced_encoding"


AUTO = AutoEncodingAttr()
COALESCED = CoalescedEncodingAttr()


class SetAutoLayoutOp(TritonGPUOp):
    """The tensor is in this layout: `%1 = gluon.set_auto_layout %0 : tensor<16xi32, #gluon.auto_encoding> ->
    tensor<16xi32, #blocked>`."""

    name = "gluon.set_auto_layout"

    src: Operand = operand_def(TENSOR)
    result: Result = result_def(TENSOR)

    assembly_format = "$src attr-dict `:` type($src) `->` type($result)"
    traits = traits_def(Pure())

    def __init__(self, src: Value, encoding: Attribute):
        source = value_of(src)
        type = as_tensor(source.type)
        init_op(self, (source,), (tensor_type(type.element_type, type.get_shape(), encoding),))

    def verify_(self) -> None:
        if as_tensor(self.src.type).encoding != AUTO:
            raise VerifyException("input tensor must have auto layout")
        if isinstance(as_tensor(self.result.type).encoding, AutoEncodingAttr):
            raise VerifyException("type of the result must have a concrete layout")


GLUON = Dialect("gluon", [SetAutoLayoutOp], [AutoEncodingAttr, CoalescedEncodingAttr])
"""The dialect, to be loaded into a context."""
