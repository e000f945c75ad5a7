// RUN: tilewright-opt %s --allow-unregistered-dialect | exact %s
// RUN: tilewright-opt %s --allow-unregistered-dialect | mlir-opt --allow-unregistered-dialect | exact --prefix=EXACT %s

// Literals, maps and dictionaries in upstream's spelling; upstream itself leaves the output as it is.

"test.floats"() {a = 3.4e38 : f32, b = 0.1 : f32, c = 0x7FC00000 : f32, d = 123456789.0 : f64, e = -0.0 : f16, f = 0.1 : bf16, g = 65504.0 : f16, h = 1.0 : f8E4M3FN} : () -> ()
"test.arrays"() {z = [1, 2 : i32, 3.5, 0.5 : f32], y = array<i64: 1, -2>, x = array<f32: 0.5, 0x7F800000>, w, v = array<i1: true, false>, u = []} : () -> ()
"test.dense"() {splat = dense<true> : tensor<4xi1>, list = dense<[[1, 2], [3, -4]]> : tensor<2x2xi8>, nan = dense<[0x7FC00001, 0xFF800000]> : vector<2xf32>, none = dense<> : tensor<0xi32>, blob = dense<"0x0000803F"> : tensor<4xf32>} : () -> ()
"test.maps"() {m = affine_map<(i, j)[s] -> (i * 4 + 1, i - j, -i, (i + j) floordiv 2, i mod 8 - s)>, again = affine_map<(a) -> (a)>, twice = affine_map<(b) -> (b)>, s = affine_set<(i)[n] : (i - n >= 0, i == 0)>} : () -> ()
"test.types"() {a = memref<4x?xf32, strided<[?, 1], offset: ?>, 3>, b = memref<*xf32, 2 : i32>, c = vector<2x[4]xf16>, d = (i32) -> (), e = () -> (f32, f32), f = tensor<*xf32>, g = memref<f32, affine_map<() -> (3)>>} : () -> ()
"test.strings"() {"odd key" = "tab\09quote\22", sym = @a::@"b c"} : () -> ()

// EXACT:
// #map = affine_map<(d0) -> (d0)>
// #map1 = affine_map<(d0, d1)[s0] -> (d0 * 4 + 1, d0 - d1, -d0, (d0 + d1) floordiv 2, d0 mod 8 - s0)>
// #map2 = affine_map<() -> (3)>
// #set = affine_set<(d0)[s0] : (d0 - s0 >= 0, d0 == 0)>
// module {
//   "test.floats"() {a = 3.400000e+38 : f32, b = 1.000000e-01 : f32, c = 0x7FC00000 : f32, d = 0x419D6F3454000000 : f64, e = -0.000000e+00 : f16, f = 1.000980e-01 : bf16, g = 6.550400e+04 : f16, h = 1.000000e+00 : f8E4M3FN} : () -> ()
//   "test.arrays"() {u = [], v = array<i1: true, false>, w, x = array<f32: 5.000000e-01, 0x7F800000>, y = array<i64: 1, -2>, z = [1, 2 : i32, 3.500000e+00, 5.000000e-01 : f32]} : () -> ()
//   "test.dense"() {blob = dense<1.000000e+00> : tensor<4xf32>, list = dense<[[1, 2], [3, -4]]> : tensor<2x2xi8>, nan = dense<[0x7FC00001, 0xFF800000]> : vector<2xf32>, none = dense<> : tensor<0xi32>, splat = dense<true> : tensor<4xi1>} : () -> ()
//   "test.maps"() {again = #map, m = #map1, s = #set, twice = #map} : () -> ()
//   "test.types"() {a = memref<4x?xf32, strided<[?, 1], offset: ?>, 3>, b = memref<*xf32, 2 : i32>, c = vector<2x[4]xf16>, d = (i32) -> (), e = () -> (f32, f32), f = tensor<*xf32>, g = memref<f32, #map2>} : () -> ()
//   "test.strings"() {"odd key" = "tab\09quote\22", sym = @a::@"b c"} : () -> ()
// }
