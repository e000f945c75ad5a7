// RUN: tilewright-opt %s --triton-to-structured | filecheck %s

// Rows of A and columns of B wrap around; the bump of the loop stays outside of the remainder and is the only thing carried.

// CHECK-LABEL: tt.func public @mm
// CHECK:       %[[LDA:.*]] = arith.index_cast %arg6 : i32 to index
// CHECK:       %[[BOUND:.*]] = arith.muli %[[LDA]], %{{.*}} : index
// CHECK:       %[[ROW:.*]] = arith.muli %[[LDA]], %{{.*}} : index
// CHECK:       scf.for {{.*}} iter_args(%{{.*}} = %cst, %[[KA:.*]] = %c0, %[[KB:.*]] = %c0) -> (tensor<64x64xf32>, index, index)
// CHECK:       tts.make_tptr %arg0 to sizes: [64, 32], strides: [%[[LDA]], 1], offsets: [%[[ROW]], %[[KA]]], shape: [%[[BOUND]], 0], order: []
// CHECK:       tts.make_tptr %arg1 to sizes: [32, 64], strides: [%[[LDB:.*]], 1], offsets: [%[[KB]], %[[COL:.*]]], shape: [0, %{{.*}}], order: []
// CHECK:       arith.addi %[[KA]], %c32 : index
// CHECK:       "tts.load"({{.*}}) <{operandSegmentSizes = array<i32: 1, 1, 1>, static_mask_dims = array<i64: 64, -9223372036854775808>}>
// CHECK:       "tts.load"({{.*}}) <{operandSegmentSizes = array<i32: 1, 1, 1>, static_mask_dims = array<i64: -9223372036854775808, 64>}>
// CHECK:       scf.yield %{{.*}}, %{{.*}}, %{{.*}} : tensor<64x64xf32>, index, index

