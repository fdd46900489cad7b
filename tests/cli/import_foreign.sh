# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# Files of tools that trainprof does not read, most of them in the form that it does read: each is
# named, or CANNOT TELL, and none is judged.
event() { # event NAME CATEGORY [MEMBERS]: 100 events
	i=0
	while [ $i -lt 100 ]; do
		echo "{\"ph\":\"X\",\"name\":\"$1\",${2:+\"cat\":\"$2\",}\"pid\":1,\"tid\":1,\"ts\":$((i * 1000)),\"dur\":600${3:+,$3}},"
		i=$((i + 1))
	done
}
process() {
	echo "{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":1,\"args\":{\"name\":\"$1\"}},"
}
list() {
	echo '['
	cat
	echo '{}]'
}
object() { # object [MEMBERS AFTER]
	echo '{"traceEvents":['
	cat
	echo "{}]${1:+,$1}}"
}
mkdir files
cd files || exit
{ process Browser && event RunTask toplevel; } | object >chrome.json
{ process trace_processor && event slice gfx; } | object '"systemTraceEvents":"# tracer"' >perfetto.json
event 'train (/a.py:1)' FEE | object '"viztracer_metadata":{"version":"1.0"}' >viztracer.json
{ event aten::mm cpu_op && event gemm gpu_op; } | object >unitrace.json
{ event model_run Session && event gemm Kernel; } | list >onnx.json
{ process gpu/0 && event Convolution operator; } | object >mxnet.json
{ process '2 CPU HIP API' && event hipLaunchKernel; } | object >rocprof1.json
{ process python && event gemm rocm_kernel_dispatch; } | object >rocprof_sys.json
event train py-spy | list >py_spy.json
event train 'task::train' | list >ray.json
event action 'critical path component' | object '"otherData":{"bazel_version":"7"}' >bazel.json
{ process 'habana HPU0' && event gemm; } | object >habana.json
{ process MME && event gemm; } | object >gaudi_engines.json
{ process 'TPU Core 0' && event fusion; } | object >tpu_old.json
event inductor_compile dynamo_timed | list >inductor.json
# The dollar is part of the name.
# shellcheck disable=SC2016
echo '{"$schema":"https://www.speedscope.app/file-format-schema.json","profiles":[]}' >speedscope.json
echo '{"schema":"1.1.1-chakra.0.0.4","nodes":[{"id":1,"name":"x"}]}' >execution.json
echo '{"version":"2.5","pg_config":{},"nccl_comm_state":{},"entries":[]}' >flight.json
echo '{"epoch":1.0,"log_history":[{"loss":1.5,"step":1}]}' >trainer_state.json
echo '[{"name":"conv1","timeMs":1.5,"percentage":5}]' >tensorrt.json
echo '{"_step":1,"_runtime":3.5,"loss":0.5}' >wandb_history.json
printf 'main;train;forward 12\nmain;train;backward 30\n' >stacks.txt
printf '{(\332\001~\351\000' >old.prof
printf '\200\004\225\172\000}\224(\214\010segments\224]' >memory.pickle
printf '\012\004\010\001\020\002\012\004\010\003\020\004' >cpu.pb.txt
printf '\012\024\342\003\021\010\005\022\004main' >trace.bin
printf ':::MLLOG {"key": "run_start"}\n' >result_0.txt
printf '"ID","Process ID","Kernel Name"\n' >ncu.csv
for file in *; do
	trainprof import -o ../prof --force "$file" >../printed 2>&1
	status=$?
	sed -n '/CANNOT TELL/p; /^trainprof: /p; /next: /p' ../printed
	if [ $status -eq 0 ] && ! grep -q 'CANNOT TELL' ../printed; then
		echo "$file was judged"
	fi
done
