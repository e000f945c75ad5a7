"""How the cache operator and the eviction priority of an access are written.

Triton 3.9 has an attribute for both, `{cachePolicy = #tt.cache_policy<cache_modifier = ca, eviction_policy =
evict_first>}`, earlier ones a keyword for each, `cacheModifier = ca evictionPolicy = evict_first`. Both are read; the
switch `triton_version` says which is printed. In ops they are two properties, `cache` and `evict`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from xdsl.dialects.builtin import IntAttr
from xdsl.ir import Attribute, ParametrizedAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer

from tilewright.dialects.construction import i32_attr
from tilewright.dialects.definition import OfTwoForms
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


class WithCachePolicy(OfTwoForms):
    """What ops with the properties `cache` and `evict` read from their text and add to it."""

    def after_parsing(self) -> None:
        """Take the properties out of the attribute, where it is given."""
        op: Any = self
        policy = op.attributes.pop(IN_TEXT, None)
        if isinstance(policy, CachePolicyAttr):
            op.properties["cache"] = i32_attr(policy.cache_modifier.data)
            op.properties["evict"] = i32_attr(policy.eviction_policy.data)

    def text_attributes(self) -> dict[str, Attribute]:
        """The attribute, where the version has it and it says anything."""
        op: Any = self
        modifier, policy = CacheModifier.of(op.cache), EvictionPolicy.of(op.evict)
        is_default = modifier is CacheModifier.NONE and policy is EvictionPolicy.EVICT_NORMAL
        if is_default or is_before(ATTRIBUTE_SINCE):
            return {}
        return {IN_TEXT: CachePolicyAttr(IntAttr(int(modifier)), IntAttr(int(policy)))}
