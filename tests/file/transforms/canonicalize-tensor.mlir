// Slices at offsets that are constants.
// RUN: tilewright-opt %s --canonicalize --verify-each | exact %s

func.func @numbers(%x: tensor<1x4x1x2xi32>) -> (tensor<1x4x1xi32>, tensor<1x4x1x2xi32>) {
  %c1 = arith.constant 1 : index
  %e = tensor.extract_slice %x[0, 0, 0, %c1] [1, 4, 1, 1] [1, 1, 1, 1] : tensor<1x4x1x2xi32> to tensor<1x4x1xi32>
  %i = tensor.insert_slice %e into %x[0, 0, 0, %c1] [1, 4, 1, 1] [1, 1, 1, 1] : tensor<1x4x1xi32> into tensor<1x4x1x2xi32>
  return %e, %i : tensor<1x4x1xi32>, tensor<1x4x1x2xi32>
}
// Values stay, and so does an offset below zero, which no slice may have as a number.
func.func @values(%x: tensor<4x8xf32>, %n: index) -> (tensor<2x4xf32>, tensor<1x4xf32>) {
  %c1 = arith.constant 1 : index
  %m1 = arith.constant -1 : index
  %0 = tensor.extract_slice %x[%n, %c1] [2, 4] [1, 1] : tensor<4x8xf32> to tensor<2x4xf32>
  %1 = tensor.extract_slice %x[%n, %m1] [1, 4] [1, 1] : tensor<4x8xf32> to tensor<1x4xf32>
  return %0, %1 : tensor<2x4xf32>, tensor<1x4xf32>
}

// EXACT:
// module {
//   func.func @numbers(%arg0: tensor<1x4x1x2xi32>) -> (tensor<1x4x1xi32>, tensor<1x4x1x2xi32>) {
//     %extracted_slice = tensor.extract_slice %arg0[0, 0, 0, 1] [1, 4, 1, 1] [1, 1, 1, 1] : tensor<1x4x1x2xi32> to tensor<1x4x1xi32>
//     %inserted_slice = tensor.insert_slice %extracted_slice into %arg0[0, 0, 0, 1] [1, 4, 1, 1] [1, 1, 1, 1] : tensor<1x4x1xi32> into tensor<1x4x1x2xi32>
//     return %extracted_slice, %inserted_slice : tensor<1x4x1xi32>, tensor<1x4x1x2xi32>
//   }
//   func.func @values(%arg0: tensor<4x8xf32>, %arg1: index) -> (tensor<2x4xf32>, tensor<1x4xf32>) {
//     %c-1 = arith.constant -1 : index
//     %extracted_slice = tensor.extract_slice %arg0[%arg1, 1] [2, 4] [1, 1] : tensor<4x8xf32> to tensor<2x4xf32>
//     %extracted_slice_0 = tensor.extract_slice %arg0[%arg1, %c-1] [1, 4] [1, 1] : tensor<4x8xf32> to tensor<1x4xf32>
//     return %extracted_slice, %extracted_slice_0 : tensor<2x4xf32>, tensor<1x4xf32>
//   }
// }
