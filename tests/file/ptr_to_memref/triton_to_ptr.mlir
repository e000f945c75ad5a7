// Pointers become addresses in bytes: in loops, tensors and selections; signatures and calls keep !tt.ptr.
// RUN: tilewright-opt %s --triton-arith-to-linalg="tensor-ptr-to-linalg" --triton-to-ptr --cse --canonicalize --verify-each --verify-roundtrip | filecheck %s
// RUN: tilewright-opt %s --triton-arith-to-linalg="tensor-ptr-to-linalg" --triton-to-ptr --triton-ptr-to-memref --reconcile-ptr-casts --canonicalize --verify-each | filecheck %s --check-prefix=MEMREF
// RUN: not tilewright-opt %s --convert-triton-to-tritongpu="target=cuda:90" --triton-to-ptr 2>&1 | filecheck %s --check-prefix=STAGE

// STAGE: the pass takes modules of stage 'tt'

// CHECK-LABEL: func.func @scalar
// CHECK-SAME: %arg0: !tt.ptr<i32>
// CHECK: %[[SIZE:.*]] = tptr.type_offset i32  : i64
// CHECK: %[[P:.*]] = builtin.unrealized_conversion_cast %arg0 : !tt.ptr<i32> to !ptr.ptr<#tptr.default_memory_space>
// CHECK: %[[LONG:.*]] = arith.extsi %arg1 : i32 to i64
// CHECK: %[[BYTES:.*]] = arith.muli %[[LONG]], %[[SIZE]] : i64
// CHECK: %[[Q:.*]] = tptr.ptradd %[[P]] %[[BYTES]] : <#tptr.default_memory_space>, i64 to <#tptr.default_memory_space>
// CHECK: scf.if
// CHECK: tptr.to_memref %[[Q]] : <#tptr.default_memory_space> to memref<1xi64>
// CHECK: memref.load
// CHECK: tptr.ptrtoint %[[Q]] : <#tptr.default_memory_space> to i64
// CHECK: tptr.inttoptr
// CHECK: memref.store
// MEMREF-LABEL: func.func @scalar
// MEMREF-SAME: %arg0: memref<*xi32>
// MEMREF: tptr.from_memref %arg0 : memref<*xi32> to <#tptr.default_memory_space>
// MEMREF-NOT: unrealized_conversion_cast
// MEMREF-LABEL: func.func @called
tt.func public @scalar(%p: !tt.ptr<i32>, %n: i32, %c: i1) {
  %q = tt.addptr %p, %n : !tt.ptr<i32>, i32
  %w = tt.bitcast %q : !tt.ptr<i32> -> !tt.ptr<i64>
  %v = tt.load %w, %c : !tt.ptr<i64>
  %i = tt.ptr_to_int %q : !tt.ptr<i32> -> i64
  %j = arith.addi %i, %v : i64
  %r = tt.int_to_ptr %j : i64 -> !tt.ptr<i64>
  tt.store %r, %v : !tt.ptr<i64>
  tt.return
}

// A call knows no addresses: what is computed for it is cast back.
// CHECK-LABEL: func.func @called
// CHECK: %[[BACK:.*]] = builtin.unrealized_conversion_cast %{{.*}} : !ptr.ptr<#tptr.default_memory_space> to !tt.ptr<i32>
// CHECK: call @scalar(%[[BACK]], 
tt.func public @called(%p: !tt.ptr<i32>, %c: i1) {
  %four = arith.constant 4 : i32
  %q = tt.addptr %p, %four : !tt.ptr<i32>, i32
  tt.call @scalar(%q, %four, %c) : (!tt.ptr<i32>, i32, i1) -> ()
  tt.return
}

// CHECK-LABEL: func.func @carried
// CHECK: scf.for {{.*}} -> (tensor<16x!ptr.ptr<#tptr.default_memory_space>>)
// CHECK: arith.select {{.*}} : !ptr.ptr<#tptr.default_memory_space>
// CHECK: linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<16x!ptr.ptr<#tptr.default_memory_space>>, tensor<16xf32>)
tt.func public @carried(%p: !tt.ptr<f32>, %o: !tt.ptr<f32>, %mask: tensor<16xi1>) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c4 = arith.constant 4 : i32
  %lanes = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
  %s = tt.splat %p : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>>
  %t = tt.splat %o : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>>
  %r = scf.for %k = %c0 to %c4 step %c1 iter_args(%q = %s) -> (tensor<16x!tt.ptr<f32>>) : i32 {
    %next = tt.addptr %q, %lanes : tensor<16x!tt.ptr<f32>>, tensor<16xi32>
    %x = tt.load %next, %mask : tensor<16x!tt.ptr<f32>>
    %to = arith.select %mask, %next, %t : tensor<16xi1>, tensor<16x!tt.ptr<f32>>
    tt.store %to, %x : tensor<16x!tt.ptr<f32>>
    scf.yield %next : tensor<16x!tt.ptr<f32>>
  }
  tt.return
}
