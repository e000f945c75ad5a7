"""The files of kernels for the CPU: objects, a header, a launcher in C, and the runtime that hands programs to threads.

A program is built from the launcher and the objects:

    cc main.c add_kernel.c add_kernel_*.o tilewright_runtime.o -lpthread -lm
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from string import Template

from tilewright.codegen.llvm_backend import Effort, compile_text
from tilewright.targets.cpu.facts import CpuFacts
from tilewright.targets.cpu.native_runtime import runtime_text
from tilewright.tools.aot.c_text import CFunction, header
from tilewright.tools.aot.signature import SignatureError
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

/* For launchers: run programs of a kernel over its slots. */
typedef void tilewright_kernel(const uint64_t *slots, int64_t first, int64_t end, void *arena);
int tilewright_launch(tilewright_kernel *kernel, const uint64_t *slots, uint32_t x, uint32_t y, uint32_t z,
                      int64_t arena_bytes, int64_t *estimate);"""

_RUNTIME_SOURCE = Template("""\
#include "$runtime.h"

#include <pthread.h>
#include <stddef.h>
#include <unistd.h>

extern void tilewright_pool_init(void);
extern void tilewright_pool_after_fork(void);
extern void tilewright_set_num_threads(int32_t count);
extern int32_t tilewright_run_grid(tilewright_kernel *kernel, const uint64_t *slots, int64_t programs,
                                   int64_t arena_bytes, int64_t *estimate, tilewright_failure *failure);

static pthread_once_t once = PTHREAD_ONCE_INIT;
static _Thread_local tilewright_failure last;

static void start(void) {
  long cores = sysconf(_SC_NPROCESSORS_ONLN);
  tilewright_pool_init();
  tilewright_set_num_threads(cores > 0 ? (int32_t)cores : 1);
  pthread_atfork(NULL, NULL, tilewright_pool_after_fork);
}

void tilewright_use_threads(int32_t count) {
  pthread_once(&once, start);
  tilewright_set_num_threads(count > 0 ? count : 1);
}

const tilewright_failure *tilewright_last_failure(void) { return &last; }

int tilewright_launch(tilewright_kernel *kernel, const uint64_t *slots, uint32_t x, uint32_t y, uint32_t z,
                      int64_t arena_bytes, int64_t *estimate) {
  pthread_once(&once, start);
  last = (tilewright_failure){0, 0, 0, 0, ""};
  last.reason = tilewright_run_grid(kernel, slots, (int64_t)x * y * z, arena_bytes, estimate, &last);
  return last.reason;
}
""")


def write_cpu_files(
    base: str, variants: Sequence[Variant], grid: tuple[str, str, str] | None, facts: CpuFacts, folder: Path
) -> list[Path]:
    """Write everything that a C program needs; the files that were written.

    Raises SignatureError for kernels that print, which needs Python.
    """
    if any(variant.metadata["prints"] for variant in variants):
        raise SignatureError(
            f"kernel {base} prints (tl.device_print), which needs Python: launch it there, or remove it"
        )
    function = CFunction(base, variants, grid, "int", "TILEWRIGHT_REFUSED")
    includes = ["stdbool.h", "stdint.h"]
    declared = f'#include "{RUNTIME}.h"\n\n{function.described()}\n\n{function.prototypes()}'
    text = f'#include "{base}.h"\n\n#include <string.h>\n\n'
    text += "\n".join(_launcher(function, variant) for variant in variants) + "\n" + function.dispatch()
    files = {
        f"{base}.h": header(f"{base.upper()}_H", includes, declared),
        f"{base}.c": text,
        f"{RUNTIME}.h": header(f"{RUNTIME.upper()}_H", includes, _RUNTIME_HEADER),
        f"{RUNTIME}.c": _RUNTIME_SOURCE.substitute(runtime=RUNTIME),
    }
    objects = {f"{variant.name}.o": variant.image for variant in variants}
    objects[f"{RUNTIME}.o"] = compile_text(runtime_text(facts, ["c_launcher.ll"]), facts, effort=Effort.NONE)
    contents = {name: text.encode() for name, text in files.items()} | objects
    for name, data in contents.items():
        (folder / name).write_bytes(data)
    return [folder / name for name in contents]


def _launcher(function: CFunction, variant: Variant) -> str:
    """The C function of one variant: arguments into slots, then the grid."""
    arguments = [argument for argument in variant.signature.arguments if argument.is_in_kernel]
    count = len(arguments)
    lines = [f"extern tilewright_kernel {variant.metadata['entry']};", ""]
    lines += [f"{function.result} {variant.name}({function.parameters()}) {{", "  static int64_t tw_estimate;"]
    x, y, z = function.extents()
    lines += [f"  uint64_t tw_slots[{count + 3}] = {{0}};", *function.check(variant)]
    lines += [f"  memcpy(&tw_slots[{slot}], &{a.c_name}, sizeof {a.c_name});" for slot, a in enumerate(arguments)]
    lines += [f"  tw_slots[{count + axis}] = {extent};" for axis, extent in enumerate((x, y, z))]
    extents = ", ".join(f"(uint32_t)tw_slots[{count + axis}]" for axis in range(3))
    arena = variant.metadata["arena_bytes"]
    lines += [
        f"  return tilewright_launch({variant.metadata['entry']}, tw_slots, {extents}, {arena}, &tw_estimate);",
        "}",
        "",
    ]
    return "\n".join(lines)
