// Sums that a loop sets back to zero are set back by the product.
// RUN: tilewright-opt %s --tritongpu-optimize-accumulator-init --canonicalize --verify-each | filecheck %s

#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
#nvmma = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory

module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // The sums start from zero, so the first product ignores them; so does the one after a reset.
  // CHECK-LABEL: @select
  // CHECK: scf.for {{.*}} iter_args(%[[ACC:.*]] = %cst, %[[ADDS:.*]] = %false)
  // CHECK: %[[D:.*]] = ttng.warp_group_dot %arg0, %arg1, %[[ACC]], %[[ADDS]]
  // CHECK: scf.if
  // CHECK: %[[MORE:.*]] = arith.cmpi ne, %arg5, %arg4
  // CHECK: scf.yield %[[D]], %[[MORE]]
  tt.func public @select(%a: !ttg.memdesc<64x64xf16, #nvmma, #smem, mutable>, %b: !ttg.memdesc<64x64xf16, #nvmma, #smem, mutable>, %out: tensor<64x64x!tt.ptr<f32>, #mma>, %n: i32, %m: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<64x64xf32, #mma>) : i32 {
      %d = ttng.warp_group_dot %a, %b, %acc {inputPrecision = 0 : i32} : !ttg.memdesc<64x64xf16, #nvmma, #smem, mutable> * !ttg.memdesc<64x64xf16, #nvmma, #smem, mutable> -> tensor<64x64xf32, #mma>
      %last = arith.cmpi eq, %i, %m : i32
      scf.if %last {
        tt.store %out, %d : tensor<64x64x!tt.ptr<f32>, #mma>
      }
      %next = arith.select %last, %zero, %d : tensor<64x64xf32, #mma>
      scf.yield %next : tensor<64x64xf32, #mma>
    }
    tt.return
  }

  // The other way round, as a result of a conditional, from sums that are there.
  // CHECK-LABEL: @branch
  // CHECK: scf.for {{.*}} iter_args(%[[ACC:.*]] = %arg4, %[[ADDS:.*]] = %true)
  // CHECK: %[[D:.*]] = ttng.warp_group_dot %arg0, %arg1, %[[ACC]], %[[ADDS]]
  // CHECK: %[[GOES:.*]] = arith.cmpi
  // CHECK: scf.yield %[[D]], %[[GOES]]
  tt.func public @branch(%a: !ttg.memdesc<64x64xf16, #nvmma, #smem, mutable>, %b: !ttg.memdesc<64x64xf16, #nvmma, #smem, mutable>, %n: i32, %m: i32, %init: tensor<64x64xf32, #mma>, %out: tensor<64x64x!tt.ptr<f32>, #mma>) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %init) -> (tensor<64x64xf32, #mma>) : i32 {
      %d = ttng.warp_group_dot %a, %b, %acc {inputPrecision = 0 : i32} : !ttg.memdesc<64x64xf16, #nvmma, #smem, mutable> * !ttg.memdesc<64x64xf16, #nvmma, #smem, mutable> -> tensor<64x64xf32, #mma>
      %goes_on = arith.cmpi slt, %i, %m : i32
      %next = scf.if %goes_on -> (tensor<64x64xf32, #mma>) {
        scf.yield %d : tensor<64x64xf32, #mma>
      } else {
        tt.store %out, %d : tensor<64x64x!tt.ptr<f32>, #mma>
        scf.yield %zero : tensor<64x64xf32, #mma>
      }
      scf.yield %next : tensor<64x64xf32, #mma>
    }
    tt.return
  }

  // Left alone: somebody looks at the sums after the reset, in the loop or after it; and a reset to another number.
  // CHECK-LABEL: @looked_at
  // CHECK-NOT: iter_args(%{{.*}}, %{{.*}})
  // CHECK: tt.return
  tt.func public @looked_at(%a: !ttg.memdesc<64x64xf16, #nvmma, #smem, mutable>, %b: !ttg.memdesc<64x64xf16, #nvmma, #smem, mutable>, %n: i32, %m: i32, %out: tensor<64x64x!tt.ptr<f32>, #mma>) -> tensor<64x64xf32, #mma> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
    %one = arith.constant dense<1.0> : tensor<64x64xf32, #mma>
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<64x64xf32, #mma>) : i32 {
      %d = ttng.warp_group_dot %a, %b, %acc {inputPrecision = 0 : i32} : !ttg.memdesc<64x64xf16, #nvmma, #smem, mutable> * !ttg.memdesc<64x64xf16, #nvmma, #smem, mutable> -> tensor<64x64xf32, #mma>
      %last = arith.cmpi eq, %i, %m : i32
      %next = arith.select %last, %zero, %d : tensor<64x64xf32, #mma>
      scf.yield %next : tensor<64x64xf32, #mma>
    }
    %s = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<64x64xf32, #mma>) : i32 {
      tt.store %out, %acc : tensor<64x64x!tt.ptr<f32>, #mma>
      %d = ttng.warp_group_dot %a, %b, %acc {inputPrecision = 0 : i32} : !ttg.memdesc<64x64xf16, #nvmma, #smem, mutable> * !ttg.memdesc<64x64xf16, #nvmma, #smem, mutable> -> tensor<64x64xf32, #mma>
      %last = arith.cmpi eq, %i, %m : i32
      %next = arith.select %last, %zero, %d : tensor<64x64xf32, #mma>
      scf.yield %next : tensor<64x64xf32, #mma>
    }
    %t = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<64x64xf32, #mma>) : i32 {
      %d = ttng.warp_group_dot %a, %b, %acc {inputPrecision = 0 : i32} : !ttg.memdesc<64x64xf16, #nvmma, #smem, mutable> * !ttg.memdesc<64x64xf16, #nvmma, #smem, mutable> -> tensor<64x64xf32, #mma>
      %last = arith.cmpi eq, %i, %m : i32
      %next = arith.select %last, %one, %d : tensor<64x64xf32, #mma>
      scf.yield %next : tensor<64x64xf32, #mma>
    }
    tt.return %r : tensor<64x64xf32, #mma>
  }
}
