# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# NVTX ranges, recorded by the agent itself in a program on doubles of CUDA: steps, calls of NCCL.
. "$CASES/run.inc"
export NVML_SCRIPT="$PWD/script"
printf 'devices 1\nname NVIDIA H200\nawake 50\n' >script
unset TRAINPROF_AGENT

# traced ARGUMENT...: with a driver
traced() {
	LD_LIBRARY_PATH=$BUILD/doubles:$BUILD/doubles/whole trainprof "$@"
}

# metrics NAME...: the values of those metrics
metrics() {
	for name in "$@"; do
		tr -d ' \n' <report.json | grep -o "\"$name\":{\"value\":[0-9.e+]*" | head -1
	done
}

# source_row RECORDING: the report's row about the source
source_row() {
	trainprof report --full "$1" | sed -n '/^  cupti/,/^  gpupmu/p' | sed '$d' | tr -s ' \n' ' ' |
		sed 's/, [0-9,]* records/, N records/; s/cost [0-9.e+-]* %/cost P %/'
	echo
}

echo "-- steps and collectives are what the program says they are"
traced run -q --summary=none --gpu-trace=continuous -o traced -- "$BUILD/programs/nvtx_steps" 100 2097152
said $?
trainprof report --format=json traced >report.json
sed -n 's/.*"reason": "\(marked[^"]*\)".*/\1/p' report.json | head -1
metrics comm.median_bytes comm.small_ratio comm.bus_bytes_per_s
source_row traced

echo "-- names of any bytes, and ends of nothing"
ODD=1 traced run -q --summary=none --gpu-trace=continuous -o odd -- "$BUILD/programs/nvtx_steps" 100 2097152
said $?
trainprof report --format=json odd >odd.json
tr -d ' \n' <odd.json | grep -o '"found_by":"[a-z]*"'
command -v python3 >/dev/null && python3 -c 'import json; json.load(open("odd.json"))' 2>&1

echo "-- another tool has NVTX"
NVTX_INJECTION64_PATH=/opt/other/nvtx.so traced run -q --summary=none --gpu-trace=continuous -o other -- "$BUILD/programs/nvtx_steps" 10 2097152
said $?
source_row other
NVTX_INJECTION64_PATH=/opt/other/nvtx.so traced run --gpu-trace=continuous --dry-run | grep -o "NVTX_INJECTION64_PATH is set"

echo "-- another tool has CUDA: steps are told all the same"
CUDA_INJECTION64_PATH=/opt/other/tool.so traced run -q --summary=none --gpu-trace=windows -o cuda -- "$BUILD/programs/nvtx_steps" 100 2097152
said $?
trainprof report --format=json cuda >report.json
sed -n 's/.*"reason": "\(marked[^"]*\)".*/\1/p' report.json | head -1
source_row cuda

echo "-- a program that names ranges and does not use a GPU"
traced run -q --summary=none --gpu-trace=continuous -o without -- "$BUILD/programs/nvtx_ranges" return 2 100 >/dev/null
said $?
source_row without
