// Products of short iterations have more of them under way, and are left alone where they are too small or have no room.
// RUN: tilewright-opt %s --split-input-file --triton-persist-programs=num-warps=8 --verify-each | filecheck %s

// 512 clocks each: four.
// CHECK-LABEL: @short
// CHECK: {tt.num_stages = 4 : i32}
// CHECK: {ttg.tiles}
tt.func public @short(%a: !tt.tensordesc<128x64xf16> {ttg.tensor_map = {base = 0 : i64}}, %b: !tt.tensordesc<64x128xf16> {ttg.tensor_map = {base = 1 : i64}}, %c: !tt.tensordesc<128x128xf16> {ttg.tensor_map = {base = 2 : i64, stored}}, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %c128 = arith.constant 128 : i32
  %zero = arith.constant dense<0.0> : tensor<128x128xf32>
  %x = tt.get_program_id x : i32
  %row = arith.muli %x, %c128 : i32
  %sum = scf.for %k = %c0 to %n step %c64 iter_args(%acc = %zero) -> (tensor<128x128xf32>) : i32 {
    %l = tt.descriptor_load %a[%row, %k] : !tt.tensordesc<128x64xf16> -> tensor<128x64xf16>
    %r = tt.descriptor_load %b[%k, %c0] : !tt.tensordesc<64x128xf16> -> tensor<64x128xf16>
    %p = tt.dot %l, %r, %acc : tensor<128x64xf16> * tensor<64x128xf16> -> tensor<128x128xf32>
    scf.yield %p : tensor<128x128xf32>
  }
  %half = arith.truncf %sum : tensor<128x128xf32> to tensor<128x128xf16>
  tt.descriptor_store %c[%row, %c0], %half : !tt.tensordesc<128x128xf16>, tensor<128x128xf16>
  tt.return
}

// -----

// 1,024 clocks each: the three that were asked for.
// CHECK-LABEL: @long
// CHECK-NOT: tt.num_stages
// CHECK: {ttg.tiles}
tt.func public @long(%a: !tt.tensordesc<128x64xf16> {ttg.tensor_map = {base = 0 : i64}}, %b: !tt.tensordesc<64x256xf16> {ttg.tensor_map = {base = 1 : i64}}, %c: !tt.tensordesc<128x256xf16> {ttg.tensor_map = {base = 2 : i64, stored}}, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %c128 = arith.constant 128 : i32
  %zero = arith.constant dense<0.0> : tensor<128x256xf32>
  %x = tt.get_program_id x : i32
  %row = arith.muli %x, %c128 : i32
  %sum = scf.for %k = %c0 to %n step %c64 iter_args(%acc = %zero) -> (tensor<128x256xf32>) : i32 {
    %l = tt.descriptor_load %a[%row, %k] : !tt.tensordesc<128x64xf16> -> tensor<128x64xf16>
    %r = tt.descriptor_load %b[%k, %c0] : !tt.tensordesc<64x256xf16> -> tensor<64x256xf16>
    %p = tt.dot %l, %r, %acc : tensor<128x64xf16> * tensor<64x256xf16> -> tensor<128x256xf32>
    scf.yield %p : tensor<128x256xf32>
  }
  %half = arith.truncf %sum : tensor<128x256xf32> to tensor<128x256xf16>
  tt.descriptor_store %c[%row, %c0], %half : !tt.tensordesc<128x256xf16>, tensor<128x256xf16>
  tt.return
}

// -----

// 8-bit floats, of which two programs have room; sums of few products need as many registers again.
// CHECK-LABEL: @two_programs
// CHECK-NOT: ttg.tiles
// CHECK-LABEL: @partial_sums
// CHECK: {tt.num_stages = 4 : i32}
// CHECK: {ttg.tiles}
tt.func public @two_programs(%a: !tt.tensordesc<128x128xf8E4M3FN> {ttg.tensor_map = {base = 0 : i64}}, %b: !tt.tensordesc<128x128xf8E4M3FN> {ttg.tensor_map = {base = 1 : i64}}, %c: !tt.tensordesc<128x128xf32> {ttg.tensor_map = {base = 2 : i64, stored}}, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c128 = arith.constant 128 : i32
  %zero = arith.constant dense<0.0> : tensor<128x128xf32>
  %x = tt.get_program_id x : i32
  %row = arith.muli %x, %c128 : i32
  %sum = scf.for %k = %c0 to %n step %c128 iter_args(%acc = %zero) -> (tensor<128x128xf32>) : i32 {
    %l = tt.descriptor_load %a[%row, %k] : !tt.tensordesc<128x128xf8E4M3FN> -> tensor<128x128xf8E4M3FN>
    %r = tt.descriptor_load %b[%k, %c0] : !tt.tensordesc<128x128xf8E4M3FN> -> tensor<128x128xf8E4M3FN>
    %p = tt.dot %l, %r, %acc {maxNumImpreciseAcc = 1073741824 : i32} : tensor<128x128xf8E4M3FN> * tensor<128x128xf8E4M3FN> -> tensor<128x128xf32>
    scf.yield %p : tensor<128x128xf32>
  }
  tt.descriptor_store %c[%row, %c0], %sum : !tt.tensordesc<128x128xf32>, tensor<128x128xf32>
  tt.return
}

// -----

tt.func public @partial_sums(%a: !tt.tensordesc<128x128xf8E4M3FN> {ttg.tensor_map = {base = 0 : i64}}, %b: !tt.tensordesc<128x128xf8E4M3FN> {ttg.tensor_map = {base = 1 : i64}}, %c: !tt.tensordesc<128x128xf32> {ttg.tensor_map = {base = 2 : i64, stored}}, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c128 = arith.constant 128 : i32
  %zero = arith.constant dense<0.0> : tensor<128x128xf32>
  %x = tt.get_program_id x : i32
  %row = arith.muli %x, %c128 : i32
  %sum = scf.for %k = %c0 to %n step %c128 iter_args(%acc = %zero) -> (tensor<128x128xf32>) : i32 {
    %l = tt.descriptor_load %a[%row, %k] : !tt.tensordesc<128x128xf8E4M3FN> -> tensor<128x128xf8E4M3FN>
    %r = tt.descriptor_load %b[%k, %c0] : !tt.tensordesc<128x128xf8E4M3FN> -> tensor<128x128xf8E4M3FN>
    %p = tt.dot %l, %r, %acc {maxNumImpreciseAcc = 128 : i32} : tensor<128x128xf8E4M3FN> * tensor<128x128xf8E4M3FN> -> tensor<128x128xf32>
    scf.yield %p : tensor<128x128xf32>
  }
  tt.descriptor_store %c[%row, %c0], %sum : !tt.tensordesc<128x128xf32>, tensor<128x128xf32>
  tt.return
}
