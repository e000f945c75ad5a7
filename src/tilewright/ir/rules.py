"""Rewrite rules and the driver that applies them: a table keyed by op class, a worklist, and a budget.

A rule states an equation between pieces of IR and fires wherever its left side matches:

```python
class FoldBroadcastOfSplat(RewriteRule):
    \"\"\"broadcast(splat(x)) = splat(x) at the wider type. Removes one tensor op.\"\"\"

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: BroadcastOp, rewriter: RuleRewriter, /) -> None:
        splat = op.src.owner
        if isinstance(splat, SplatOp):
            rewriter.replace(op, SplatOp(splat.src, op.result.type))
```

The driver visits every op below the root once, outermost and first ops first, and again whenever something near it
changed. Each op sees only the rules of its class, in the order given. New ops without a location take the location of
the op that the rule matched.
"""

from __future__ import annotations

import inspect
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from itertools import islice
from types import UnionType
from typing import Any, TypeVar, Union, get_args, get_origin

from xdsl.ir import Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern
from xdsl.rewriter import InsertPoint

from tilewright.ir.diagnostics import op_error
from tilewright.ir.locations import has_location
from tilewright.ir.rewrite_watch import record_rewrite, rewriting_stopped
from tilewright.ir.walking import is_subclass, ops_within
from tilewright.ir.worklist import Worklist
from tilewright.support.errors import PassError, TilewrightError

RewriteRule = RewritePattern
"""Base class of rules; subclass it and decorate `match_and_rewrite` with `op_type_rewrite_pattern`."""

DEFAULT_REWRITES_PER_OP = 64
"""Rewrites allowed per op of the original IR. A terminating set of rules stays far below; a cycle reaches it soon."""

_OP_TYPES = "__tilewright_op_types__"

RuleT = TypeVar("RuleT", bound=RewritePattern)
OpT = TypeVar("OpT", bound=Operation)
RewriterT = TypeVar("RewriterT", bound=PatternRewriter)


def op_type_rewrite_pattern(
    method: Callable[[RuleT, OpT, RewriterT], None],
) -> Callable[[RuleT, Operation, PatternRewriter], None]:
    """Restrict `match_and_rewrite` to the op class (or union of classes) that its `op` parameter is annotated with.

    The classes are recorded on the method, so that the driver files the rule under them and never offers other ops.
    """
    parameter = list(inspect.signature(method, eval_str=True).parameters.values())[1]
    annotation: Any = parameter.annotation
    if annotation is inspect.Parameter.empty:
        raise TypeError(f"{method.__qualname__}: annotate parameter '{parameter.name}' with an op class")
    classes = get_args(annotation) if get_origin(annotation) in (Union, UnionType) else (annotation,)
    op_types: tuple[type[Operation], ...] = tuple(get_origin(cls) or cls for cls in classes)

    def match_and_rewrite(self: RuleT, op: Operation, rewriter: PatternRewriter, /) -> None:
        if isinstance(op, op_types):
            method(self, op, rewriter)  # pyright: ignore[reportArgumentType]

    setattr(match_and_rewrite, _OP_TYPES, op_types)
    match_and_rewrite.__doc__ = method.__doc__
    return match_and_rewrite


def op_types_of(rule: RewritePattern) -> tuple[type[Operation], ...]:
    """The op classes that a rule can match; `(Operation,)` for a rule that looks at every op."""
    return _op_types_of(type(rule).match_and_rewrite)


@cache
def _op_types_of(method: Any) -> tuple[type[Operation], ...]:
    recorded = getattr(method, _OP_TYPES, None)
    if recorded is not None:
        return recorded
    # A rule decorated by xDSL's own `op_type_rewrite_pattern` keeps the class in the closure of its wrapper.
    closure: Mapping[str, Any] = inspect.getclosurevars(method).nonlocals if inspect.isfunction(method) else {}
    return closure.get("expected_types") or _as_classes(closure.get("expected_type")) or (Operation,)


def _as_classes(annotation: Any) -> tuple[type[Operation], ...]:
    if annotation is None:
        return ()
    return get_args(annotation) if get_origin(annotation) in (Union, UnionType) else (annotation,)


class RuleRewriter(PatternRewriter):
    """What a rule changes the IR with. Beyond xDSL's rewriter: source locations are kept, and names are left alone."""

    def __init__(self, op: Operation) -> None:
        super().__init__(op)
        self._matched = op

    def visit(self, op: Operation) -> None:
        """Start on another op: new ops go before it by default and inherit its location."""
        self._matched = op
        self._current_operation = op
        self.insertion_point = _before(op)
        self.has_done_action = False

    def insert(self, op: Any, insertion_point: InsertPoint | None = None) -> Any:
        """Insert one op or a sequence of ops, before the matched op unless told otherwise."""
        ops = (op,) if isinstance(op, Operation) else tuple(op)
        location = self._matched.location
        for new_op in ops:
            if not has_location(new_op):
                new_op.location = location
        return super().insert(op, insertion_point)

    def replace(
        self,
        op: Operation,
        new_ops: Operation | Sequence[Operation],
        new_results: Sequence[SSAValue | None] | None = None,
        safe_erase: bool = True,
    ) -> None:
        """Put `new_ops` in place of `op`; its results become `new_results`, by default those of the last new op."""
        ops = (new_ops,) if isinstance(new_ops, Operation) else tuple(new_ops)
        for new_op in ops:
            if not has_location(new_op):
                new_op.location = op.location
        self.insert(ops, InsertPoint.before(op))
        results = (ops[-1].results if ops else ()) if new_results is None else new_results
        if len(results) != len(op.results):
            raise ValueError(f"'{op.name}' has {len(op.results)} results, its replacement {len(results)}")
        self.has_done_action = True
        self.handle_operation_replacement(op, results)
        for old, new in zip(op.results, results, strict=True):
            if new is None:
                old.erase(safe_erase=safe_erase)
            elif new is not old:
                old.replace_all_uses_with(new)
        self.erase(op, safe_erase=safe_erase)


