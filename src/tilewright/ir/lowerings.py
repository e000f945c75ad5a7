"""Tables of lowerings: which function lowers an op, by the op's class."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Concatenate, Generic, ParamSpec, TypeVar

from xdsl.ir import Operation

OpT = TypeVar("OpT", bound=Operation)
StateP = ParamSpec("StateP")
ResultT = TypeVar("ResultT")


class Lowerings(dict[type[Operation], Callable[Concatenate[Any, StateP], ResultT]], Generic[StateP, ResultT]):
    """From op class to the function that lowers such an op, filled by `lowers` as the files of ops are imported.

    ```python
    @lowers(tt.GatherOp)
    def lower_gather(op: tt.GatherOp, f: LoweringContext) -> Sequence[SSAValue]: ...
    ```
    """

    def lowers(
        self, *classes: type[OpT]
    ) -> Callable[[Callable[Concatenate[OpT, StateP], ResultT]], Callable[Concatenate[OpT, StateP], ResultT]]:
        """Register what lowers ops of these classes."""

        def register(rule: Callable[Concatenate[OpT, StateP], ResultT]) -> Callable[Concatenate[OpT, StateP], ResultT]:
            for cls in classes:
                assert cls not in self, f"{cls.name} has a lowering already"
                self[cls] = rule
            return rule

        return register
