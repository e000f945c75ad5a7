// Casts between memrefs and addresses become ops; every op of tptr is read and printed.
// RUN: tilewright-opt %s --allow-unregistered-dialect --reconcile-ptr-casts --verify-each --verify-roundtrip | filecheck %s
// RUN: tilewright-opt %s --allow-unregistered-dialect --reconcile-ptr-casts --mlir-print-op-generic | tilewright-opt - --allow-unregistered-dialect | filecheck %s

// CHECK-LABEL: @chains
// CHECK-NEXT: %[[P:.*]] = tptr.from_memref %arg0 : memref<*xi32> to <#tptr.default_memory_space>
// CHECK-NEXT: %[[M:.*]] = tptr.to_memref %[[P]] : <#tptr.default_memory_space> to memref<1xi64>
// CHECK-NEXT: %[[C:.*]] = memref.cast %[[M]] : memref<1xi64> to memref<*xi64>
// CHECK-NEXT: %[[T:.*]] = tptr.to_memref %[[P]] : <#tptr.default_memory_space> to memref<4xf32>
// CHECK-NEXT: "use"(%[[C]], %[[T]], %arg0)
// CHECK-NEXT: %[[K:.*]] = builtin.unrealized_conversion_cast %[[P]] : !ptr.ptr<#tptr.default_memory_space> to !tt.ptr<f32>
// CHECK-NEXT: "use"(%[[K]])
func.func @chains(%m: memref<*xi32>) {
  %a = builtin.unrealized_conversion_cast %m : memref<*xi32> to !tt.ptr<i32>
  %p = builtin.unrealized_conversion_cast %a : !tt.ptr<i32> to !ptr.ptr<#tptr.default_memory_space>
  %q = builtin.unrealized_conversion_cast %p : !ptr.ptr<#tptr.default_memory_space> to !tt.ptr<i64>
  %w = builtin.unrealized_conversion_cast %q : !tt.ptr<i64> to memref<*xi64>
  %t = builtin.unrealized_conversion_cast %p : !ptr.ptr<#tptr.default_memory_space> to memref<4xf32>
  %same = builtin.unrealized_conversion_cast %a : !tt.ptr<i32> to memref<*xi32>
  "use"(%w, %t, %same) : (memref<*xi64>, memref<4xf32>, memref<*xi32>) -> ()
  %kept = builtin.unrealized_conversion_cast %p : !ptr.ptr<#tptr.default_memory_space> to !tt.ptr<f32>
  "use"(%kept) : (!tt.ptr<f32>) -> ()
  return
}

// CHECK-LABEL: @ops
// CHECK: tptr.type_offset f32{{$}}
// CHECK: tptr.type_offset i16  : i32
// CHECK: tptr.ptradd %arg0 %{{.*}} : <#tptr.default_memory_space>, i32 to <#tptr.default_memory_space>
// CHECK: tptr.load %{{.*}} : !ptr.ptr<#tptr.default_memory_space> -> f32
// CHECK: tptr.store %{{.*}}, %arg0 : f32, !ptr.ptr<#tptr.default_memory_space>
// CHECK: tptr.ptrtoint %arg0 : <#tptr.default_memory_space> to i64
// CHECK: tptr.inttoptr %{{.*}} : i64 to <#tptr.default_memory_space>
func.func @ops(%p: !ptr.ptr<#tptr.default_memory_space>) -> (index, !ptr.ptr<#tptr.default_memory_space>) {
  %index = tptr.type_offset f32
  %two = tptr.type_offset i16 : i32
  %q = tptr.ptradd %p %two : !ptr.ptr<#tptr.default_memory_space>, i32 to !ptr.ptr<#tptr.default_memory_space>
  %v = tptr.load %q : !ptr.ptr<#tptr.default_memory_space> -> f32
  tptr.store %v, %p : f32, !ptr.ptr<#tptr.default_memory_space>
  %i = tptr.ptrtoint %p : <#tptr.default_memory_space> to i64
  %r = tptr.inttoptr %i : i64 to <#tptr.default_memory_space>
  return %index, %r : index, !ptr.ptr<#tptr.default_memory_space>
}
