#!/bin/sh
# GPU tests and benchmarks with the Python that is there (one with PyTorch for CUDA), from a checkout, without network:
#
#     sh benchmarks/gpu.sh smoke [WHEELS]      what works? one table, small inputs
#     sh benchmarks/gpu.sh tests [WHEELS]      the exec suite on the GPU (needs pytest): a summary, and gpu_tests.json
#     sh benchmarks/gpu.sh bench [WHEELS]      the published table
#
# WHEELS is a folder with the wheels of what that Python lacks (xdsl and what it needs; tilewright's own, if official
# Triton is to find it as a back end); PYTHON names the interpreter, OUT the folder for results (benchmarks/results if
# unset). The status is not 0 where a test failed or a case gave nothing.
set -eu
cd "$(dirname "$0")/.."
what=${1:-smoke}
wheels=${2:-}
python=${PYTHON:-python3}
site=${TMPDIR:-/tmp}/tilewright-gpu-site
export PYTHONPATH="$PWD/src:$site${PYTHONPATH:+:$PYTHONPATH}"
if ! "$python" -c 'import xdsl' 2>/dev/null && [ -n "$wheels" ]; then
  "$python" -m pip install --quiet --no-index --no-deps --target "$site" "$wheels"/*.whl
fi
case "$what" in
  smoke) "$python" benchmarks/gpu/run.py --smoke ${OUT:+--out "$OUT"} ;;
  bench) "$python" benchmarks/gpu/run.py ${OUT:+--out "$OUT"} ;;
  tests) "$python" benchmarks/gpu/suite.py ${OUT:+--out "$OUT"} ;;
  *) echo "smoke, tests or bench" >&2; exit 2 ;;
esac
