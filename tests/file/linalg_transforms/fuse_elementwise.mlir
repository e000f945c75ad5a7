// RUN: tilewright-opt %s --linalg-fuse-elementwise | filecheck %s

#row = affine_map<(d0, d1) -> (d0)>
#id = affine_map<(d0, d1) -> (d0, d1)>

// A broadcast becomes a map, a dear value that is read twice a further result of the reduction that reads it first.
// CHECK-LABEL: @softmax_part
// CHECK: %[[R:.*]]:2 = linalg.generic
// CHECK-SAME: iterator_types = ["parallel", "reduction"]
// CHECK-SAME: ins(%{{.*}}, %{{.*}} : tensor<8x64xf32>, tensor<8xf32>)
// CHECK: arith.subf
// CHECK-NEXT: math.exp
// CHECK-NEXT: arith.addf
// CHECK-NEXT: linalg.yield
// CHECK-NOT: math.exp
// CHECK: return %[[R]]#1, %[[R]]#0
func.func @softmax_part(%x: tensor<8x64xf32>, %m: tensor<8xf32>, %z: tensor<8xf32>) -> (tensor<8x64xf32>, tensor<8xf32>) {
  %e = tensor.empty() : tensor<8x64xf32>
  %b = linalg.generic {indexing_maps = [#row, #id], iterator_types = ["parallel", "parallel"]} ins(%m : tensor<8xf32>) outs(%e : tensor<8x64xf32>) {
  ^bb0(%a: f32, %c: f32):
    linalg.yield %a : f32
  } -> tensor<8x64xf32>
  %s = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%x, %b : tensor<8x64xf32>, tensor<8x64xf32>) outs(%x : tensor<8x64xf32>) {
  ^bb0(%a: f32, %c: f32, %d: f32):
    %0 = arith.subf %a, %c : f32
    linalg.yield %0 : f32
  } -> tensor<8x64xf32>
  %p = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%s : tensor<8x64xf32>) outs(%s : tensor<8x64xf32>) {
  ^bb0(%a: f32, %c: f32):
    %0 = math.exp %a : f32
    linalg.yield %0 : f32
  } -> tensor<8x64xf32>
  %r = linalg.reduce ins(%p : tensor<8x64xf32>) outs(%z : tensor<8xf32>) dimensions = [1]
    (%in: f32, %init: f32) {
      %0 = arith.addf %in, %init : f32
      linalg.yield %0 : f32
    }
  return %p, %r : tensor<8x64xf32>, tensor<8xf32>
}

// A cheap producer is computed again in each reader, a fill becomes a scalar of the body.
// CHECK-LABEL: @cheap
// CHECK-SAME: (%[[X:.*]]: tensor<4xf32>, %[[S:.*]]: f32)
// CHECK-NOT: linalg.fill
// CHECK-COUNT-2: arith.addf %{{.*}}, %[[S]]
// CHECK-NOT: arith.addf
// CHECK: return
func.func @cheap(%x: tensor<4xf32>, %s: f32) -> (tensor<4xf32>, tensor<4xf32>) {
  %e = tensor.empty() : tensor<4xf32>
  %f = linalg.fill ins(%s : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %a = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%x, %f : tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%p: f32, %q: f32, %c: f32):
    %0 = arith.addf %p, %q : f32
    linalg.yield %0 : f32
  } -> tensor<4xf32>
  %b = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%a : tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%p: f32, %c: f32):
    %0 = math.exp %p : f32
    linalg.yield %0 : f32
  } -> tensor<4xf32>
  %d = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%a : tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%p: f32, %c: f32):
    %0 = math.sqrt %p : f32
    linalg.yield %0 : f32
  } -> tensor<4xf32>
  return %b, %d : tensor<4xf32>, tensor<4xf32>
}

