// A tensor whose elements do not matter is an empty one; a scalar stays.
// RUN: tilewright-opt %s --triton-arith-to-linalg --verify-each | exact %s

tt.func @undefined(%c: i1, %x: tensor<4xf32>) -> (tensor<4xf32>, i32) {
  %0 = ub.poison : tensor<4xf32>
  %1 = ub.poison : i32
  tt.return %0, %1 : tensor<4xf32>, i32
}

// EXACT:
// module {
//   func.func @undefined(%arg0: i1, %arg1: tensor<4xf32>, %arg2: i32, %arg3: i32, %arg4: i32, %arg5: i32, %arg6: i32, %arg7: i32) -> (tensor<4xf32>, i32) {
//     %0 = tensor.empty() : tensor<4xf32>
//     %1 = ub.poison : i32
//     return %0, %1 : tensor<4xf32>, i32
//   }
// }
