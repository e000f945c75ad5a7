// RUN: tilewright-opt %s --canonicalize="max-iterations=0" | filecheck %s --check-prefixes=ADDED,BLOCKS
// RUN: tilewright-opt %s --canonicalize="region-simplify=disabled" | filecheck %s --check-prefixes=FOLDED,BLOCKS
// RUN: tilewright-opt %s --canonicalize="top-down=false max-iterations=-1" | filecheck %s --check-prefixes=FOLDED,MERGED
// RUN: tilewright-opt %s --canonicalize="max-num-rewrites=1" | filecheck %s --check-prefixes=FOLDED,MERGED
// RUN: tilewright-opt %s --canonicalize="test-convergence" | filecheck %s --check-prefixes=FOLDED,MERGED
// RUN: not tilewright-opt %s --canonicalize="test-convergence max-iterations=1 max-num-rewrites=1" 2>&1 | filecheck %s --check-prefix=DIVERGED
// RUN: not tilewright-opt %s --canonicalize="region-simplify=aggressive" 2>&1 | filecheck %s --check-prefix=CHOICE
// RUN: tilewright-opt %s --canonicalize | filecheck %s --check-prefix=SPLAT
// RUN: tilewright-opt %s --canonicalize="disable-patterns=BroadcastOfSplat" | filecheck %s --check-prefix=BROADCAST

// ADDED: arith.addi %arg0
// FOLDED-NOT: arith.addi
// BLOCKS: cf.br ^bb1
// MERGED-NOT: cf.br
// DIVERGED: error: pass canonicalize, 'builtin.module': failed to converge
// CHOICE: tilewright-opt: for the --region-simplify option: Cannot find option named 'aggressive'!
func.func @f(%a: i32, %c: i1) -> i32 {
  %0 = arith.constant 0 : i32
  %1 = arith.addi %a, %0 : i32
  %2 = arith.addi %1, %0 : i32
  cf.br ^b
^b:
  return %2 : i32
}

// SPLAT-NOT: tt.broadcast
// BROADCAST: tt.broadcast
tt.func @g(%x: f32) -> tensor<8x4xf32> {
  %0 = tt.splat %x : f32 -> tensor<8x1xf32>
  %1 = tt.broadcast %0 : tensor<8x1xf32> -> tensor<8x4xf32>
  tt.return %1 : tensor<8x4xf32>
}