// An element that a body extracts at its own place is an operand, so that what makes it moves into the loop; one at
// another place is not.
// CHECK-LABEL: @own_element
// CHECK-SAME: %[[T:.*]]: tensor<8xi32>, %[[OTHER:.*]]: tensor<8xi32>
// CHECK: linalg.generic
// CHECK-SAME: ins(%[[T]] : tensor<8xi32>)
// CHECK: arith.muli
// CHECK: tensor.extract %[[OTHER]][%{{.*}}] : tensor<8xi32>
// CHECK-NOT: tensor.extract
// CHECK: return
func.func @own_element(%t: tensor<8xi32>, %other: tensor<8xi32>, %c: index) -> tensor<8xi32> {
  %e = tensor.empty() : tensor<8xi32>
  %d = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%t : tensor<8xi32>) outs(%e : tensor<8xi32>) {
  ^bb0(%x: i32, %o: i32):
    %0 = arith.muli %x, %x : i32
    linalg.yield %0 : i32
  } -> tensor<8xi32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} outs(%e : tensor<8xi32>) {
  ^bb0(%o: i32):
    %i = linalg.index 0 : index
    %x = tensor.extract %d[%i] : tensor<8xi32>
    %y = tensor.extract %other[%c] : tensor<8xi32>
    %0 = arith.addi %x, %y : i32
    linalg.yield %0 : i32
  } -> tensor<8xi32>
  return %r : tensor<8xi32>
}

#same = affine_map<(d0) -> (d0)>

// Sums in memory compute their places and masks; what is read from memory stays in front of what writes it.
// CHECK-LABEL: @sums_in_memory
// CHECK: %[[V:[0-9]+]] = linalg.generic {{.*}} outs(%{{.*}} : tensor<8xf32>) {
// CHECK: linalg.generic {{.*}} ins(%arg1, %[[V]] : tensor<8xi32>, tensor<8xf32>) {
// CHECK: arith.muli
// CHECK: arith.cmpi
// CHECK: scf.if
// CHECK: memref.atomic_rmw addf
func.func @sums_in_memory(%m: memref<*xf32>, %i: tensor<8xi32>, %two: tensor<8xi32>) {
  %e = tensor.empty() : tensor<8xi32>
  %f = tensor.empty() : tensor<8xf32>
  %b = tensor.empty() : tensor<8xi1>
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : i32
  %double = linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel"]} ins(%i : tensor<8xi32>) outs(%e : tensor<8xi32>) {
  ^bb0(%a: i32, %o: i32):
    %0 = arith.muli %a, %c2 : i32
    linalg.yield %0 : i32
  } -> tensor<8xi32>
  %some = linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel"]} ins(%i : tensor<8xi32>) outs(%b : tensor<8xi1>) {
  ^bb0(%a: i32, %o: i1):
    %0 = arith.cmpi slt, %a, %c2 : i32
    linalg.yield %0 : i1
  } -> tensor<8xi1>
  %v = linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel"]} ins(%i : tensor<8xi32>) outs(%f : tensor<8xf32>) {
  ^bb0(%a: i32, %o: f32):
    %0 = arith.index_cast %a : i32 to index
    %p = memref.reinterpret_cast %m to offset: [%0], sizes: [1], strides: [1] : memref<*xf32> to memref<1xf32, strided<[1], offset: ?>>
    %1 = memref.load %p[%c0] : memref<1xf32, strided<[1], offset: ?>>
    linalg.yield %1 : f32
  } -> tensor<8xf32>
  linalg.generic {indexing_maps = [#same, #same, #same], iterator_types = ["parallel"]} ins(%double, %v, %some : tensor<8xi32>, tensor<8xf32>, tensor<8xi1>) {
  ^bb0(%a: i32, %x: f32, %on: i1):
    scf.if %on {
      %0 = arith.index_cast %a : i32 to index
      %p = memref.reinterpret_cast %m to offset: [%0], sizes: [1], strides: [1] : memref<*xf32> to memref<1xf32, strided<[1], offset: ?>>
      %old = memref.atomic_rmw addf %x, %p[%c0] : (f32, memref<1xf32, strided<[1], offset: ?>>) -> f32
    }
    linalg.yield
  }
  return
}

