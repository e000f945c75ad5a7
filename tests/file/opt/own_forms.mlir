// Ops that the texts of other projects lack: read and printed again.
// RUN: tilewright-opt %s --verify-each | exact %s

func.func @times(%positive: i1) -> i64 {
  llvm.intr.assume %positive : i1
  %t = "tts.nanoseconds"() : () -> i64
  return %t : i64
}

// EXACT:
// module {
//   func.func @times(%arg0: i1) -> i64 {
//     llvm.intr.assume %arg0 : i1
//     %0 = "tts.nanoseconds"() : () -> i64
//     return %0 : i64
//   }
// }
