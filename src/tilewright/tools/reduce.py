"""`tilewright reduce FILE --keep CMD`: the smallest IR for which a command still succeeds.

The command gets the name of a candidate file in the place of ``{}``, or at its end. Functions, ops and regions are
taken away, results become constants or values that are there, constants become 0, attributes go. Text that does not
parse, as in reports about the parser, is reduced by lines.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from xdsl.dialects.builtin import IndexType, IntegerType, ModuleOp
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.traits import IsTerminator

from tilewright.dialects import arith, make_context
from tilewright.dialects.types import element_type, is_float
from tilewright.ir.parsing import parse_module
from tilewright.ir.printing import print_op
from tilewright.ir.verify import verify_module
from tilewright.ir.walking import ops_within
from tilewright.support.errors import TilewrightError
from tilewright.tools.commands import split_command, succeeds

Keep = Callable[[str], bool]


class ReduceError(TilewrightError):
    """A file that cannot be reduced."""


def run_reduce(options: argparse.Namespace) -> int:
    """The command; writes the result to --output or standard output. Raises ReduceError, CommandError, OSError."""
    try:
        text = Path(options.file).read_text()
    except UnicodeDecodeError:
        raise ReduceError(f"{options.file} is not text") from None
    if options.output:
        Path(options.output).write_text(text)  # where that cannot be written, it is better to know now
    with tempfile.TemporaryDirectory(prefix="tilewright-reduce-") as folder:
        keep = _command_test(options.keep, Path(folder) / Path(options.file).name)
        if not keep(text):
            raise ReduceError("the command does not succeed for the file as it is")
        smaller = reduce_text(text, keep)
    if options.output:
        Path(options.output).write_text(smaller)
    else:
        sys.stdout.write(smaller)
    print(f"reduced from {len(text.splitlines())} to {len(smaller.splitlines())} lines", file=sys.stderr)
    return 0


def _command_test(command: str, path: Path) -> Keep:
    words = split_command(command)

    def keep(text: str) -> bool:
        path.write_text(text)
        full = [word.replace("{}", str(path)) for word in words]
        if full == words:
            full.append(str(path))
        return succeeds(full)

    return keep


def reduce_text(text: str, keep: Keep) -> str:
    """The smallest text found for which `keep` holds; `text` itself has to satisfy it."""
    try:
        module = parse_module(text, make_context())
    except TilewrightError:
        return reduce_lines(text, keep)
    printed = _text_of(module)
    if not keep(printed):
        return reduce_lines(text, keep)
    return reduce_module(module, keep)


def _text_of(module: ModuleOp) -> str:
    return print_op(module).rstrip("\n") + "\n"


def reduce_lines(text: str, keep: Keep) -> str:
    """Leave out runs of lines, long ones first."""
    lines = text.splitlines(keepends=True)
    size = max(1, len(lines) // 2)
    while size >= 1:
        start = 0
        while start < len(lines):
            candidate = lines[:start] + lines[start + size :]
            if candidate and keep("".join(candidate)):
                lines = candidate
            else:
                start += size
        size //= 2
    return "".join(lines)


def reduce_module(module: ModuleOp, keep: Keep) -> str:
    """Apply reductions until none of them is accepted any more."""
    best = module
    changed = True
    while changed:
        changed = False
        for reduction in (_drop_ops, _inline_regions, _simplify_constants, _drop_attributes):
            while (smaller := _first_accepted(best, reduction, keep)) is not None:
                best, changed = smaller, True
    return _text_of(best)


def _first_accepted(
    module: ModuleOp, reduction: Callable[[ModuleOp], Iterator[ModuleOp]], keep: Keep
) -> ModuleOp | None:
    for candidate in reduction(module):
        try:
            verify_module(candidate)
        except TilewrightError:
            continue
        if keep(_text_of(candidate)):
            return candidate
    return None


def _inner_ops(module: ModuleOp) -> list[Operation]:
    return [op for op in ops_within(module) if op is not module]


def _drop_ops(module: ModuleOp) -> Iterator[ModuleOp]:
    """Copies without some ops, many at a time at first. The last ops go first, as nothing needs them."""
    count = len(_inner_ops(module))
    size = max(1, count // 2)
    while size >= 1:
        for start in range(count - size, -1, -size):
            copy = module.clone()
            ops = _inner_ops(copy)[start : start + size]
            removed = [_remove(op) for op in reversed(ops)]
            if all(removed):
                yield copy
        if size == 1:
            return
        size //= 2


def _remove(op: Operation) -> bool:
    """Take an op away; its results become other values. False where that is impossible."""
    if op.has_trait(IsTerminator, value_if_unregistered=False) or op.parent is None:
        return op.parent is None
    for result in op.results:
        if not result.first_use:
            continue
        other = _stand_in(op, result)
        if other is None:
            return False
        result.replace_all_uses_with(other)
    op.detach()
    op.erase(safe_erase=False)
    return True


def _stand_in(op: Operation, result: SSAValue) -> SSAValue | None:
    """Another value of the type: an operand, an argument of the block, or zero."""
    for operand in op.operands:
        if operand.type == result.type:
            return operand
    block = op.parent
    assert isinstance(block, Block)
    for argument in block.args:
        if argument.type == result.type:
            return argument
    if isinstance(op, arith.ConstantOp) or not _has_zero(result.type):
        return None
    zero = arith.constant_splat(0, result.type)
    block.insert_op_before(zero, op)
    return zero.results[0]


def _has_zero(type: Attribute) -> bool:
    element = element_type(type)
    return isinstance(element, IntegerType | IndexType) or is_float(element)


def _inline_regions(module: ModuleOp) -> Iterator[ModuleOp]:
    """Copies in which an op with one-block regions is replaced by the ops of one of them."""
    for index, op in enumerate(_inner_ops(module)):
        if not op.regions or op.parent_op() is module:
            continue
        for which, region in enumerate(op.regions):
            if len(region.blocks) != 1:
                continue
            copy = module.clone()
            if _inline(_inner_ops(copy)[index], which):
                yield copy


def _inline(op: Operation, which: int) -> bool:
    block = op.regions[which].block
    end = block.last_op
    outer = op.parent
    assert outer is not None
    for argument in block.args:
        value = next((operand for operand in op.operands if operand.type == argument.type), None)
        if value is None:
            if not _has_zero(argument.type):
                return False
            zero = arith.constant_splat(0, argument.type)
            outer.insert_op_before(zero, op)
            value = zero.results[0]
        argument.replace_all_uses_with(value)
    yielded = list(end.operands) if end is not None else []
    for inner in list(block.ops):
        if inner is not end:
            inner.detach()
            outer.insert_op_before(inner, op)
    for result in op.results:
        value = next((value for value in yielded if value.type == result.type), None)
        if value is None:
            if result.first_use:
                return False
            continue
        result.replace_all_uses_with(value)
    op.detach()
    op.erase(safe_erase=False)
    return True


def _simplify_constants(module: ModuleOp) -> Iterator[ModuleOp]:
    """Copies in which a constant is 0, or 1."""
    for index, op in enumerate(_inner_ops(module)):
        if not isinstance(op, arith.ConstantOp) or not _has_zero(op.result.type):
            continue
        for value in (0, 1):
            simple = arith.constant_splat(value, op.result.type).properties["value"]
            if op.properties["value"] in (simple, arith.constant_splat(0, op.result.type).properties["value"]):
                break
            copy = module.clone()
            _inner_ops(copy)[index].properties["value"] = simple
            yield copy


def _drop_attributes(module: ModuleOp) -> Iterator[ModuleOp]:
    """Copies in which an op has one attribute less."""
    for index, op in enumerate([module, *_inner_ops(module)]):
        for name in op.attributes:
            copy = module.clone()
            del [copy, *_inner_ops(copy)][index].attributes[name]
            yield copy
