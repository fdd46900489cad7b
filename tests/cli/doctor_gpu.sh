# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# doctor --for=gpu: the environment of GPUs, and CUPTI with the agent in a child, on doubles of
# CUDA.
. "$CASES/run.inc"
export NVML_SCRIPT="$PWD/nvml" CUPTI_SCRIPT="$PWD/cupti"
: >began
printf 'devices 1\nname NVIDIA H200\nawake 1\n' >nvml
: >cupti
unset TRAINPROF_GPU CUDA_INJECTION64_PATH NVTX_INJECTION64_PATH KINETO_USE_DAEMON

# row NAME [VARIABLE=VALUE...]: doctor's row with this name if the doubles are installed
row() {
	row=$1
	shift
	env "LD_LIBRARY_PATH=$BUILD/doubles:$BUILD/doubles/whole" "$@" trainprof doctor --width=200 --for=gpu |
		awk -v row="$row" '/^  [A-Za-z-]/ { on = $2 == row } on' | sed '/^$/,$d' | tr -s ' \n' ' ' |
		sed "s|$BUILD|BUILD|g"
	echo
}

echo "-- CUPTI is tried as a program would have it"
row cupti-try
echo 'version 130101' >cupti
row cupti-try
echo 'version 130000' >cupti
row cupti-try
echo 'owner nsys' >cupti
row cupti-try
echo 'fail_cuptiSubscribe_v2 15' >cupti
row cupti-try
: >cupti
row cupti-try CUDA_DOUBLE_VERSION=12080 "TRAINPROF_CUPTI=$BUILD/doubles/whole/libcupti.so.13"

echo "-- who is in the way is named"
row injection
row injection CUDA_INJECTION64_PATH=/opt/nsys/libToolsInjection64.so
row injection KINETO_USE_DAEMON=1
row libraries "LD_LIBRARY_PATH=$BUILD/doubles:$BUILD/doubles/whole:/usr/local/cuda/lib64/stubs"

echo "-- the switch switches trials off, too"
row cupti-try TRAINPROF_GPU=0
row switch TRAINPROF_GPU=0
row gpu TRAINPROF_GPU=0

# left: folders of trials; those of other doctors that run meanwhile disappear by themselves
left() {
	find /tmp -maxdepth 1 -name "trainprof-try-*" -newer began -user "$(id -u)" 2>/dev/null
}

echo "-- nothing is left behind"
nothing_left() {
	[ -z "$(left)" ]
}
until_true nothing_left || left
