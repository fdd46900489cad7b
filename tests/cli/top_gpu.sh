# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# GPU readings are not counted as lost records.
. "$CASES/run.inc"
cat >script <<'EOF'
devices 1
name NVIDIA H200
awake 63
total 150000000000
used 75000000000
process pidfile 70000000000
EOF
trainer --milliseconds 600000 --steps 1000000 >/dev/null &
echo $! >pidfile
NVML_SCRIPT=$PWD/script LD_LIBRARY_PATH=$BUILD/doubles/whole trainprof top -i 2s -n 2 "$(cat pidfile)" >out
said $?
sed -n 's/^trainprof takes .*; \(.*lost\).$/\1/p' out
kill $!
wait $! 2>/dev/null
said $?
