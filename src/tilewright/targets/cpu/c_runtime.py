"""The runtime of kernels in programs without Python, as far as it is C: what starts threads, runs grids, keeps the
reason of failures, and prints. The pool itself is LLVM IR (`native/`)."""

from __future__ import annotations

from string import Template

RUNTIME = "tilewright_runtime"

HEADER = """\
/* What a launch returns. */
enum {
  TILEWRIGHT_OK = 0,
  TILEWRIGHT_ASSERTION = 1,     /* a device_assert failed */
  TILEWRIGHT_OUT_OF_MEMORY = 2, /* no memory for the tiles of a thread */
  TILEWRIGHT_REFUSED = 4        /* no variant fits the arguments, or there is no such algorithm */
};

/* Why the last launch of this thread failed, and in which program. */
typedef struct {
  int32_t reason, x, y, z;
  const char *message;
} tilewright_failure;

const tilewright_failure *tilewright_last_failure(void);

/* Threads that work on a grid from now on; by default one for each core that is online. */
void tilewright_use_threads(int32_t count);

/* For launchers: run programs of a kernel over its slots. Its habits are the time of a program in ns, which the runtime
   learns, and whether programs may wait for each other. */
typedef void tilewright_kernel(const uint64_t *slots, int64_t first, int64_t end, void *arena);
int tilewright_launch(tilewright_kernel *kernel, const uint64_t *slots, uint32_t x, uint32_t y, uint32_t z,
                      int64_t arena_bytes, int64_t habits[2]);"""

_SOURCE = Template("""\
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "$runtime.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#ifdef _WIN32
#include <windows.h>
#define flockfile _lock_file
#define funlockfile _unlock_file
#else
#include <pthread.h>
#include <unistd.h>
#endif

extern void tilewright_pool_init(void);
extern void tilewright_pool_after_fork(void);
extern void tilewright_set_num_threads(int32_t count);
extern int32_t tilewright_run_grid(tilewright_kernel *kernel, const uint64_t *slots, int64_t programs,
                                   int64_t arena_bytes, int64_t habits[2], tilewright_failure *failure);

static _Thread_local tilewright_failure last;

static void start_with(long cores) {
  tilewright_pool_init();
  tilewright_set_num_threads(cores > 0 ? (int32_t)cores : 1);
}

#ifdef _WIN32
static INIT_ONCE once = INIT_ONCE_STATIC_INIT;

static BOOL CALLBACK start(PINIT_ONCE self, PVOID argument, PVOID *context) {
  (void)self, (void)argument, (void)context;
  SYSTEM_INFO system;
  GetSystemInfo(&system);
  start_with((long)system.dwNumberOfProcessors);
  return TRUE;
}

static void start_once(void) { InitOnceExecuteOnce(&once, start, NULL, NULL); }
#else
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void start(void) {
  start_with(sysconf(_SC_NPROCESSORS_ONLN));
  pthread_atfork(NULL, NULL, tilewright_pool_after_fork);
}

static void start_once(void) { pthread_once(&once, start); }
#endif

void tilewright_use_threads(int32_t count) {
  start_once();
  tilewright_set_num_threads(count > 0 ? count : 1);
}

const tilewright_failure *tilewright_last_failure(void) { return &last; }

int tilewright_launch(tilewright_kernel *kernel, const uint64_t *slots, uint32_t x, uint32_t y, uint32_t z,
                      int64_t arena_bytes, int64_t habits[2]) {
  start_once();
  last = (tilewright_failure){0, 0, 0, 0, ""};
  last.reason = tilewright_run_grid(kernel, slots, (int64_t)x * y * z, arena_bytes, habits, &last);
  return last.reason;
}

/* What kernels that print call for each lane. */
void tilewright_print_lane(const char *text, int32_t form, int32_t x, int32_t y, int32_t z, int32_t rank,
                           const int64_t *places, uint64_t bits) {
  flockfile(stdout);
  printf("pid (%" PRId32 ", %" PRId32 ", %" PRId32 ")", x, y, z);
  if (form != $nothing) {
    printf(" idx (");
    for (int32_t axis = 0; axis < rank; axis++)
      printf("%s%*" PRId64, axis ? ", " : "", (int)places[rank + axis], places[axis]);
    putchar(')');
  }
  printf("%s", text);
  int digits = form >> $digits_shift;
  double real;
  memcpy(&real, &bits, sizeof real);
  switch (form & $form_mask) {
  case $signed: printf("%" PRId64, (int64_t)bits); break;
  case $unsigned: printf("%" PRIu64, bits); break;
  case $float: printf("%f", real); break;
  case $code:
    if (digits < 16) bits &= ((uint64_t)1 << 4 * digits) - 1;
    printf("0x%0*" PRIx64, digits, bits);
    break;
  default: break;
  }
  putchar('\\n');
  funlockfile(stdout);
}
""")


def runtime_source() -> str:
    """Return the text, which includes the header as a file."""
    # Cached kernels that are launched name this module, and import no xDSL.
    from tilewright.targets.cpu.printing import DIGITS_SHIFT, FORM_MASK, Form

    forms = {form.name.lower(): int(form) for form in Form}
    return _SOURCE.substitute(forms, runtime=RUNTIME, form_mask=FORM_MASK, digits_shift=DIGITS_SHIFT)