// What is read moves to where other memory is written,
// CHECK-LABEL: @from_memory_to_memory
// CHECK: linalg.generic
// CHECK: memref.load
// CHECK-NOT: linalg.generic
// CHECK: memref.store
func.func @from_memory_to_memory(%m: memref<*xf32>, %n: memref<*xf32>, %i: tensor<8xi32>) attributes {tilewright.noalias} {
  %f = tensor.empty() : tensor<8xf32>
  %c0 = arith.constant 0 : index
  %v = linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel"]} ins(%i : tensor<8xi32>) outs(%f : tensor<8xf32>) {
  ^bb0(%a: i32, %o: f32):
    %0 = arith.index_cast %a : i32 to index
    %p = memref.reinterpret_cast %m to offset: [%0], sizes: [1], strides: [1] : memref<*xf32> to memref<1xf32, strided<[1], offset: ?>>
    %1 = memref.load %p[%c0] : memref<1xf32, strided<[1], offset: ?>>
    linalg.yield %1 : f32
  } -> tensor<8xf32>
  linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel"]} ins(%i, %v : tensor<8xi32>, tensor<8xf32>) {
  ^bb0(%a: i32, %x: f32):
    %0 = arith.index_cast %a : i32 to index
    %p = memref.reinterpret_cast %n to offset: [%0], sizes: [1], strides: [1] : memref<*xf32> to memref<1xf32, strided<[1], offset: ?>>
    memref.store %x, %p[%c0] : memref<1xf32, strided<[1], offset: ?>>
    linalg.yield
  }
  return
}

// but not where both may be the same memory.
// CHECK-LABEL: @from_memory_to_any_memory
// CHECK: linalg.generic
// CHECK: memref.load
// CHECK: linalg.generic
// CHECK: memref.store
func.func @from_memory_to_any_memory(%m: memref<*xf32>, %n: memref<*xf32>, %i: tensor<8xi32>) {
  %f = tensor.empty() : tensor<8xf32>
  %c0 = arith.constant 0 : index
  %v = linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel"]} ins(%i : tensor<8xi32>) outs(%f : tensor<8xf32>) {
  ^bb0(%a: i32, %o: f32):
    %0 = arith.index_cast %a : i32 to index
    %p = memref.reinterpret_cast %m to offset: [%0], sizes: [1], strides: [1] : memref<*xf32> to memref<1xf32, strided<[1], offset: ?>>
    %1 = memref.load %p[%c0] : memref<1xf32, strided<[1], offset: ?>>
    linalg.yield %1 : f32
  } -> tensor<8xf32>
  linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel"]} ins(%i, %v : tensor<8xi32>, tensor<8xf32>) {
  ^bb0(%a: i32, %x: f32):
    %0 = arith.index_cast %a : i32 to index
    %p = memref.reinterpret_cast %n to offset: [%0], sizes: [1], strides: [1] : memref<*xf32> to memref<1xf32, strided<[1], offset: ?>>
    memref.store %x, %p[%c0] : memref<1xf32, strided<[1], offset: ?>>
    linalg.yield
  }
  return
}

