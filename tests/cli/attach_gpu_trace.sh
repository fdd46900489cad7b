# shellcheck shell=sh
# An agent is put into a program that runs and uses CUDA's doubles: its work is told, it goes on. What
# cannot be joined is measured without, and it is said why and what to type.
. "$CASES/run.inc"
case $(uname -m) in x86_64) ;; *) echo 'this kind of processor is not known' >&2; exit 77 ;; esac
doubles=$BUILD/doubles:$BUILD/doubles/whole
export NVML_SCRIPT="$PWD/script"
printf 'devices 1\nname NVIDIA H200\nawake 50\n' >script

# joined ARGUMENT...: trainprof attach with a driver, as far as it can see
joined() {
	LD_LIBRARY_PATH=$BUILD/doubles/whole trainprof attach --summary=none -d 1s "$@" 2>&1
}

# plain: without what changes from run to run
plain() {
	sed "s/pid $pid/pid PID/g; s/ $pid\$/ PID/; s/for [0-9.e+-]* ms/for T ms/"
}

# start PROGRAM...: in the background, until it has CUDA's library
start() {
	LD_LIBRARY_PATH=$doubles "$@" >/dev/null 2>&1 &
	pid=$!
	until_true grep -qs libcuda "/proc/$pid/maps"
}

# is_told WORD SECONDS: work of the GPU, by an agent that traces so
is_told() {
	joined --gpu-trace="$1" -d "$2s" --force -o "$1" "$pid" | plain >said
	trainprof report --full "$1" | grep -o 'work *[0-9,]* compute kernels' | sed 's|[0-9][0-9,]*|N|; s|  *| |g' >>said
	grep -q '^work N' said
}

# end: by what it ends now
end() {
	kill "$pid"
	wait "$pid" 2>/dev/null
	said $?
}

start "$BUILD/programs/gpu_launcher" hang 2 640000 2000 60000
echo "-- without the option nothing is put into it"
grep ' ..xp ' "/proc/$pid/maps" >before
joined -o plain "$pid"
grep ' ..xp ' "/proc/$pid/maps" | diff before - && echo "mapped as before"

echo "-- with it"
longer 1 is_told continuous
cat said
grep -c 'memfd:trainprof-agent' "/proc/$pid/maps" | sed 's/[1-9][0-9]*/the library is mapped/'

echo "-- again, in windows, of which the first comes when what is usual is known"
longer 7 is_told windows
cat said
end

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