def _before(op: Operation) -> InsertPoint:
    """The place before an op of a block, in one call for each op that rules see, where `InsertPoint.before` is four."""
    point = _new_point(InsertPoint)
    point.__dict__.update(block=op.parent, insert_before=op)
    return point


_new_point: Callable[[type[InsertPoint]], InsertPoint] = object.__new__


class RuleTable:
    """Rules filed by op class; built once per list of rules, looked up once per op."""

    def __init__(self, rules: Iterable[RewritePattern]) -> None:
        self._rules = [(rule, op_types_of(rule)) for rule in rules]
        self._by_class: dict[type[Operation], tuple[RewritePattern, ...]] = {}

    def rules_for(self, op_class: type[Operation]) -> tuple[RewritePattern, ...]:
        """The rules that can match an op of a class, in order."""
        found = self._by_class.get(op_class)
        if found is None:
            found = tuple(rule for rule, classes in self._rules if is_subclass(op_class, classes))
            self._by_class[op_class] = found
        return found


def apply_first(
    rules: Sequence[RewritePattern], op: Operation, rewriter: RuleRewriter, *, pass_name: str
) -> str | None:
    """Offer an op to rules until one changes something, whose name is returned; None where none does.

    Raises PassError with rule and op where a rule fails.
    """
    rewriter.visit(op)
    for rule in rules:
        try:
            rule.match_and_rewrite(op, rewriter)
        except TilewrightError:
            raise
        except Exception as error:
            reason = f"rule {type(rule).__name__} failed: {type(error).__name__}: {error}"
            raise op_error(op, reason, pass_name=pass_name, internal=True) from error
        if rewriter.has_done_action:
            name = type(rule).__name__
            record_rewrite(name, op)
            return name
    return None


def endless_rules(op: Operation, fired: Counter[str], *, pass_name: str) -> PassError:
    """The error where more rules fired than a set that terminates needs: it names the busiest."""
    rule, times = fired.most_common(1)[0]
    return op_error(op, f"rules do not come to an end: {rule} fired {times} times", pass_name=pass_name)


class _Driver:
    """One run of a table of rules over the ops below a root."""

    def __init__(self, table: RuleTable, budget: int, name: str) -> None:
        self.table = table
        self.budget = budget
        self.name = name
        self.fired: Counter[str] = Counter()
        self.worklist = Worklist()

    def run(self, root: Operation) -> bool:
        ops = [op for op in reversed(ops_within(root)) if op is not root]
        if not ops:
            return False
        for op in ops:
            self._push(op)
        remaining = self.budget * max(len(ops), 8)
        rewriter = RuleRewriter(ops[0])
        rewriter.operation_insertion_handler.append(self._inserted)
        rewriter.operation_removal_handler.append(self._removed)
        rewriter.operation_modification_handler.append(self._modified)
        rewriter.operation_replacement_handler.append(self._replaced)
        changed = False
        while (op := self.worklist.pop()) is not None:
            if op.parent is None:
                continue
            if self._apply_first(self.table.rules_for(type(op)), op, rewriter):
                changed = True
                remaining -= 1
                if remaining < 0:
                    raise endless_rules(op, self.fired, pass_name=self.name)
        return changed

    def _apply_first(self, rules: Sequence[RewritePattern], op: Operation, rewriter: RuleRewriter) -> bool:
        fired = None if rewriting_stopped() else apply_first(rules, op, rewriter, pass_name=self.name)
        if fired is None:
            return False
        self.fired[fired] += 1
        if op.parent is not None:
            self._push(op)
        return True

    def _push(self, op: Operation) -> None:
        """Look at an op, again perhaps, if some rule is for its class."""
        if self.table.rules_for(type(op)):
            self.worklist.push(op)

    def _push_users(self, values: Iterable[SSAValue]) -> None:
        for value in values:
            for use in value.uses:
                self._push(use.operation)

    def _inserted(self, op: Operation) -> None:
        self._push(op)
        for region in op.regions:
            for nested in ops_within(region):
                self._push(nested)

    def _removed(self, op: Operation) -> None:
        for dying in op.walk() if op.regions else (op,):
            self.worklist.remove(dying)
            for operand in dying.operands:
                owner = operand.owner
                if isinstance(owner, Operation):
                    self._push(owner)
                users = [use.operation for use in islice(operand.uses, 3)]
                if len(users) <= 2:  # whoever is left becomes the only user, and rules ask for that
                    for user in users:
                        self._push(user)
        for dying in op.walk() if op.regions else (op,):
            self.worklist.remove(dying)

    def _modified(self, op: Operation) -> None:
        self._push(op)
        self._push_users(op.results)

    def _replaced(self, op: Operation, new_results: Sequence[SSAValue | None]) -> None:
        self._push_users(op.results)


def apply_rules(
    root: Operation,
    rules: Sequence[RewritePattern] | RuleTable,
    *,
    max_rewrites_per_op: int = DEFAULT_REWRITES_PER_OP,
    name: str = "",
) -> bool:
    """Apply rules to the ops inside `root` until none matches; returns whether anything changed.

    Raises `PassError` naming the busiest rule when more than `max_rewrites_per_op` rewrites per original op happen,
    and naming the failing rule and op when a rule raises. `name` is the pass that the error speaks of.
    """
    table = rules if isinstance(rules, RuleTable) else RuleTable(rules)
    return _Driver(table, max_rewrites_per_op, name).run(root)
