; The structures that the files of this folder share.

; What one launch is. Lives on the launching thread's stack until every program of it is done.
%Launch = type {
  i32,      ;  0 stop: nonzero ends the grid early
  i32,      ;  1 failed: 0 no, 1 assertion, 2 out of memory, 3 interrupted
  ptr,      ;  2 message of the failed assertion
  i32,      ;  3 its program id, x
  i32,      ;  4 y
  i32,      ;  5 z
  i32,      ;  6 how many threads run it
  ptr,      ;  7 Python thread state of the launching thread while the GIL is released; null: never poll
  i64,      ;  8 when signals were polled last, ns
  i64,      ;  9 programs per slice, as learned so far
  ptr,      ; 10 kernel entry: void (ptr args, i64 lo, i64 hi, ptr arena)
  ptr,      ; 11 argument slots
  i64,      ; 12 first program of the current job
  i64,      ; 13 programs of the current job
  i64,      ; 14 arena bytes per thread
  i64,      ; 15 number of the launch, from 1
  ptr,      ; 16 the parts of the current job
  i64,      ; 17 how many there are
  i64,      ; 18 generation of the current job
  i64,      ; 19 programs of it that are finished
  i32,      ; 20 whether programs may wait for others (see waiting.ll)
  i32,      ; 21 how many programs have been waiting for some time
  i32,      ; 22 how many threads stand in for them
  i32,      ; 23
  ptr,      ; 24 arena of the launching thread
  ptr       ; 25 name of the kernel, for crashes.ll
}

; What is known of a kernel from one launch to the next.
%Habits = type {
  i64,      ; 0 ns per program in the launch before; 0: unknown
  i64,      ; 1 whether programs may wait for others: has a loop that waits
  ptr       ; 2 its name; for Python's launchers alone
}

; What precedes each arena, at its address - 64.
%ArenaHeader = type {
  ptr,      ; 0 launch that uses the arena
  i64,      ; 1 usable bytes
  i64,      ; 2 index of the program that runs, z over y over x
  i32,      ; 3 slot of the first of the grid's extents
  i32,      ; 4 whether the thread is counted among those with atomics (see regions.ll)
  i64,      ; 5 number of the launch that the next field is of (see codegen/microkernels/pack_cache.py)
  i64,      ; 6 which pack caches are in use, a bit each
  i64,      ; 7 the region of memory whose lock the thread holds (see regions.ll), as its address / 4096; 0: none
  i32,      ; 8 how it has passed the gate of atomics: 0 not, 1 among others, 2 alone
  i32       ; 9 how many nests of atomics it has ended alone
}

; What the launcher must know of a worker that sleeps.
%Worker = type { i32, i32, i32, i32 }       ; thread id, CPU it fell asleep on, asleep, its number (from 1)

; A part of a job, one each line of the caches.
%Part = type {
  i64,      ; 0 generation of the job << 48 | first program not handed out << 24 | end
  i64,      ; 1 whether its programs are handed out one by one
  [6 x i64]
}

%timespec = type { i64, i64 }
