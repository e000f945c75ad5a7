"""The pass `reconcile-unrealized-casts`."""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp, UnrealizedConversionCastOp

from tilewright.ir.passes import Pass, PassContext, register_pass
from tilewright.ir.walking import find_ops


@register_pass
class ReconcileUnrealizedCastsPass(Pass):
    """Removes pairs of casts that cancel out.

    ```mlir
    %1 = builtin.unrealized_conversion_cast %0 : memref<*xf32> to !tt.ptr<f32>
    %2 = builtin.unrealized_conversion_cast %1 : !tt.ptr<f32> to memref<*xf32>
    // uses of %2 become uses of %0
    ```
    Same name and meaning as MLIR's own pass.
    """

    name = "reconcile-unrealized-casts"
    title = "ReconcileUnrealizedCastsPass"

    def run(self, module: ModuleOp, context: PassContext) -> None:
        reconcile_casts(module)


def reconcile_casts(module: ModuleOp) -> None:
    """Replace each cast that undoes another, then erase the casts that nothing uses."""
    casts = find_ops(module, UnrealizedConversionCastOp)
    for cast in casts:
        before = cast.operands[0].owner if len(cast.operands) == 1 else None
        if [value.type for value in cast.operands] == [value.type for value in cast.results]:
            originals = cast.operands
        elif (
            isinstance(before, UnrealizedConversionCastOp)
            and tuple(cast.operands) == tuple(before.results)
            and [value.type for value in before.operands] == [value.type for value in cast.results]
        ):
            originals = before.operands
        else:
            continue
        for result, original in zip(cast.results, originals, strict=True):
            result.replace_all_uses_with(original)
    for cast in reversed(casts):
        if not any(result.uses for result in cast.results):
            cast.detach()
            cast.erase()