tt.func public @mm(%a: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %b: !tt.ptr<f16>, %c: !tt.ptr<f16>, %M: i32, %N: i32, %K: i32, %sam: i32, %sbk: i32, %scm: i32) {
  %cst = arith.constant dense<0.000000e+00> : tensor<64x64xf32>
  %z16 = arith.constant dense<0.000000e+00> : tensor<64x32xf16>
  %z16b = arith.constant dense<0.000000e+00> : tensor<32x64xf16>
  %c32d = arith.constant dense<32> : tensor<64x32xi32>
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c31 = arith.constant 31 : i32
  %c32 = arith.constant 32 : i32
  %c63 = arith.constant 63 : i32
  %c64 = arith.constant 64 : i32
  %c8 = arith.constant 8 : i32
  %pid = tt.get_program_id x : i32
  %m63 = arith.addi %M, %c63 : i32
  %npm = arith.divsi %m63, %c64 : i32
  %n63 = arith.addi %N, %c63 : i32
  %npn = arith.divsi %n63, %c64 : i32
  %ng = arith.muli %npn, %c8 : i32
  %gid = arith.divsi %pid, %ng : i32
  %fpm = arith.muli %gid, %c8 : i32
  %gs0 = arith.subi %npm, %fpm : i32
  %gs = arith.minsi %gs0, %c8 : i32
  %r = arith.remsi %pid, %ng : i32
  %rr = arith.remsi %r, %gs : i32
  %pm = arith.addi %fpm, %rr : i32
  %pn = arith.divsi %r, %gs : i32
  %om0 = arith.muli %pm, %c64 : i32
  %rm = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %rk = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
  %om1 = tt.splat %om0 : i32 -> tensor<64xi32>
  %om2 = arith.addi %om1, %rm : tensor<64xi32>
  %Ms = tt.splat %M : i32 -> tensor<64xi32>
  %om = arith.remsi %om2, %Ms : tensor<64xi32>
  %on0 = arith.muli %pn, %c64 : i32
  %on1 = tt.splat %on0 : i32 -> tensor<64xi32>
  %on2 = arith.addi %on1, %rm : tensor<64xi32>
  %Ns = tt.splat %N : i32 -> tensor<64xi32>
  %on = arith.remsi %on2, %Ns : tensor<64xi32>
  %ome = tt.expand_dims %om {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  %sams = tt.splat %sam : i32 -> tensor<64x1xi32>
  %omm = arith.muli %ome, %sams : tensor<64x1xi32>
  %rke = tt.expand_dims %rk {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
  %ommb = tt.broadcast %omm : tensor<64x1xi32> -> tensor<64x32xi32>
  %rkeb = tt.broadcast %rke : tensor<1x32xi32> -> tensor<64x32xi32>
  %ao = arith.addi %ommb, %rkeb : tensor<64x32xi32>
  %as = tt.splat %a : !tt.ptr<f16> -> tensor<64x32x!tt.ptr<f16>>
  %ap = tt.addptr %as, %ao : tensor<64x32x!tt.ptr<f16>>, tensor<64x32xi32>
  %rkc = tt.expand_dims %rk {axis = 1 : i32} : tensor<32xi32> -> tensor<32x1xi32>
  %sbks = tt.splat %sbk : i32 -> tensor<32x1xi32>
  %bk = arith.muli %rkc, %sbks : tensor<32x1xi32>
  %one = tt.expand_dims %on {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  %bkb = tt.broadcast %bk : tensor<32x1xi32> -> tensor<32x64xi32>
  %oneb = tt.broadcast %one : tensor<1x64xi32> -> tensor<32x64xi32>
  %bo = arith.addi %bkb, %oneb : tensor<32x64xi32>
  %bs = tt.splat %b : !tt.ptr<f16> -> tensor<32x64x!tt.ptr<f16>>
  %bp = tt.addptr %bs, %bo : tensor<32x64x!tt.ptr<f16>>, tensor<32x64xi32>
  %k31 = arith.addi %K, %c31 : i32
  %nk = arith.divsi %k31, %c32 : i32
  %bstep = arith.muli %sbk, %c32 : i32
  %bsteps = tt.splat %bstep : i32 -> tensor<32x64xi32>
  %res:3 = scf.for %k = %c0 to %nk step %c1 iter_args(%acc = %cst, %pa = %ap, %pb = %bp) -> (tensor<64x64xf32>, tensor<64x32x!tt.ptr<f16>>, tensor<32x64x!tt.ptr<f16>>)  : i32 {
    %kk = arith.muli %k, %c32 : i32
    %left = arith.subi %K, %kk : i32
    %lefts = tt.splat %left : i32 -> tensor<1x32xi32>
    %am = arith.cmpi slt, %rke, %lefts : tensor<1x32xi32>
    %amb = tt.broadcast %am : tensor<1x32xi1> -> tensor<64x32xi1>
    %av = tt.load %pa, %amb, %z16 : tensor<64x32x!tt.ptr<f16>>
    %leftc = tt.splat %left : i32 -> tensor<32x1xi32>
    %bm = arith.cmpi slt, %rkc, %leftc : tensor<32x1xi32>
    %bmb = tt.broadcast %bm : tensor<32x1xi1> -> tensor<32x64xi1>
    %bv = tt.load %pb, %bmb, %z16b : tensor<32x64x!tt.ptr<f16>>
    %d = tt.dot %av, %bv, %acc, inputPrecision = tf32 : tensor<64x32xf16> * tensor<32x64xf16> -> tensor<64x64xf32>
    %pa2 = tt.addptr %pa, %c32d : tensor<64x32x!tt.ptr<f16>>, tensor<64x32xi32>
    %pb2 = tt.addptr %pb, %bsteps : tensor<32x64x!tt.ptr<f16>>, tensor<32x64xi32>
    scf.yield %d, %pa2, %pb2 : tensor<64x64xf32>, tensor<64x32x!tt.ptr<f16>>, tensor<32x64x!tt.ptr<f16>>
  }
  %o = arith.truncf %res#0 : tensor<64x64xf32> to tensor<64x64xf16>
  %ocm = tt.expand_dims %om2 {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  %scms = tt.splat %scm : i32 -> tensor<64x1xi32>
  %cm = arith.muli %scms, %ocm : tensor<64x1xi32>
  %cs = tt.splat %c : !tt.ptr<f16> -> tensor<64x1x!tt.ptr<f16>>
  %cp0 = tt.addptr %cs, %cm : tensor<64x1x!tt.ptr<f16>>, tensor<64x1xi32>
  %ocn = tt.expand_dims %on2 {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  %cp1 = tt.broadcast %cp0 : tensor<64x1x!tt.ptr<f16>> -> tensor<64x64x!tt.ptr<f16>>
  %ocnb = tt.broadcast %ocn : tensor<1x64xi32> -> tensor<64x64xi32>
  %cp = tt.addptr %cp1, %ocnb : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
  %Mc = tt.splat %M : i32 -> tensor<64x1xi32>
  %mm = arith.cmpi slt, %ocm, %Mc : tensor<64x1xi32>
  %Nc = tt.splat %N : i32 -> tensor<1x64xi32>
  %mn = arith.cmpi slt, %ocn, %Nc : tensor<1x64xi32>
  %mmb = tt.broadcast %mm : tensor<64x1xi1> -> tensor<64x64xi1>
  %mnb = tt.broadcast %mn : tensor<1x64xi1> -> tensor<64x64xi1>
  %cmask = arith.andi %mmb, %mnb : tensor<64x64xi1>
  tt.store %cp, %o, %cmask : tensor<64x64x!tt.ptr<f16>>
  tt.return
}
