// As many programs as run at a time, each for several of the grid.
// RUN: tilewright-opt %s --split-input-file --triton-persist-programs=mode=always --verify-each --remarks 2>&1 | filecheck %s
// RUN: tilewright-opt %s --split-input-file --triton-persist-programs=num-warps=8 --verify-each 2>&1 | filecheck %s --check-prefix=AUTO

// CHECK: remark: {{.*}} programs run beside each other: they may depend on 'tt.atomic_rmw'

// A kernel without a product has nothing to gain.
// AUTO-NOT: ttg.tiles

// The launcher gives the numbers of programs; x counts fastest.
// CHECK-LABEL: @numbered
// CHECK-SAME: [[ALL:%[a-z0-9_]+]]: i32 {ttg.grid = "all"}, [[X:%[a-z0-9_]+]]: i32 {ttg.grid = "x"}, [[Y:%[a-z0-9_]+]]: i32 {ttg.grid = "y"}, [[Z:%[a-z0-9_]+]]: i32 {ttg.grid = "z"}
// CHECK: [[FIRST:%[a-z0-9_]+]] = tt.get_program_id x
// CHECK: [[COUNT:%[a-z0-9_]+]] = tt.get_num_programs x
// CHECK: scf.for [[N:%[a-z0-9_]+]] = [[FIRST]] to [[ALL]] step [[COUNT]]
// CHECK: [[I:%[a-z0-9_]+]] = arith.remsi [[N]], [[X]]
// CHECK: [[REST:%[a-z0-9_]+]] = arith.divsi [[N]], [[X]]
// CHECK: arith.remsi [[REST]], [[Y]]
// CHECK: [[K:%[a-z0-9_]+]] = arith.divsi [[REST]], [[Y]]
// CHECK-NOT: tt.get_
// CHECK: arith.addi [[I]], [[K]]
// CHECK: arith.addi %{{.*}}, [[X]]
// CHECK: tt.store
// CHECK: } {ttg.tiles}
// CHECK: tt.return
tt.func public @numbered(%d: !tt.tensordesc<16x16xf16> {ttg.tensor_map = {base = 0 : i64}}, %out: !tt.ptr<i32>) {
  %x = tt.get_program_id x : i32
  %z = tt.get_program_id z : i32
  %n = tt.get_num_programs x : i32
  %s = arith.addi %x, %z : i32
  %t = arith.addi %s, %n : i32
  %p = tt.addptr %out, %t : !tt.ptr<i32>, i32
  tt.store %p, %t : !tt.ptr<i32>
  tt.return
}

// -----

// CHECK-LABEL: @counting
// CHECK-NOT: ttg.tiles
tt.func public @counting(%d: !tt.tensordesc<16x16xf16> {ttg.tensor_map = {base = 0 : i64}}, %out: !tt.ptr<i32>) {
  %one = arith.constant 1 : i32
  %true = arith.constant true
  %old = tt.atomic_rmw add, acq_rel, gpu, %out, %one, %true : (!tt.ptr<i32>, i32, i1) -> i32
  tt.return
}

// -----

// The launcher makes no tensor maps for this one: it would have no other form.
// CHECK-LABEL: @without_maps
// CHECK-NOT: ttg.tiles
tt.func public @without_maps(%out: !tt.ptr<i32>) {
  %x = tt.get_program_id x : i32
  tt.store %out, %x : !tt.ptr<i32>
  tt.return
}

// -----

