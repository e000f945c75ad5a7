"""The files of kernels for NVIDIA GPUs: a header, and a C file with machine code and launchers over the driver API.

    cc main.c add_kernel.c -lcuda -lpthread

Where no ptxas was found the C file holds PTX, which the driver compiles when the kernel is loaded.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from string import Template

from tilewright.targets.cuda.loaded_kernel import DEFAULT_SHARED_LIMIT, PORTABLE_CLUSTER, KernelFacts
from tilewright.targets.cuda.parameters import TensorMapParameter
from tilewright.tools.aot import passing
from tilewright.tools.aot.c_text import CFunction, bytes_text, header
from tilewright.tools.aot.grid import Grid
from tilewright.tools.aot.passing import Slot
from tilewright.tools.aot.variants import Variant

_SUPPORT = Template("""\
#include <pthread.h>
#include <stddef.h>

/* Machine code of one variant, and where it is loaded: once for all devices. */
typedef struct {
  const void *image;
  const char *name;
  int shared, is_large_cluster;
  CUlibrary library;
  CUkernel kernel;
  uint64_t prepared; /* a bit for each device whose limits were raised */
} tw_code;

static pthread_mutex_t tw_lock = PTHREAD_MUTEX_INITIALIZER;

static CUresult tw_load(tw_code *wanted) {
  CUresult status = CUDA_SUCCESS;
  if (wanted->library == NULL)
    status = cuLibraryLoadData(&wanted->library, wanted->image, NULL, NULL, 0, NULL, NULL, 0);
  if (status == CUDA_SUCCESS && wanted->kernel == NULL)
    status = cuLibraryGetKernel(&wanted->kernel, wanted->library, wanted->name);
  return status;
}

static CUresult tw_unload(tw_code *wanted) {
  CUresult status = CUDA_SUCCESS;
  pthread_mutex_lock(&tw_lock);
  if (wanted->library != NULL) status = cuLibraryUnload(wanted->library);
  wanted->library = NULL;
  wanted->kernel = NULL;
  wanted->prepared = 0;
  pthread_mutex_unlock(&tw_lock);
  return status;
}

/* The function of a variant, ready for the device of the current context. */
static CUresult tw_prepare(tw_code *wanted, CUfunction *function) {
  CUdevice device;
  CUresult status = cuCtxGetDevice(&device);
  if (status != CUDA_SUCCESS) return status;
  pthread_mutex_lock(&tw_lock);
  status = tw_load(wanted);
  if (status == CUDA_SUCCESS && (device >= 64 || !(wanted->prepared >> device & 1))) {
    if (wanted->shared > $default_shared)
      status = cuKernelSetAttribute(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, wanted->shared, wanted->kernel,
                                    device);
    if (status == CUDA_SUCCESS && wanted->is_large_cluster)
      status = cuKernelSetAttribute(CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1, wanted->kernel, device);
    if (status == CUDA_SUCCESS && device < 64) wanted->prepared |= (uint64_t)1 << device;
  }
  *function = (CUfunction)wanted->kernel;
  pthread_mutex_unlock(&tw_lock);
  return status;
}
""")


def write_cuda_files(base: str, variants: Sequence[Variant], grid: Grid | None, folder: Path) -> list[Path]:
    """Write header and C file; the files that were written."""
    function = CFunction(
        base, variants, grid, "CUresult", "CUDA_ERROR_INVALID_VALUE", first="CUstream stream", pointer="CUdeviceptr"
    )
    loading = [
        "/* Loads all variants, which otherwise the first launch does; needs a current context. */",
        f"CUresult load_{base}(void);",
        "/* Unloads them; no launch may be running. */",
        f"CUresult unload_{base}(void);",
    ]
    declared = "\n".join([function.described(), "", function.prototypes(), *loading])
    text = f'#include "{base}.h"\n\n{support()}\n{function.definitions()}'
    text += "\n".join(launcher(function, variant) for variant in variants) + "\n" + function.dispatch()
    text += "\n" + _loading(base, variants)
    files = {
        f"{base}.h": header(f"{base.upper()}_H", ["cuda.h", "stdbool.h", "stdint.h"], declared),
        f"{base}.c": text,
    }
    for name, contents in files.items():
        (folder / name).write_text(contents)
    return [folder / name for name in files]


def support() -> str:
    """Return what the functions of a C file use."""
    return _SUPPORT.substitute(default_shared=DEFAULT_SHARED_LIMIT)


def _loading(base: str, variants: Sequence[Variant]) -> str:
    """The functions that load and unload everything."""
    codes = ", ".join(f"&{variant.name}_code" for variant in variants)
    return f"""\
static tw_code *const tw_all[] = {{{codes}}};

CUresult load_{base}(void) {{
  for (size_t i = 0; i < sizeof tw_all / sizeof *tw_all; i++) {{
    CUfunction function;
    CUresult status = tw_prepare(tw_all[i], &function);
    if (status != CUDA_SUCCESS) return status;
  }}
  return CUDA_SUCCESS;
}}

