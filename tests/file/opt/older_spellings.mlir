// Spellings of older Triton and triton-shared are read, with a remark that says how it is written today.
// RUN: tilewright-opt %s --split-input-file -o %t 2>&1 | filecheck %s --check-prefix=REMARK
// RUN: tilewright-opt %s --split-input-file --verify-roundtrip | filecheck %s

// REMARK: older_spellings.mlir:{{[0-9]+}}:9: remark: [parse] 'triton_gpu.' is written 'ttg.' today
// REMARK: remark: [parse] 'CTAsPerCGA' of one CTA is written by leaving it out today
// REMARK: remark: [parse] a layout without 'versionMinor' is written with 'versionMinor = 0' today
// REMARK: remark: [parse] 'triton_gpu.shared' is written 'ttg.swizzled_shared' today
// REMARK: remark: [parse] 'tt.memdesc' is written 'ttg.memdesc' today
// REMARK: remark: [parse] a buffer without its memory space is written with '#smem' today
// REMARK: remark: [parse] this form of 'tt.splat' is written '%0 = tt.splat {{.*}} : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>>' today
// REMARK: remark: [parse] this form of 'tt.load' is written '%0 = tt.load {{.*}} : tensor<16x!tt.ptr<f32>>' today
// REMARK: remark: [parse] this form of 'tt.store' is written 'tt.store {{.*}} : tensor<16x!tt.ptr<f32>>' today
// REMARK: remark: [parse] this form of 'tts.make_tptr' is written {{.*}} shape: [0], order

// CHECK: #mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 8]}>
// CHECK: #shared = #ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>
// CHECK: module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.shared = 16384 : i32
// CHECK: ttg.local_alloc %cst : (tensor<64x64xf16, #mma>) -> !ttg.memdesc<64x64xf16, #shared, #smem>
// CHECK: ttg.local_load %0 : !ttg.memdesc<64x64xf16, #shared, #smem> -> tensor<64x64xf16, #mma>
// CHECK: ttg.local_load %0 : !ttg.memdesc<64x64xf16, #shared, #smem> -> tensor<64x64xf16, #mma>
#mma = #triton_gpu.nvidia_mma<{versionMajor = 2, warpsPerCTA = [4, 1], CTAsPerCGA = [1, 1], CTASplitNum = [1, 1], CTAOrder = [1, 0], instrShape = [16, 8]}>
#shared = #triton_gpu.shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>
module attributes {"triton_gpu.num-warps" = 4 : i32, "triton_gpu.num-ctas" = 1 : i32, "triton_gpu.threads-per-warp" = 32 : i32, triton_gpu.target = "cuda:80", triton_gpu.shared = 16384 : i32} {
  tt.func @f() {
    %0 = arith.constant dense<0.0> : tensor<64x64xf16, #mma>
    %1 = triton_gpu.local_alloc %0 : (tensor<64x64xf16, #mma>) -> !tt.memdesc<64x64xf16, #shared, #triton_gpu.shared_memory>
    %2 = triton_gpu.local_load %1 : !tt.memdesc<64x64xf16, #shared, #triton_gpu.shared_memory> -> tensor<64x64xf16, #mma>
    %3 = triton_gpu.local_load %1 : !tt.memdesc<64x64xf16, #shared> -> tensor<64x64xf16, #mma>
    tt.return
  }
}

// -----

// CHECK: tt.splat %arg0 : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>>
// CHECK: tt.splat %arg1 : i1 -> tensor<16xi1>
// CHECK: tt.load %{{.*}}, %{{.*}} : tensor<16x!tt.ptr<f32>>
// CHECK: tt.load %{{.*}} : tensor<16x!tt.ptr<f32>>
// CHECK: tt.load %arg0 : !tt.ptr<f32>
// CHECK: tt.store %{{.*}}, %{{.*}}, %{{.*}} : tensor<16x!tt.ptr<f32>>
// CHECK: tt.expand_dims %{{.*}} {axis = 0 : i32} : tensor<16xf32> -> tensor<1x16xf32>
// CHECK: tt.broadcast %{{.*}} : tensor<1x16xf32> -> tensor<4x16xf32>
tt.func @f(%p: !tt.ptr<f32>, %m: i1) {
  %r = tt.make_range {start = 0 : i32, end = 16 : i32} : tensor<16xi32>
  %q = tt.splat %p : (!tt.ptr<f32>) -> tensor<16x!tt.ptr<f32>>
  %a = tt.addptr %q, %r : tensor<16x!tt.ptr<f32>>, tensor<16xi32>
  %k = tt.splat %m : (i1) -> tensor<16xi1>
  %v = tt.load %a, %k : tensor<16xf32>
  %w = tt.load %a {cache = 1 : i32, evict = 1 : i32, isVolatile = false} : tensor<16xf32>
  %s = tt.load %p : f32
  tt.store %a, %v, %k : tensor<16xf32>
  tt.store %a, %w : tensor<16xf32>
  tt.store %p, %s : f32
  %e = tt.expand_dims %v {axis = 0 : i32} : (tensor<16xf32>) -> tensor<1x16xf32>
  %b = tt.broadcast %e : (tensor<1x16xf32>) -> tensor<4x16xf32>
  tt.return
}

// -----

// CHECK: tts.make_tptr %arg0 to sizes: [4], strides: [1], offsets: [0], shape: [0], order: []
tt.func @f(%p: !tt.ptr<f32>) {
  %0 = tts.make_tptr %p to sizes: [4], strides: [1], offsets: [0], parent_sizes: [0], order: [] : <f32> to tensor<4x!tt.ptr<f32>>
  tt.return
}