// What all iterations multiply is copied by TMA: the launcher makes its map, too. What a sum adds up to is left alone.
// CHECK-LABEL: @keeping
// CHECK-SAME: %arg4: !tt.tensordesc<64x64xf16> {ttg.tensor_map = {base = 6
// CHECK-SAME: {ttg.grid = "all"}
// CHECK: scf.for
// CHECK: [[X:%[a-z0-9_]+]] = tt.descriptor_load %arg4[
// CHECK: tt.load
// CHECK: scf.for
// CHECK: tt.dot [[X]],
// CHECK: } {ttg.tiles}
tt.func public @keeping(%d: !tt.tensordesc<64x64xf16> {ttg.tensor_map = {base = 0 : i64}}, %a: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %out: !tt.ptr<f32>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %wide = arith.constant dense<64> : tensor<64x1xi32>
  %x = tt.get_program_id x : i32
  %first = arith.muli %x, %c64 : i32
  %i = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
  %f = tt.splat %first : i32 -> tensor<64xi32>
  %rows = arith.addi %f, %i : tensor<64xi32>
  %r = tt.expand_dims %rows {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  %c = tt.expand_dims %i {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  %far = arith.muli %r, %wide : tensor<64x1xi32>
  %down = tt.broadcast %far : tensor<64x1xi32> -> tensor<64x64xi32>
  %across = tt.broadcast %c : tensor<1x64xi32> -> tensor<64x64xi32>
  %o = arith.addi %down, %across : tensor<64x64xi32>
  %as = tt.splat %a : !tt.ptr<f16> -> tensor<64x64x!tt.ptr<f16>>
  %ap = tt.addptr %as, %o : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
  %v = tt.load %ap : tensor<64x64x!tt.ptr<f16>>
  %os = tt.splat %out : !tt.ptr<f32> -> tensor<64x64x!tt.ptr<f32>>
  %op = tt.addptr %os, %o : tensor<64x64x!tt.ptr<f32>>, tensor<64x64xi32>
  %old = tt.load %op : tensor<64x64x!tt.ptr<f32>>
  %sum = scf.for %k = %c0 to %n step %c64 iter_args(%acc = %old) -> (tensor<64x64xf32>) : i32 {
    %l = tt.descriptor_load %d[%k, %c0] : !tt.tensordesc<64x64xf16> -> tensor<64x64xf16>
    %p = tt.dot %v, %l, %acc : tensor<64x64xf16> * tensor<64x64xf16> -> tensor<64x64xf32>
    scf.yield %p : tensor<64x64xf32>
  }
  tt.store %op, %sum : tensor<64x64x!tt.ptr<f32>>
  tt.return
}

// -----

// Programs further right have more iterations: rounds, every other one in reverse, and the last rows down their columns.
// CHECK-LABEL: @longer_and_longer
// CHECK-SAME: [[ALL:%[a-z0-9_]+]]: i32 {ttg.grid = "all"}, [[X:%[a-z0-9_]+]]: i32 {ttg.grid = "x"}
// CHECK-SAME: [[SORTED:%[a-z0-9_]+]]: i32 {ttg.grid = "sorted"}
// CHECK: [[OWN:%[a-z0-9_]+]] = tt.get_program_id x
// CHECK: [[COUNT:%[a-z0-9_]+]] = tt.get_num_programs x
// CHECK: [[WHOLE:%[a-z0-9_]+]] = arith.divsi [[ALL]], [[COUNT]]
// CHECK: [[ABOVE:%[a-z0-9_]+]] = arith.divsi [[SORTED]], [[X]]
// CHECK: scf.for [[ROUND:%[a-z0-9_]+]] = %c0
// CHECK: arith.cmpi slt, [[ROUND]], [[WHOLE]]
// CHECK: [[PLACE:%[a-z0-9_]+]] = arith.select {{%[a-z0-9_]+}}, {{%[a-z0-9_]+}}, [[OWN]]
// CHECK: [[N:%[a-z0-9_]+]] = arith.addi {{%[a-z0-9_]+}}, [[PLACE]]
// CHECK: [[LAST:%[a-z0-9_]+]] = arith.cmpi sge, [[N]], [[SORTED]]
// CHECK: arith.divsi
// CHECK: arith.remsi
// CHECK: [[I:%[a-z0-9_]+]] = arith.select [[LAST]]
// CHECK: [[ROW:%[a-z0-9_]+]] = arith.select [[LAST]]
// CHECK: arith.addi [[I]], %c1
// CHECK: } {ttg.tiles}
tt.func public @longer_and_longer(%d: !tt.tensordesc<64x64xf16> {ttg.tensor_map = {base = 0 : i64}}, %a: tensor<64x64xf16>, %out: !tt.ptr<f32>) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c64 = arith.constant 64 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %x = tt.get_program_id x : i32
  %y = tt.get_program_id y : i32
  %next = arith.addi %x, %c1 : i32
  %end = arith.muli %next, %c64 : i32
  %sum = scf.for %k = %c0 to %end step %c64 iter_args(%acc = %zero) -> (tensor<64x64xf32>) : i32 {
    %l = tt.descriptor_load %d[%k, %c0] : !tt.tensordesc<64x64xf16> -> tensor<64x64xf16>
    %p = tt.dot %a, %l, %acc : tensor<64x64xf16> * tensor<64x64xf16> -> tensor<64x64xf32>
    scf.yield %p : tensor<64x64xf32>
  }
  %place = arith.muli %x, %c64 : i32
  %at = arith.addi %place, %y : i32
  %op = tt.addptr %out, %at : !tt.ptr<f32>, i32
  %s = tt.splat %op : !tt.ptr<f32> -> tensor<64x64x!tt.ptr<f32>>
  tt.store %s, %sum : tensor<64x64x!tt.ptr<f32>>
  tt.return
}
