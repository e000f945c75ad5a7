"""Verification of a whole module: every op by its own rules, then dominance; one error that names the op.

Most verifiers look at nothing but the op's types and attributes. Such an op is verified once: another of the same
class, types and attributes is known to be right.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import cache

from xdsl.dialects.builtin import ModuleOp, StringAttr, UnregisteredOp
from xdsl.ir import Operation
from xdsl.traits import (
    HasAncestor,
    HasParent,
    IsTerminator,
    NoTerminator,
    OpTrait,
    SymbolOpInterface,
    SymbolTable,
    SymbolUserOpInterface,
)
from xdsl.utils.exceptions import DiagnosticException

from tilewright.ir.diagnostics import note_at, verify_error
from tilewright.ir.dominance import verify_dominance
from tilewright.ir.walking import ops_within
from tilewright.ir.wording import BareVerifyException, upstream_words
from tilewright.support.errors import TilewrightError

ModuleCheck = Callable[[Operation], None]
"""Raises `VerifyError` for a module that breaks a rule of its dialect."""

_module_checks: dict[str, ModuleCheck] = {}


class VerifiedAmongOthers(OpTrait):
    """The op's verifier looks at other ops: at users of its results, or at the function that it is in."""


LOOKING_AROUND = (
    VerifiedAmongOthers,
    HasParent,
    HasAncestor,
    IsTerminator,
    SymbolOpInterface,
    SymbolUserOpInterface,
)
"""Traits of ops that depend on others. Regions and successors tell the rest."""

MOST_KNOWN = 20_000
"""Of how many kinds of ops that are right is known at a time: some 10 MB."""

_known_right: set[Hashable] = set()


def register_module_check(attribute: str, check: ModuleCheck) -> None:
    """Have every module that bears `attribute` checked as a whole, besides op by op."""
    _module_checks[attribute] = check


def verify_module(module: Operation) -> None:
    """Raise `VerifyError` at the first op that breaks a rule; about 20 microseconds per op, 100 of a kind not seen yet.

    xDSL's own `verify` renders the whole module into the exception; here the message is about the one op.
    """
    ops = ops_within(module)
    seen: set[Hashable] = set()
    for op in ops:
        if op.regions or op.successors:
            _verify_op(op)
        elif (kind := _ids_of(op)) not in seen or not _is_verified_alone(op.__class__):
            _verify_op(op)
            seen.add(kind)
    for checked in (op for op in ops if op is module or isinstance(op, ModuleOp)):
        _verify_module_attributes(checked)
        for attribute in checked.attributes.keys() & _module_checks.keys():
            _module_checks[attribute](checked)
    verify_dominance(module)


def verify_users(module: Operation) -> None:
    """Raise `VerifyError` at an op of whose results or blocks' arguments an op in no block uses one: an op that a pass
    has made and not inserted, or erased without dropping its operands. Later passes find it among the users."""
    for op in ops_within(module):
        arguments = [argument for region in op.regions for block in region.blocks for argument in block.args]
        for value in (*op.results, *arguments):
            for use in value.uses:
                if use.operation.parent is None:
                    raise verify_error(op, f"has a user in no block: '{use.operation.name}'")


def _verify_module_attributes(op: Operation) -> None:
    """A module's attributes have the prefix of a dialect."""
    for name in sorted(op.attributes.keys()) if isinstance(op, ModuleOp) else ():
        if "." not in name:
            raise verify_error(op, f"can only contain attributes with dialect-prefixed names, found: '{name}'")


def _verify_op(op: Operation) -> None:
    _verify_structure(op)
    if op.regions and _has(op.__class__, SymbolTable):
        _verify_symbols(op)
    kind = _kind_of(op)
    if kind in _known_right:
        return
    try:
        op.verify_()
    except TilewrightError:
        raise
    except (DiagnosticException, ValueError) as error:
        bare = isinstance(error, BareVerifyException)
        raise verify_error(op, upstream_words(": ".join(str(error).split(":\n"))), bare=bare) from error
    except Exception as error:
        raise verify_error(op, f"is too malformed to check ({type(error).__name__}: {error})") from error
    if kind is not None:
        if len(_known_right) >= MOST_KNOWN:
            _known_right.clear()
        _known_right.add(kind)


def _ids_of(op: Operation) -> Hashable:
    """Return the identities of what the verifier of an op without regions looks at, valid while the module lives.

    Types and attributes are hashed in Python, and a module mostly has one object for equal ones.
    """
    return (
        op.__class__,
        *[id(value.type) for value in op.operands],
        None,
        *[id(value.type) for value in op.results],
        None,
        *op.properties,
        *map(id, op.properties.values()),
        None,
        *op.attributes,
        *map(id, op.attributes.values()),
    )


def _kind_of(op: Operation) -> Hashable | None:
    """Everything that the verifier of an op looks at; None where it looks at other ops."""
    cls = op.__class__
    if op.regions or op.successors or not _is_verified_alone(cls):
        return None
    types = [value.type for value in op.operands], [result.type for result in op.results]
    return (cls, *types[0], None, *types[1], None, *op.properties.items(), None, *op.attributes.items())


@cache
def _is_verified_alone(cls: type[Operation]) -> bool:
    """Return whether ops of a class are right or wrong by their types and attributes."""
    return not issubclass(cls, UnregisteredOp) and not any(_has(cls, trait) for trait in LOOKING_AROUND)


def _verify_symbols(table: Operation) -> None:
    """Raise at the second op of a name, where xDSL's trait only knows the table."""
    known: dict[str, Operation] = {}
    for op in (op for region in table.regions for block in region.blocks for op in block.ops):
        name = op.get_attr_or_prop("sym_name")
        if not isinstance(name, StringAttr):
            continue
        first = known.setdefault(name.data, op)
        if first is not op:
            note = note_at(first, "see existing symbol definition here")
            raise verify_error(op, f"redefinition of symbol named '{name.data}'", [note], bare=True)


def _verify_structure(op: Operation) -> None:
    block = op.parent
    if op.successors:
        if block is None or block.last_op is not op:
            raise verify_error(op, "an op with successors must end its block")
        if any(successor.parent is not block.parent for successor in op.successors):
            raise verify_error(op, "branches to a block of another region")
    if block is not None and block.last_op is not op and _has(op.__class__, IsTerminator):
        raise verify_error(op, "must be the last operation in the parent block")
    from tilewright.ir.printing import print_inner_op

    for region in op.regions:
        if region.first_block is None or op.has_trait(NoTerminator):
            continue
        for body in region.blocks:
            last = body.last_op
            if last is None:
                error = verify_error(op, "empty block: expect at least a terminator", bare=True)
                error.current = ""  # upstream does not show an op that it could not print
                raise error
            if not last.has_trait(IsTerminator):
                before = "\n" if last.regions else ""
                reason = f"block with no terminator, has {before}{print_inner_op(last)}"
                raise verify_error(last, reason, bare=True)


@cache
def _has(cls: type[Operation], trait: type[OpTrait]) -> bool:
    """Return whether ops of a class have a trait; those that are not known have none."""
    return any(isinstance(found, trait) for found in cls.traits)
