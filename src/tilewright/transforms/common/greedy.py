"""The driver of rewriting passes: folds, rules, removal of dead code, and one op per constant, in one worklist."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence, Set
from functools import cache
from itertools import count

from xdsl.ir import Operation, OpResult, SSAValue
from xdsl.traits import Commutative

from tilewright.dialects.arith import materialize_constant
from tilewright.ir.effects import is_trivially_dead
from tilewright.ir.folding import Fold, fold_of
from tilewright.ir.rewrite_watch import record_rewrite, rewriting_stopped
from tilewright.ir.rules import RewriteRule, RuleRewriter, apply_first, endless_rules, op_types_of
from tilewright.ir.walking import is_subclass, ops_within
from tilewright.ir.worklist import Worklist
from tilewright.support.records import dataclass
from tilewright.transforms.common.constants import ConstantPool, is_constant_class
from tilewright.transforms.common.regions import simplify_regions

MAX_REWRITES_PER_OP = 64
"""Rewrites allowed per op of the original module: a terminating set of rules stays far below."""


@dataclass(frozen=True)
class RewriteConfig:
    """How far the driver goes, as upstream's `GreedyRewriteConfig` says it; -1 stands for no limit."""

    max_iterations: int = 10
    """Times that the whole module is looked at because blocks or constants moved."""
    max_num_rewrites: int = -1
    """Folds, rules and removals in an iteration."""
    simplifies_regions: bool = True
    top_down: bool = True
    """Ops are first looked at in their order, or the last one first."""


@dataclass(frozen=True)
class Entry:
    """What can be done to the ops of one class."""

    fold: Fold | None
    rules: tuple[RewriteRule, ...]
    is_commutative: bool = False


@cache
def is_commutative(cls: type[Operation]) -> bool:
    """Return whether the two operands of the ops of a class may be swapped."""
    return any(isinstance(trait, Commutative) for trait in getattr(cls, "traits", ()))


def rewrite_greedily(root: Operation, rules: Sequence[RewriteRule], *, pass_name: str) -> bool:
    """Apply `rules` and all folds inside `root` until nothing changes; returns whether anything did."""

    @cache
    def entry_of(cls: type[Operation]) -> Entry:
        own = tuple(rule for rule in rules if is_subclass(cls, op_types_of(rule)))
        return Entry(fold_of(cls), own, is_commutative(cls))

    return GreedyRewriter(root, entry_of, pass_name=pass_name).run()


USUAL = RewriteConfig()
"""What `GreedyRewriter` is told where nobody says otherwise."""


