// RUN: tilewright-opt %s --mlir-print-debuginfo | exact %s
// RUN: tilewright-opt %s --mlir-print-debuginfo --mlir-use-nameloc-as-prefix | filecheck %s --check-prefix=NAMED
// RUN: tilewright-opt %s --mlir-print-debuginfo | mlir-opt --mlir-print-debuginfo | filecheck %s --check-prefix=UPSTREAM

// Aliases of locations are defined after their use, every form of location is kept, and upstream prints the same table.

// NAMED: func.func @f(%x_ptr: i32 loc("x_ptr"(#loc)), %arg1: i1 loc(unknown))
// NAMED: %total = arith.addi %x_ptr, %x_ptr : i32

// UPSTREAM: #loc10 = loc(callsite(#loc8 at #loc3))

module {
  func.func @f(%arg0: i32 loc("x_ptr"(#loc)), %arg1: i1 loc(unknown)) -> i32 {
    %0 = arith.addi %arg0, %arg0 : i32 loc(#loc2)
    %1 = scf.if %arg1 -> (i32) {
      scf.yield %0 : i32 loc(callsite(#loc3 at #loc4))
    } else {
      scf.yield %arg0 : i32 loc(fused[#loc3, #loc5])
    } {note = "gr\C3\B6\C3\9Fe"} loc(fused<"why">[#loc3, #loc4])
    return %1 : i32 loc(#loc6)
  } loc(#loc)
} loc(#loc)
#loc = loc("/tmp/x.py":10:0)
#loc2 = loc("total"(#loc3))
#loc3 = loc("/tmp/x.py":13:4)
#loc4 = loc("/tmp/x.py":14:4)
#loc5 = loc("gr\C3\B6\C3\9Fe"(#loc3))
#loc6 = loc(callsite(#loc5 at #loc4))

// EXACT:
// #loc = loc("/tmp/x.py":10:0)
// #loc1 = loc(unknown)
// #loc4 = loc("x_ptr"(#loc))
// module {
//   func.func @f(%arg0: i32 loc("x_ptr"(#loc)), %arg1: i1 loc(unknown)) -> i32 {
//     %0 = arith.addi %arg0, %arg0 : i32 loc(#loc5)
//     %1 = scf.if %arg1 -> (i32) {
//       scf.yield %0 : i32 loc(#loc7)
//     } else {
//       scf.yield %arg0 : i32 loc(#loc9)
//     } {note = "gr\C3\B6\C3\9Fe"} loc(#loc6)
//     return %1 : i32 loc(#loc10)
//   } loc(#loc)
// } loc(#loc)
// #loc2 = loc("/tmp/x.py":13:4)
// #loc3 = loc("/tmp/x.py":14:4)
// #loc5 = loc("total"(#loc2))
// #loc6 = loc(fused<"why">[#loc2, #loc3])
// #loc7 = loc(callsite(#loc2 at #loc3))
// #loc8 = loc("gr\C3\B6\C3\9Fe"(#loc2))
// #loc9 = loc(fused[#loc2, #loc8])
// #loc10 = loc(callsite(#loc8 at #loc3))
