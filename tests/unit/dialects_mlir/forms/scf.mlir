module {
  func.func @loops(%arg0: index, %arg1: index, %arg2: index, %arg3: i32, %arg4: i1, %arg5: f32, %arg6: memref<?xf32>) -> i64 {
    scf.for %arg7 = %arg0 to %arg1 step %arg2 {
    }
    scf.for %arg7 = %arg0 to %arg1 step %arg2 {
      memref.store %arg5, %arg6[%arg7] : memref<?xf32>
    } {unroll = 4 : i32}
    %0:2 = scf.for %arg7 = %arg0 to %arg1 step %arg2 iter_args(%arg8 = %arg5, %arg9 = %arg3) -> (f32, i32) {
      scf.yield %arg8, %arg9 : f32, i32
    }
    %1 = scf.for %arg7 = %arg3 to %arg3 step %arg3 iter_args(%arg8 = %arg5) -> (f32)  : i32 {
      scf.yield %arg8 : f32
    }
    scf.for unsigned %arg7 = %arg3 to %arg3 step %arg3  : i32 {
    }
    %2 = scf.if %arg4 -> (f32) {
      scf.yield %arg5 : f32
    } else {
      scf.yield %0#0 : f32
    }
    scf.if %arg4 {
      memref.store %arg5, %arg6[%arg0] : memref<?xf32>
    } else {
      memref.store %arg5, %arg6[%arg1] : memref<?xf32>
    }
    scf.if %arg4 {
    } {tag}
    %3:2 = scf.if %arg4 -> (f32, i32) {
      scf.yield %arg5, %arg3 : f32, i32
    } else {
      scf.yield %arg5, %arg3 : f32, i32
    }
    %4:2 = scf.while (%arg7 = %arg3, %arg8 = %arg5) : (i32, f32) -> (i32, f32) {
      %9 = arith.cmpi slt, %arg7, %arg3 : i32
      scf.condition(%9) %arg7, %arg8 : i32, f32
    } do {
    ^bb0(%arg7: i32, %arg8: f32):
      %9 = arith.addi %arg7, %arg7 : i32
      scf.yield %9, %arg8 : i32, f32
    }
    scf.while : () -> () {
      scf.condition(%arg4)
    } do {
      scf.yield
    }
    %5 = scf.while (%arg7 = %arg3) : (i32) -> i64 {
      %9 = arith.extsi %arg7 : i32 to i64
      scf.condition(%arg4) %9 : i64
    } do {
    ^bb0(%arg7: i64):
      scf.yield %arg3 : i32
    } attributes {k}
    scf.parallel (%arg7, %arg8) = (%arg0, %arg0) to (%arg1, %arg1) step (%arg2, %arg2) {
      memref.store %arg5, %arg6[%arg7] : memref<?xf32>
      scf.reduce 
    }
    %6 = scf.parallel (%arg7) = (%arg0) to (%arg1) step (%arg2) init (%arg5) -> f32 {
      scf.reduce(%arg5 : f32) {
      ^bb0(%arg8: f32, %arg9: f32):
        %9 = arith.addf %arg8, %arg9 : f32
        scf.reduce.return %9 : f32
      }
    }
    %7 = scf.index_switch %arg0 -> i32 
    case 2 {
      scf.yield %arg3 : i32
    }
    case 5 {
      scf.yield %arg3 : i32
    }
    default {
      scf.yield %arg3 : i32
    }
    scf.index_switch %arg0 
    default {
    }
    %8 = scf.execute_region -> i32 {
      scf.yield %arg3 : i32
    }
    return %5 : i64
  }
}
