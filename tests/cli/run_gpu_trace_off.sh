# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# GPU tracing: switched off, used by another tool, or not used.
. "$CASES/run.inc"
. "$CASES/run_gpu_trace.inc"

echo "-- switched off"
traced run -q --summary=none -o off -- "$BUILD/programs/gpu_script" 1 1 1 1 1 1
said $?
source_row off
TRAINPROF_GPU=0 traced run -q --summary=none --gpu-trace=windows -o off2 -- true
source_row off2

echo "-- another tool is in the program's way"
CUDA_INJECTION64_PATH=/opt/other/tool.so NVTX_INJECTION64_PATH=/opt/other/tool.so traced run --summary=none --gpu-trace=windows -o other -- true
source_row other
CUDA_INJECTION64_PATH=/opt/other/tool.so traced run --summary=none --gpu-trace=windows -o other2 -- true
source_row other2

echo "-- a program without CUDA"
traced run -q --summary=none --gpu-trace=windows -o without -- true
source_row without

echo "-- nothing is left behind"
until_true nothing_left || left
