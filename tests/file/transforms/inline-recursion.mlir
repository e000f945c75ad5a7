// Recursion is an error that names the cycle.
// RUN: not tilewright-opt %s --inline 2>&1 | filecheck %s

// CHECK: recursive calls cannot be compiled: a -> b -> a
tt.func private @a(%x: i32) -> i32 {
  %0 = tt.call @b(%x) : (i32) -> i32
  tt.return %0 : i32
}
tt.func private @b(%x: i32) -> i32 {
  %0 = tt.call @a(%x) : (i32) -> i32
  tt.return %0 : i32
}
tt.func public @k(%x: i32) -> i32 {
  %0 = tt.call @a(%x) : (i32) -> i32
  tt.return %0 : i32
}
