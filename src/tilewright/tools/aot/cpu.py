"""The files of kernels for the CPU: objects, a header, a launcher in C, and the runtime that hands programs to threads.

A program is built from the launcher and the objects:

    cc main.c add_kernel.c add_kernel_*.o tilewright_runtime.o -lpthread -lm
    x86_64-w64-mingw32-gcc main.c add_kernel.c add_kernel_*.o tilewright_runtime.o -lsynchronization    (for Windows)
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from string import Template

from tilewright.codegen.llvm_backend import Effort, compile_text
from tilewright.targets.cpu.facts import CpuFacts
from tilewright.targets.cpu.native_runtime import runtime_text
from tilewright.targets.cpu.printing import DIGITS_SHIFT, FORM_MASK, Form
from tilewright.tools.aot import passing
from tilewright.tools.aot.c_text import CFunction, header
from tilewright.tools.aot.grid import Grid
from tilewright.tools.aot.variants import Variant

RUNTIME = "tilewright_runtime"

_RUNTIME_HEADER = """\
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

_RUNTIME_SOURCE = Template("""\
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
  printf("pid (%" PRId32 ", %" PRId32 ", %" PRId32 ") idx (", x, y, z);
  for (int32_t axis = 0; axis < rank; axis++) printf("%s%" PRId64, axis ? ", " : "", places[axis]);
  printf(")%s", text);
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


def write_cpu_files(
    base: str, variants: Sequence[Variant], grid: Grid | None, facts: CpuFacts, folder: Path
) -> list[Path]:
    """Write everything that a C program needs; the files that were written."""
    function = CFunction(base, variants, grid, "int", "TILEWRIGHT_REFUSED")
    includes = ["stdbool.h", "stdint.h"]
    declared = f'#include "{RUNTIME}.h"\n\n{function.described()}\n\n{function.prototypes()}'
    text = f'#include "{base}.h"\n\n#include <string.h>\n\n{function.definitions()}'
    text += "\n".join(launcher(function, variant) for variant in variants) + "\n" + function.dispatch()
    files = {f"{base}.h": header(f"{base.upper()}_H", includes, declared).encode(), f"{base}.c": text.encode()}
    files |= {f"{variant.name}.o": variant.image for variant in variants}
    for name, data in files.items():
        (folder / name).write_bytes(data)
    return [*(folder / name for name in files), *write_runtime(facts, folder)]


def write_runtime(facts: CpuFacts, folder: Path) -> list[Path]:
    """Write what hands programs to threads, which all kernels share; the files that were written."""
    image = compile_text(runtime_text(facts, "c_launcher.ll"), facts, effort=Effort.NONE)
    files = {
        f"{RUNTIME}.h": header(f"{RUNTIME.upper()}_H", ["stdbool.h", "stdint.h"], _RUNTIME_HEADER).encode(),
        f"{RUNTIME}.c": _runtime_source().encode(),
        f"{RUNTIME}.o": image,
    }
    for name, data in files.items():
        (folder / name).write_bytes(data)
    return [folder / name for name in files]


def _runtime_source() -> str:
    """The runtime's part in C."""
    forms = {form.name.lower(): int(form) for form in Form}
    return _RUNTIME_SOURCE.substitute(forms, runtime=RUNTIME, form_mask=FORM_MASK, digits_shift=DIGITS_SHIFT)


def launcher(function: CFunction, variant: Variant) -> str:
    """The C function of one variant: arguments into slots, then the grid."""
    slots = passing.kernel_slots(variant.signature)
    count = len(slots)
    waits = int(variant.metadata["waits"])
    lines = [f"extern tilewright_kernel {variant.metadata['entry']};", ""]
    lines += [f"{function.result} {variant.name}({function.parameters()}) {{"]
    lines += [f"  static int64_t tw_habits[2] = {{0, {waits}}};"]
    lines += [f"  uint64_t tw_slots[{count + 3}] = {{0}};", *function.check(variant), *function.extents(variant)]
    lines += [f"  {_filled(number, slot)}" for number, slot in enumerate(slots)]
    lines += [f"  tw_slots[{count + axis}] = (uint64_t)tw_grid[{axis}];" for axis in range(3)]
    extents = ", ".join(f"(uint32_t)tw_slots[{count + axis}]" for axis in range(3))
    arena = variant.metadata["arena_bytes"]
    lines += [
        f"  return tilewright_launch({variant.metadata['entry']}, tw_slots, {extents}, {arena}, tw_habits);",
        "}",
        "",
    ]
    return "\n".join(lines)


def _filled(number: int, slot: passing.Slot) -> str:
    """The statement that fills a slot: the bits of a parameter, or a number."""
    if slot.type:
        return f"tw_slots[{number}] = (uint64_t){slot.value};"
    return f"memcpy(&tw_slots[{number}], &{slot.value}, sizeof {slot.value});"
