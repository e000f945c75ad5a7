// RUN: tilewright-opt %s --triton-to-structured | filecheck %s
// RUN: tilewright-opt %s --triton-to-structured="use-unsafe-mask" | filecheck %s --check-prefix=UNSAFE

// One pointer for each argument, one count for the mask; no tensor of pointers or offsets is left.

// CHECK-LABEL: tt.func public @add
// CHECK:       %[[N:.*]] = arith.index_cast %arg3 : i32 to index
// CHECK:       %[[START:.*]] = arith.index_cast %{{.*}} : i32 to index
// CHECK:       %[[X:.*]] = tts.make_tptr %arg0 to sizes: [1024], strides: [1], offsets: [%[[START]]], shape: [0], order: [] : <f32> to tensor<1024x!tt.ptr<f32>>
// CHECK:       %[[END:.*]] = arith.addi %[[START]], %c1024 : index
// CHECK:       %[[LAST:.*]] = arith.minsi %[[END]], %[[N]] : index
// CHECK:       %[[KEPT:.*]] = arith.maxsi %[[LAST]], %[[START]] : index
// CHECK:       %[[COUNT:.*]] = arith.subi %[[KEPT]], %[[START]] : index
// CHECK-NOT:   tt.splat
// CHECK-NOT:   tt.addptr
// CHECK:       %[[V:.*]] = "tts.load"(%[[X]], %[[COUNT]]) <{operandSegmentSizes = array<i32: 1, 1, 0>, static_mask_dims = array<i64: -9223372036854775808>}> : (tensor<1024x!tt.ptr<f32>>, index) -> tensor<1024xf32>
// CHECK:       "tts.store"(%{{.*}}, %{{.*}}, %[[COUNT]]) <{static_mask_dims = array<i64: -9223372036854775808>}>

// UNSAFE:      arith.minsi
// UNSAFE-NOT:  arith.maxsi

module {
  tt.func public @add(%x: !tt.ptr<f32>, %y: !tt.ptr<f32>, %o: !tt.ptr<f32>, %n: i32) attributes {noinline = false} {
    %c1024_i32 = arith.constant 1024 : i32
    %0 = tt.get_program_id x : i32
    %1 = arith.muli %0, %c1024_i32 : i32
    %2 = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32>
    %3 = tt.splat %1 : i32 -> tensor<1024xi32>
    %4 = arith.addi %3, %2 : tensor<1024xi32>
    %5 = tt.splat %n : i32 -> tensor<1024xi32>
    %6 = arith.cmpi slt, %4, %5 : tensor<1024xi32>
    %7 = tt.splat %x : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>>
    %8 = tt.addptr %7, %4 : tensor<1024x!tt.ptr<f32>>, tensor<1024xi32>
    %9 = tt.load %8, %6 : tensor<1024x!tt.ptr<f32>>
    %10 = tt.splat %y : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>>
    %11 = tt.addptr %10, %4 : tensor<1024x!tt.ptr<f32>>, tensor<1024xi32>
    %12 = tt.load %11, %6 : tensor<1024x!tt.ptr<f32>>
    %13 = arith.addf %9, %12 : tensor<1024xf32>
    %14 = tt.splat %o : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>>
    %15 = tt.addptr %14, %4 : tensor<1024x!tt.ptr<f32>>, tensor<1024xi32>
    tt.store %15, %13, %6 : tensor<1024x!tt.ptr<f32>>
    tt.return
  }
}
