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
