module {
  func.func @buffers(%arg0: memref<64xf32>, %arg1: memref<64xf32, strided<[2], offset: ?>>, %arg2: tensor<64xf32>, %arg3: index, %arg4: tensor<?xf32>, %arg5: memref<?xf32, strided<[1], offset: ?>>, %arg6: memref<*xf32>) {
    %0 = bufferization.to_tensor %arg0 restrict writable : memref<64xf32> to tensor<64xf32>
    %1 = bufferization.to_tensor %arg1 restrict : memref<64xf32, strided<[2], offset: ?>> to tensor<64xf32>
    %2 = bufferization.to_tensor %arg0 : memref<64xf32> to tensor<64xf32>
    %3 = bufferization.to_tensor %arg6 : memref<*xf32> to tensor<*xf32>
    bufferization.materialize_in_destination %arg2 in writable %arg0 : (tensor<64xf32>, memref<64xf32>) -> ()
    bufferization.materialize_in_destination %arg2 in restrict writable %arg1 : (tensor<64xf32>, memref<64xf32, strided<[2], offset: ?>>) -> ()
    bufferization.materialize_in_destination %arg4 in writable %arg5 : (tensor<?xf32>, memref<?xf32, strided<[1], offset: ?>>) -> ()
    %4 = bufferization.materialize_in_destination %arg2 in %arg2 : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
    %5 = bufferization.alloc_tensor() : tensor<4xf32>
    %6 = bufferization.alloc_tensor(%arg3) : tensor<?xf32>
    %7 = bufferization.alloc_tensor() copy(%arg2) : tensor<64xf32>
    %8 = bufferization.alloc_tensor() {memory_space = 1 : i64} : tensor<4xf32>
    bufferization.dealloc_tensor %5 : tensor<4xf32>
    %9 = bufferization.to_buffer %arg2 : tensor<64xf32> to memref<64xf32>
    %10 = bufferization.to_buffer %arg2 read_only : tensor<64xf32> to memref<64xf32, strided<[?], offset: ?>>
    %11 = bufferization.clone %arg0 : memref<64xf32> to memref<64xf32>
    return
  }
}
