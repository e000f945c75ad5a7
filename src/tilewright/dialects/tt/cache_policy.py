"""How the cache operator and the eviction priority of an access are written.

Triton 3.9 has an attribute for both, `{cachePolicy = #tt.cache_policy<cache_modifier = ca, eviction_policy =
evict_first>}`, earlier ones a keyword for each, `cacheModifier = ca evictionPolicy = evict_first`. Both are read; the
switch `triton_version` says which is printed. In ops they are two properties, `cache` and `evict`.
"""

from __future__ import annotations

from abc import ABC
from collections.abc import Sequence

from xdsl.dialects.builtin import IntAttr, IntegerAttr
from xdsl.ir import Attribute, ParametrizedAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer

from tilewright.dialects.construction import bool_attr, i32_attr
from tilewright.dialects.definition import OfTwoForms, Op
from tilewright.dialects.fields import prop_def
from tilewright.dialects.tt.constraints import MemberOf
from tilewright.dialects.tt.enums import CacheModifier, EvictionPolicy
from tilewright.support.triton_version import is_before

IN_TEXT = "cachePolicy"
ATTRIBUTE_SINCE = "3.9"


@irdl_attr_definition
class CachePolicyAttr(ParametrizedAttribute):
    """`#tt.cache_policy<cache_modifier = ca, eviction_policy = evict_normal>`"""

    name = "tt.cache_policy"

    cache_modifier: IntAttr
    eviction_policy: IntAttr

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        found: dict[str, IntAttr] = {}
        enums = {"cache_modifier": CacheModifier, "eviction_policy": EvictionPolicy}
        with parser.in_angle_brackets():
            for position, (key, enum) in enumerate(enums.items()):
                if position:
                    parser.parse_punctuation(",")
                parser.parse_keyword(key)
                parser.parse_punctuation("=")
                start = parser.pos
                try:
                    found[key] = IntAttr(int(enum.get(parser.parse_identifier())))
                except ValueError as error:
                    parser.raise_error(str(error), start, parser.pos)
        return list(found.values())

    def print_parameters(self, printer: Printer) -> None:
        modifier, policy = CacheModifier(self.cache_modifier.data), EvictionPolicy(self.eviction_policy.data)
        printer.print_string(f"<cache_modifier = {modifier.keyword}, eviction_policy = {policy.keyword}>")


class CachedOp(Op, ABC):
    """An access with a cache operator and an eviction priority."""

    cache: IntegerAttr = prop_def(
        MemberOf(CacheModifier),
        default_value=i32_attr(CacheModifier.NONE),
        converter=CacheModifier.attr,
        default=CacheModifier.NONE,
        kw_only=True,
    )
    evict: IntegerAttr = prop_def(
        MemberOf(EvictionPolicy),
        default_value=i32_attr(EvictionPolicy.EVICT_NORMAL),
        converter=EvictionPolicy.attr,
        default=EvictionPolicy.EVICT_NORMAL,
        kw_only=True,
    )


class VolatileOp(Op, ABC):
    """An access that may be volatile: as many times as it is written, in order."""

    is_volatile: IntegerAttr = prop_def(
        IntegerAttr,
        default_value=bool_attr(False),
        prop_name="isVolatile",
        default=False,
        converter=bool_attr,
        kw_only=True,
    )


class WithCachePolicy(OfTwoForms, CachedOp, ABC):
    """An access with hints that it reads from either form of its text."""

    def after_parsing(self) -> None:
        """Take the properties out of the attribute, where it is given."""
        policy = self.attributes.pop(IN_TEXT, None)
        if isinstance(policy, CachePolicyAttr):
            self.properties["cache"] = i32_attr(policy.cache_modifier.data)
            self.properties["evict"] = i32_attr(policy.eviction_policy.data)

    def text_attributes(self) -> dict[str, Attribute]:
        """The attribute, where the version has it and it says anything."""
        modifier, policy = CacheModifier.of(self.cache), EvictionPolicy.of(self.evict)
        is_default = modifier is CacheModifier.NONE and policy is EvictionPolicy.EVICT_NORMAL
        if is_default or is_before(ATTRIBUTE_SINCE):
            return {}
        return {IN_TEXT: CachePolicyAttr(IntAttr(int(modifier)), IntAttr(int(policy)))}