// What is dear and has several readers is computed once, also where the first of them moves on into its own reader,
// in whatever order that walks the elements; not where another reader comes before that.
// CHECK-LABEL: @kept_in_the_reader_after_next
// CHECK: %[[S:.*]]:2 = linalg.generic {indexing_maps = [#[[CROSSED:[a-z0-9]+]], #[[STRAIGHT:[a-z0-9]+]], #[[CROSSED]]]
// CHECK: %[[E:.*]] = math.exp
// CHECK-NEXT: %[[N:.*]] = arith.negf %[[E]]
// CHECK-NEXT: %[[Q:.*]] = math.sqrt %[[N]]
// CHECK-NEXT: linalg.yield %[[Q]], %[[E]] : f32, f32
// CHECK: -> (tensor<8x4xf32>, tensor<4x8xf32>)
// CHECK: linalg.generic {{.*}} ins(%[[S]]#1 : tensor<4x8xf32>)
// CHECK-NOT: math.exp
// CHECK: return
#straight = affine_map<(d0, d1) -> (d0, d1)>
#crossed = affine_map<(d0, d1) -> (d1, d0)>
func.func @kept_in_the_reader_after_next(%x: tensor<4x8xf32>) -> (tensor<8x4xf32>, tensor<4x8xf32>) {
  %e = tensor.empty() : tensor<4x8xf32>
  %t = tensor.empty() : tensor<8x4xf32>
  %p = linalg.generic {indexing_maps = [#straight, #straight], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = math.exp %a : f32
    linalg.yield %0 : f32
  } -> tensor<4x8xf32>
  %n = linalg.generic {indexing_maps = [#straight, #straight], iterator_types = ["parallel", "parallel"]} ins(%p : tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = arith.negf %a : f32
    linalg.yield %0 : f32
  } -> tensor<4x8xf32>
  %s = linalg.generic {indexing_maps = [#crossed, #straight], iterator_types = ["parallel", "parallel"]} ins(%n : tensor<4x8xf32>) outs(%t : tensor<8x4xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = math.sqrt %a : f32
    linalg.yield %0 : f32
  } -> tensor<8x4xf32>
  %u = linalg.generic {indexing_maps = [#straight, #straight], iterator_types = ["parallel", "parallel"]} ins(%p : tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = math.sqrt %a : f32
    linalg.yield %0 : f32
  } -> tensor<4x8xf32>
  return %s, %u : tensor<8x4xf32>, tensor<4x8xf32>
}
// CHECK-LABEL: @read_before
// CHECK: %[[E:.*]] = linalg.generic
// CHECK: math.exp
// CHECK: linalg.generic {{.*}} ins(%[[E]] : tensor<4x8xf32>)
// CHECK: math.sin
// CHECK: return
func.func @read_before(%x: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>) {
  %e = tensor.empty() : tensor<4x8xf32>
  %p = linalg.generic {indexing_maps = [#straight, #straight], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = math.exp %a : f32
    linalg.yield %0 : f32
  } -> tensor<4x8xf32>
  %n = linalg.generic {indexing_maps = [#straight, #straight], iterator_types = ["parallel", "parallel"]} ins(%p : tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = arith.negf %a : f32
    linalg.yield %0 : f32
  } -> tensor<4x8xf32>
  %u = linalg.generic {indexing_maps = [#straight, #straight], iterator_types = ["parallel", "parallel"]} ins(%p : tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = math.sin %a : f32
    linalg.yield %0 : f32
  } -> tensor<4x8xf32>
  %s = linalg.generic {indexing_maps = [#straight, #straight], iterator_types = ["parallel", "parallel"]} ins(%n : tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = math.sqrt %a : f32
    linalg.yield %0 : f32
  } -> tensor<4x8xf32>
  return %s, %u : tensor<4x8xf32>, tensor<4x8xf32>
}

// A value that its first reader also gathers from, at indices of its own, is whole before that.
// CHECK-LABEL: @gathers_from_itself
// CHECK: %[[E:.*]] = linalg.generic
// CHECK: math.exp
// CHECK: %[[G:.*]] = linalg.generic {{.*}} ins(%[[E]] : tensor<8xf32>)
// CHECK: tensor.extract %[[E]]
// CHECK: return %[[E]], %[[G]]
func.func @gathers_from_itself(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %e = tensor.empty() : tensor<8xf32>
  %p = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = math.exp %a : f32
    linalg.yield %0 : f32
  } -> tensor<8xf32>
  %g = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%p : tensor<8xf32>) outs(%e : tensor<8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = arith.fptosi %a : f32 to i32
    %1 = arith.index_cast %0 : i32 to index
    %2 = tensor.extract %p[%1] : tensor<8xf32>
    linalg.yield %2 : f32
  } -> tensor<8xf32>
  return %p, %g : tensor<8xf32>, tensor<8xf32>
}

// Nor does it become a result of the reader when what else reads it moves in there: it is computed twice.
// CHECK-LABEL: @gathers_through_another
// CHECK: %[[E:.*]] = linalg.generic
// CHECK: math.exp
// CHECK: %[[G:.*]] = linalg.generic
// CHECK: math.exp
// CHECK-NEXT: math.sin
// CHECK: tensor.extract %[[E]][
// CHECK: return %[[E]], %[[G]]
func.func @gathers_through_another(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %e = tensor.empty() : tensor<8xf32>
  %p = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = math.exp %a : f32
    linalg.yield %0 : f32
  } -> tensor<8xf32>
  %n = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%p : tensor<8xf32>) outs(%e : tensor<8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = math.sin %a : f32
    linalg.yield %0 : f32
  } -> tensor<8xf32>
  %g = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%n : tensor<8xf32>) outs(%e : tensor<8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = arith.fptosi %a : f32 to i32
    %1 = arith.index_cast %0 : i32 to index
    %2 = tensor.extract %p[%1] : tensor<8xf32>
    linalg.yield %2 : f32
  } -> tensor<8xf32>
  return %p, %g : tensor<8xf32>, tensor<8xf32>
}

// What the elements of a row share is computed once for the row: what is made of it is cheap for two readers.
// CHECK-LABEL: @centred_rows
// CHECK-COUNT-2: arith.divf
// CHECK-NOT: arith.divf
// CHECK: return
func.func @centred_rows(%x: tensor<4x64xf32>, %sum: tensor<4xf32>) -> (tensor<4x64xf32>, tensor<4x64xf32>) {
  %n = arith.constant 64.0 : f32
  %r = tensor.empty() : tensor<4xf32>
  %e = tensor.empty() : tensor<4x64xf32>
  %mean = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%sum : tensor<4xf32>) outs(%r : tensor<4xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = arith.divf %a, %n : f32
    linalg.yield %0 : f32
  } -> tensor<4xf32>
  %rows = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%mean : tensor<4xf32>) outs(%e : tensor<4x64xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<4x64xf32>
  %d = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%x, %rows : tensor<4x64xf32>, tensor<4x64xf32>) outs(%e : tensor<4x64xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %0 = arith.subf %a, %b : f32
    linalg.yield %0 : f32
  } -> tensor<4x64xf32>
  %sine = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%d : tensor<4x64xf32>) outs(%e : tensor<4x64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = math.sin %a : f32
    linalg.yield %0 : f32
  } -> tensor<4x64xf32>
  %cosine = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%d : tensor<4x64xf32>) outs(%e : tensor<4x64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = math.cos %a : f32
    linalg.yield %0 : f32
  } -> tensor<4x64xf32>
  return %sine, %cosine : tensor<4x64xf32>, tensor<4x64xf32>
}