CUresult unload_{base}(void) {{
  for (size_t i = 0; i < sizeof tw_all / sizeof *tw_all; i++) {{
    CUresult status = tw_unload(tw_all[i]);
    if (status != CUDA_SUCCESS) return status;
  }}
  return CUDA_SUCCESS;
}}
"""


def launcher(function: CFunction, variant: Variant) -> str:
    """Machine code and C function of one variant."""
    facts = KernelFacts.from_json(variant.metadata)
    slots = passing.kernel_slots(variant.signature)
    image = variant.image + b"\0" if facts.is_text else variant.image
    large = int(facts.num_ctas > PORTABLE_CLUSTER)
    lines = [f"static const unsigned char {variant.name}_image[] __attribute__((aligned(64))) = {{"]
    lines += [bytes_text(image), "};", ""]
    place = f'{variant.name}_image, "{facts.entry}", {facts.shared}, {large}, NULL, NULL, 0'
    lines += [f"static tw_code {variant.name}_code = {{{place}}};", ""]
    lines += [
        f"{function.result} {variant.name}({function.parameters()}) {{",
        *_body(function, variant, facts, slots),
    ]
    return "\n".join([*lines, "}", ""])


def _body(function: CFunction, variant: Variant, facts: KernelFacts, slots: Sequence[Slot]) -> list[str]:
    """Check promises, load, launch."""
    lines = [*function.check(variant), *function.extents(variant)]
    lines += [f"  const uint32_t tw_{name} = (uint32_t)tw_grid[{axis}];" for axis, name in enumerate("xyz")]
    lines += ["  if (tw_x == 0 || tw_y == 0 || tw_z == 0) return CUDA_SUCCESS;", "  CUfunction tw_function;"]
    lines += [f"  CUresult tw_status = tw_prepare(&{variant.name}_code, &tw_function);"]
    lines += ["  if (tw_status != CUDA_SUCCESS) return tw_status;"]
    lines += [line for index in range(len(facts.parameters)) for line in _parameter(facts, index, slots)]
    pointers = [f"(void *)&{_parameter_name(facts, index, slots)}" for index in range(len(facts.parameters))]
    if facts.takes_scratch:
        lines += ["  CUdeviceptr tw_scratch;"]
        size = f"(size_t)tw_x * tw_y * tw_z * {max(facts.scratch_bytes, 1)}"
        lines += [f"  tw_status = cuMemAllocAsync(&tw_scratch, {size}, stream);"]
        lines += ["  if (tw_status != CUDA_SUCCESS) return tw_status;"]
        pointers.append("&tw_scratch")
    lines += [f"  void *tw_parameters[] = {{{', '.join(pointers) or 'NULL'}}};"]
    attributes = [
        "{.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE, .value.cooperative = 1}" if facts.is_cooperative else "",
        "{.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION, "
        ".value.programmaticStreamSerializationAllowed = 1}" if facts.is_dependent else "",
    ]  # fmt: skip
    told = [attribute for attribute in attributes if attribute]
    if told:
        lines += [f"  CUlaunchAttribute tw_attributes[] = {{{', '.join(told)}}};"]
    extents = f".gridDimX = tw_x * {facts.num_ctas}, .gridDimY = tw_y, .gridDimZ = tw_z"
    block = f".blockDimX = {facts.num_threads}, .blockDimY = 1, .blockDimZ = 1, .sharedMemBytes = {facts.shared}"
    lines += [f"  CUlaunchConfig tw_config = {{{extents},", f"                           {block},"]
    lines += [f"                           .hStream = stream, .attrs = {'tw_attributes' if told else 'NULL'},"]
    lines += [f"                           .numAttrs = {len(told)}}};"]
    lines += ["  tw_status = cuLaunchKernelEx(&tw_config, tw_function, tw_parameters, NULL);"]
    if facts.takes_scratch:
        lines += ["  CUresult tw_freed = cuMemFreeAsync(tw_scratch, stream);"]
        return [*lines, "  return tw_status != CUDA_SUCCESS ? tw_status : tw_freed;"]
    return [*lines, "  return tw_status;"]


def _parameter_name(facts: KernelFacts, index: int, slots: Sequence[Slot]) -> str:
    """Return where a kernel's parameter stands: the function's own, or a variable."""
    parameter = facts.parameters[index]
    if isinstance(parameter, int) and not slots[parameter].type:
        return slots[parameter].value
    return f"tw_parameter_{index}"


def _parameter(facts: KernelFacts, index: int, slots: Sequence[Slot]) -> list[str]:
    """The lines that make a parameter's variable, where it has one."""
    parameter = facts.parameters[index]
    if isinstance(parameter, TensorMapParameter):
        return _tensor_map(f"tw_parameter_{index}", parameter, slots)
    assert isinstance(parameter, int), "ahead of time, no kernel computes tensor maps"
    slot = slots[parameter]
    return [f"  {slot.type} tw_parameter_{index} = {slot.value};"] if slot.type else []


def _tensor_map(name: str, map: TensorMapParameter, slots: Sequence[Slot]) -> list[str]:
    """A tensor map of a descriptor's slots: dimensions innermost first, strides in bytes of all but the innermost."""
    rank, first = map.rank, map.first_slot
    extents = [f"(cuuint64_t){slot.value}" for slot in slots[first + rank : first : -1]]
    outer = [slot.value for slot in slots[first + 2 * rank - 1 : first + rank : -1]]
    strides = [f"(cuuint64_t){value} * {map.element_bytes}" for value in outer] or ["0"]
    return [
        f"  CUtensorMap {name};",
        "  {",
        f"    const cuuint64_t tw_extents[] = {{{', '.join(extents)}}}, tw_strides[] = {{{', '.join(strides)}}};",
        f"    const cuuint32_t tw_box[] = {{{', '.join(str(size) for size in map.box)}}};",
        f"    const cuuint32_t tw_steps[] = {{{', '.join(['1'] * rank)}}};",
        "    tw_status = cuTensorMapEncodeTiled(",
        f"        &{name}, (CUtensorMapDataType){map.element}, {rank}, (void *){slots[first].value}, tw_extents,",
        f"        tw_strides, tw_box, tw_steps, CU_TENSOR_MAP_INTERLEAVE_NONE, (CUtensorMapSwizzle){map.swizzle},",
        "        CU_TENSOR_MAP_L2_PROMOTION_L2_128B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);",
        "    if (tw_status != CUDA_SUCCESS) return tw_status;",
        "  }",
    ]
