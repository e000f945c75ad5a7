// Private functions that nobody reaches.
// RUN: tilewright-opt %s --symbol-dce --verify-each | exact %s

tt.func private @unused() {
  tt.call @only_from_unused() : () -> ()
  tt.return
}
tt.func private @only_from_unused() {
  tt.return
}
tt.func private @used() {
  tt.call @through_used() : () -> ()
  tt.return
}
tt.func private @through_used() {
  tt.return
}
tt.func public @kernel() {
  tt.call @used() : () -> ()
  tt.return
}

// EXACT:
// module {
//   tt.func private @used() {
//     tt.call @through_used() : () -> ()
//     tt.return
//   }
//   tt.func private @through_used() {
//     tt.return
//   }
//   tt.func public @kernel() {
//     tt.call @used() : () -> ()
//     tt.return
//   }
// }