// What is dear and belongs to columns is not computed again for each row; what belongs to a row, once for its columns.
// CHECK-LABEL: @columns
// CHECK: %[[C:.*]] = linalg.generic
// CHECK-SAME: iterator_types = ["parallel"]
// CHECK: math.sqrt
// CHECK: linalg.generic
// CHECK-SAME: iterator_types = ["parallel", "parallel"]
// CHECK-SAME: %[[C]]
// CHECK: arith.mulf
// CHECK: return
func.func @columns(%x: tensor<8x64xf32>, %m: tensor<64xf32>) -> tensor<8x64xf32> {
  %e = tensor.empty() : tensor<64xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%m : tensor<64xf32>) outs(%e : tensor<64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = math.sqrt %a : f32
    linalg.yield %0 : f32
  } -> tensor<64xf32>
  %p = linalg.generic {indexing_maps = [#id, affine_map<(d0, d1) -> (d1)>, #id], iterator_types = ["parallel", "parallel"]} ins(%x, %s : tensor<8x64xf32>, tensor<64xf32>) outs(%x : tensor<8x64xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %0 = arith.mulf %a, %b : f32
    linalg.yield %0 : f32
  } -> tensor<8x64xf32>
  return %p : tensor<8x64xf32>
}

// CHECK-LABEL: @rows
// CHECK: linalg.generic
// CHECK-SAME: iterator_types = ["parallel", "parallel"]
// CHECK: math.sqrt
// CHECK-NEXT: arith.mulf
// CHECK-NOT: linalg.generic
// CHECK: return
func.func @rows(%x: tensor<8x64xf32>, %m: tensor<8xf32>) -> tensor<8x64xf32> {
  %e = tensor.empty() : tensor<8xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%m : tensor<8xf32>) outs(%e : tensor<8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = math.sqrt %a : f32
    linalg.yield %0 : f32
  } -> tensor<8xf32>
  %p = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%x, %s : tensor<8x64xf32>, tensor<8xf32>) outs(%x : tensor<8x64xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %0 = arith.mulf %a, %b : f32
    linalg.yield %0 : f32
  } -> tensor<8x64xf32>
  return %p : tensor<8x64xf32>
}
