; The structures that the files of this folder share, besides those that are declared in Python.

; What the launcher must know of a worker that sleeps.
%Worker = type { i32, i32, i32, i32 }       ; thread id, CPU it fell asleep on, asleep, its number (from 1)

; A part of a job, one each line of the caches.
%Part = type {
  i64,      ; 0 generation of the job << 48 | first program not handed out << 24 | end
  i64,      ; 1 whether its programs are handed out one by one
  [6 x i64]
}

%timespec = type { i64, i64 }
