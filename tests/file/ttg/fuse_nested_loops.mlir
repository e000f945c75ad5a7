// Loops around loops as one loop.
// RUN: tilewright-opt %s --tritongpu-fuse-nested-loops --canonicalize --verify-each | filecheck %s

// Both counts are known only when the kernel runs: where the inner loop never runs, only the outer one does.
// CHECK-LABEL: @fused
// CHECK: %[[NONE:.*]] = arith.cmpi sle, %arg3, %c0_i32
// CHECK: scf.if %[[NONE]]
// CHECK: scf.for %{{.*}} = %arg0 to %arg1 step %arg2
// CHECK-NOT: scf.for
// CHECK: } else {
// CHECK: %[[TILES:.*]] = arith.select
// CHECK: %[[TOTAL:.*]] = arith.muli %[[TILES]], %arg3
// CHECK: %[[LAST:.*]] = arith.subi %arg3, %c1_i32
// CHECK: %[[START:.*]] = arith.subi %arg0, %arg2
// CHECK: scf.for %{{.*}} = %c0_i32 to %[[TOTAL]] step %c1_i32 iter_args(%[[K:.*]] = %c0_i32, %[[TILE:.*]] = %[[START]], %[[OUT:.*]] = %arg5, %[[ACC:.*]] = %arg5,
// What comes before the inner loop runs in its first iteration.
// CHECK: %[[FIRST:.*]] = arith.cmpi eq, %[[K]], %c0_i32
// CHECK: %[[P:.*]]:2 = scf.if %[[FIRST]] -> (i32, i32) {
// CHECK: %[[NEXT:.*]] = arith.addi %[[TILE]], %arg2
// CHECK: arith.divsi %[[NEXT]], %arg3
// CHECK: arith.addi %[[P]]#1, %[[K]]
// CHECK: %[[SUM:.*]] = arith.addf %[[ACC]]
// What comes after it in its last, and there the sums start again.
// CHECK: %[[IS_LAST:.*]] = arith.cmpi eq, %[[K]], %[[LAST]]
// CHECK: arith.select %[[IS_LAST]], %arg5, %[[SUM]] : f32
// CHECK: scf.if %[[IS_LAST]]
// CHECK: tt.store
// CHECK-NOT: tt.flatten
tt.func public @fused(%lb: i32, %ub: i32, %st: i32, %kt: i32, %p: !tt.ptr<f32>, %z: f32) -> f32 {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %r = scf.for %i = %lb to %ub step %st iter_args(%o = %z) -> (f32) : i32 {
    %pm = arith.divsi %i, %kt : i32
    %a = scf.for %k = %c0 to %kt step %c1 iter_args(%acc = %z) -> (f32) : i32 {
      %q = arith.addi %pm, %k : i32
      %x = tt.addptr %p, %q : !tt.ptr<f32>, i32
      %v = tt.load %x : !tt.ptr<f32>
      %s = arith.addf %acc, %v : f32
      scf.yield %s : f32
    }
    %q = tt.addptr %p, %pm : !tt.ptr<f32>, i32
    tt.store %q, %a : !tt.ptr<f32>
    %n = arith.addf %o, %a : f32
    scf.yield %n : f32
  } {tt.flatten}
  tt.return %r : f32
}

// The inner loop is known to run: there is one loop only. It starts from what the outer loop carries.
// CHECK-LABEL: @known
// CHECK-NOT: scf.if
// CHECK: scf.for {{.*}} iter_args(
// CHECK: scf.if
// CHECK: arith.muli %{{.*}}, %c3_i64 : i64
// CHECK-NOT: scf.for
// CHECK: {tt.num_stages = 4 : i32}
tt.func public @known(%ub: i64, %p: !tt.ptr<f32>, %z: f32) -> f32 {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %c2 = arith.constant 2 : i64
  %c3 = arith.constant 3 : i64
  %c20 = arith.constant 20 : i64
  %r = scf.for %i = %c0 to %ub step %c1 iter_args(%o = %z) -> (f32) : i64 {
    %a = scf.for %k = %c2 to %c20 step %c3 iter_args(%acc = %o) -> (f32) : i64 {
      %x = tt.addptr %p, %k : !tt.ptr<f32>, i64
      %v = tt.load %x : !tt.ptr<f32>
      %s = arith.addf %acc, %v : f32
      scf.yield %s : f32
    } {tt.num_stages = 4 : i32}
    scf.yield %a : f32
  } {tt.flatten}
  tt.return %r : f32
}

// The number of inner iterations is the same in all iterations of the outer loop, though computed there.
// CHECK-LABEL: @hoisted
// CHECK: %[[N:.*]] = arith.muli %arg1, %arg1
// CHECK: arith.cmpi sle, %[[N]], %c0_i32
// CHECK: arith.muli %{{.*}}, %[[N]]
tt.func public @hoisted(%ub: i32, %n: i32, %p: !tt.ptr<f32>, %z: f32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  scf.for %i = %c0 to %ub step %c1 : i32 {
    %count = arith.muli %n, %n : i32
    scf.for %k = %c0 to %count step %c1 : i32 {
      %x = tt.addptr %p, %k : !tt.ptr<f32>, i32
      tt.store %x, %z : !tt.ptr<f32>
    }
  } {tt.flatten}
  tt.return
}

// Left alone: a loop that does not ask for it.
// CHECK-LABEL: @not_asked
// CHECK: scf.for
// CHECK: scf.for
tt.func public @not_asked(%ub: i32, %p: !tt.ptr<f32>, %z: f32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  scf.for %i = %c0 to %ub step %c1 : i32 {
    scf.for %k = %c0 to %ub step %c1 : i32 {
      %x = tt.addptr %p, %k : !tt.ptr<f32>, i32
      tt.store %x, %z : !tt.ptr<f32>
    }
  }
  tt.return
}

// Left alone: the inner loop runs for another number of iterations each time.
// CHECK-LABEL: @triangle
// CHECK: scf.for
// CHECK: scf.for
tt.func public @triangle(%ub: i32, %p: !tt.ptr<f32>, %z: f32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  scf.for %i = %c0 to %ub step %c1 : i32 {
    scf.for %k = %c0 to %i step %c1 : i32 {
      %x = tt.addptr %p, %k : !tt.ptr<f32>, i32
      tt.store %x, %z : !tt.ptr<f32>
    }
  } {tt.flatten}
  tt.return
}

// Left alone: two inner loops.
// CHECK-LABEL: @two
// CHECK: scf.for
// CHECK: scf.for
// CHECK: scf.for
tt.func public @two(%ub: i32, %p: !tt.ptr<f32>, %z: f32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  scf.for %i = %c0 to %ub step %c1 : i32 {
    scf.for %k = %c0 to %ub step %c1 : i32 {
      %x = tt.addptr %p, %k : !tt.ptr<f32>, i32
      tt.store %x, %z : !tt.ptr<f32>
    }
    scf.for %k = %c0 to %ub step %c1 : i32 {
      %x = tt.addptr %p, %i : !tt.ptr<f32>, i32
      tt.store %x, %z : !tt.ptr<f32>
    }
  } {tt.flatten}
  tt.return
}
