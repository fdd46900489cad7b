# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# If an agent cannot be injected, the program is measured without; reason and remedy are printed.
. "$CASES/run.inc"
. "$CASES/attach_gpu.inc"

echo "-- a program without CUDA"
sleep 300 &
pid=$!
joined --gpu-trace=windows -o without "$pid" | plain
echo "-- and where it is required"
joined --gpu-trace=windows --require=cupti -o required "$pid" | plain
ls -d required 2>&1 | sed 's/.*No such/no such/'
end

echo "-- one that forbids it"
TRAINPROF_GPU=0 start "$BUILD/programs/gpu_launcher" hang 2 640000 2000 60000
joined --gpu-trace=windows -o forbidden "$pid" | plain
end

echo "-- one with a filter of system calls"
start refuse perf EPERM "$BUILD/programs/gpu_launcher" hang 2 640000 2000 60000
joined --gpu-trace=windows -o filtered "$pid" | plain
end

echo "-- one that is stopped"
start "$BUILD/programs/gpu_launcher" hang 2 640000 2000 60000
kill -STOP "$pid"
joined --gpu-trace=windows -o stopped "$pid" | plain
kill -CONT "$pid"
end
