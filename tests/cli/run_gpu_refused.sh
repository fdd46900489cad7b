# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# GPU tracing on doubles of CUDA that fail: the program ends as it would, and one line says why
# nothing is traced. Programs wait for files or for the agent, so nothing depends on time.
. "$CASES/run.inc"
. "$CASES/run_gpu_trace.inc"
unset TRAINPROF_AGENT
export CUPTI_SCRIPT="$PWD/cupti" CUDA_ENDS_WHEN="$PWD/go"

# The words of a ring's header (trainprof/wire/gpu_ring.h): its state, and states from here on end
# the collecting.
STATE_AT=72 ENDED=16

# state_is_final: of the only ring in the program's folder of rings
state_is_final() {
	state=$(od -An -t u4 -j $STATE_AT -N 4 "$(cat rings)"/*.ring 2>/dev/null | tr -d ' ')
	[ "${state:-0}" -ge $ENDED ]
}

# cuda AGE COMMAND: the command in a shell under trainprof, with that double of CUPTI
cuda() {
	command="echo \$TRAINPROF_GPU_RINGS >rings; $2"
	LD_LIBRARY_PATH=$BUILD/doubles:$BUILD/doubles/whole TRAINPROF_CUPTI=$BUILD/doubles/$1/libcupti.so.13 \
		trainprof run -q --summary=none --gpu-trace=continuous --force -o refused -- sh -c "$command"
	said $?
	source_row refused
}

# ends_after_state AGE: a program that ends when the agent has given up
ends_after_state() {
	rm -f go rings
	cuda "$1" 'exec cuda_ends return' &
	wait_for rings
	until_true state_is_final
	touch go
	wait $!
}

echo "-- CUPTI cannot be used, fails, or does not start"
: >cupti
ends_after_state broken
echo 'fail_cuptiSubscribe_v2 999' >cupti
ends_after_state whole
echo 'fail_cuptiGetVersion 999' >cupti
ends_after_state whole
echo 'version 140000' >cupti
ends_after_state whole

echo "-- CUPTI hangs in the middle of its start"
touch hold
echo "hold $PWD/hold" >cupti
CUDA_ENDS_WHEN=$PWD/hold.held cuda whole 'exec cuda_ends return'
rm -f hold

echo "-- there is no room for a ring"
: >cupti
touch go
cuda whole 'ulimit -f 100; exec cuda_ends return'

echo "-- the agent was removed, or the program does not have its variable"
cp "$BUILD/libtrainprof-agent.so" gone.so
TRAINPROF_AGENT=$PWD/gone.so cuda whole 'rm gone.so; exec cuda_ends return'
cuda whole 'unset CUDA_INJECTION64_PATH; exec cuda_ends return'
TRAINPROF_AGENT=$PWD/gone.so cuda whole 'exec cuda_ends return'

echo "-- nothing is left behind"
until_true nothing_left || left