class GreedyRewriter:
    """Folds, rewrites and removes ops until nothing changes, visiting an op again only when something near it did."""

    converged = True
    """Whether nothing was left to look at when `run` ended."""

    def __init__(
        self,
        root: Operation,
        entry_of: Callable[[type[Operation]], Entry],
        *,
        pass_name: str,
        config: RewriteConfig = USUAL,
    ) -> None:
        self._root = root
        self._config = config
        self._entry_of = entry_of
        self._pass_name = pass_name
        self._worklist = Worklist()
        self._fired: Counter[str] = Counter()
        self._remaining = 0
        self._constants: list[Operation] = []
        self._rewriter: RuleRewriter | None = None

    def run(self, normal: Set[Operation] = frozenset()) -> bool:
        """Rewrite everything inside the root; returns whether anything changed.

        Ops in `normal` are known to be in normal form; they are revisited only if something near them changes."""
        ops = ops_within(self._root)[1:]
        if not ops:
            return False
        self._remaining = MAX_REWRITES_PER_OP * max(len(ops), 8)
        self._rewriter = self._make_rewriter(ops[0])
        in_order = reversed(ops) if self._config.top_down else ops
        self._worklist.fill([op for op in in_order if op not in normal] if normal else in_order)
        changed, most = False, self._config.max_iterations
        if most == 0:
            self.converged = False
            return False
        pool = ConstantPool()
        self._pool_constants(pool, ops)
        for _ in count() if most < 0 else range(most):
            changed |= self._drain()
            if self._config.simplifies_regions:
                for op in simplify_regions(self._root):
                    self._push(op)
            created = self._constants
            self._constants = []
            if created:
                present = set(map(id, created))
                self._pool_constants(pool, [op for op in ops_within(self._root) if id(op) in present])
            if not self._worklist:
                break
            changed = True
        self.converged = not self._worklist
        return changed

    def _make_rewriter(self, op: Operation) -> RuleRewriter:
        rewriter = RuleRewriter(op)
        rewriter.operation_insertion_handler.append(self._inserted)
        rewriter.operation_removal_handler.append(self._removed)
        rewriter.operation_modification_handler.append(self._modified)
        rewriter.operation_replacement_handler.append(self._replaced)
        return rewriter

    def _pool_constants(self, pool: ConstantPool, ops: Iterable[Operation]) -> None:
        for op in ops:
            if op.parent is not None and is_constant_class(type(op)):
                pool.add(op, self._replace_constant)

    def _replace_constant(self, op: Operation, other: Operation) -> None:
        self._push_users(op.results)
        op.results[0].replace_all_uses_with(other.results[0])
        self._erase(op)

    def _drain(self) -> bool:
        changed, left = False, self._config.max_num_rewrites
        worklist = self._worklist
        while left and (op := worklist.pop()) is not None:
            if op.parent is None:
                continue
            if is_trivially_dead(op):
                self._erase(op)
            elif not self._simplify(op):
                continue
            changed = True
            left -= 1
            self._remaining -= 1
            if self._remaining < 0:
                raise endless_rules(op, self._fired, pass_name=self._pass_name)
        return changed

    def _simplify(self, op: Operation) -> bool:
        if rewriting_stopped():
            return False
        entry = self._entry_of(type(op))
        if entry.is_commutative and _put_constant_last(op):
            self._modified(op)
            return True
        if entry.fold is not None and self._fold(op, entry.fold):
            return True
        if not entry.rules:
            return False
        assert self._rewriter is not None
        fired = apply_first(entry.rules, op, self._rewriter, pass_name=self._pass_name)
        if fired is None:
            return False
        self._fired[fired] += 1
        self._push(op)
        return True

    def _fold(self, op: Operation, fold: Fold) -> bool:
        folded = fold(op)
        if folded is None:
            return False
        values: list[SSAValue] = []
        for result, new in zip(op.results, folded, strict=True):
            if isinstance(new, SSAValue):
                values.append(new)
                continue
            constant = materialize_constant(new, result.type)
            if constant is None:
                return False
            assert op.parent is not None
            constant.location = op.location
            op.parent.insert_op_before(constant, op)
            self._constants.append(constant)
            values.append(constant.results[0])
        self._fired[f"{type(op).__name__}.fold"] += 1
        record_rewrite(f"{type(op).__name__}.fold", op)
        for result, value in zip(op.results, values, strict=True):
            self._push_users((result,))
            result.replace_all_uses_with(value)
        self._erase(op)
        return True

    def _erase(self, op: Operation) -> None:
        self._removed(op)
        op.detach()
        op.erase(safe_erase=False)

    def _push(self, op: Operation | None) -> None:
        """Look at an op again; with a terminator, at the op whose region it ends too, as loops look at their yields."""
        if op is None or op.parent is None:
            return
        if op.next_op is None:
            self._push(op.parent_op())
        self._worklist.push(op)

    def _push_users(self, values: Iterable[SSAValue]) -> None:
        for value in values:
            for use in value.uses:
                self._push(use.operation)

    def _inserted(self, op: Operation) -> None:
        nested = ops_within(op) if op.regions else [op]
        for inner in reversed(nested):
            self._worklist.push(inner)
            if is_constant_class(type(inner)):
                self._constants.append(inner)

    def _removed(self, op: Operation) -> None:
        dying = ops_within(op) if op.regions else [op]
        for inner in dying:
            for operand in inner.operands:
                owner = operand.owner
                self._push(owner if isinstance(owner, Operation) else owner.parent_op())
        for inner in dying:
            self._worklist.remove(inner)

    def _modified(self, op: Operation) -> None:
        self._push(op)
        self._push_users(op.results)

    def _replaced(self, op: Operation, new_results: Sequence[SSAValue | None]) -> None:
        self._push_users(op.results)


def _put_constant_last(op: Operation) -> bool:
    """c + x = x + c. Returns whether the operands were swapped."""
    if len(op.operands) != 2:
        return False
    first, second = op.operands
    if not _is_constant(first) or _is_constant(second):
        return False
    op.operands = (second, first)
    return True


def _is_constant(value: SSAValue) -> bool:
    return isinstance(value, OpResult) and is_constant_class(type(value.op))
