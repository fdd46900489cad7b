# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# GPUs from a double of NVML: the report contains the values of its script.
. "$CASES/run.inc"
. "$CASES/run_gpu.inc"

# about KEY LOW HIGH: a figure of the first GPU of gpu.json is in the range
about() {
	tr -d ' \n' <gpu.json | sed 's/.*"gpus":\[//' | grep -o "\"$1\":{\"value\":[^,]*" | head -1 |
		awk -F: -v key="$1" -v low="$2" -v high="$3" '{
			print key, ($3 + 0 >= low && $3 + 0 <= high ? "as scripted" : "is " $3) }'
}

cat >script <<'EOF'
devices 2
name NVIDIA H200
awake 63
gpu 1 awake 99
total 150000000000
used 75000000000
reserved 600000000
power 500000
energy 1000000
energy_rate 500000
clock 1500
clock_max 1980
reasons 0x4
field_74 0
field_74_rate 250000000
field_75 0
field_197 0
field_197_rate 3000000000
power_limit 350000
power_default 700000
link_generation 1
at 2 link_generation 4
link_generation_max 5
link_width 16
link_width_max 16
field_198_bits 32
field_198 5
gpu 0 process pidfile 70000000000
gpu 0 process 1 1000000000
gpm 1
gpm_2 80
gpm_5 12
EOF
# The process that NVML lists is a child of the started one.
used() { # used SECONDS
	# shellcheck disable=SC2016
	with_gpu "$PWD/script" run -q --summary=none --force -o used -- timeout "$1" sh -c 'echo $$ >pidfile; while :; do :; done'
	said $? >status
	seconds=$1
	source_row used | grep -q 'found by the processes'
}
longer 8 used
cat status
trainprof report used | grep '^GPU'
source_row used
trainprof report --format=json used >gpu.json
about awake_ratio 0.6299 0.6301
about memory_used_bytes 75e9 75e9
about memory_own_bytes 70e9 70e9
about other_processes 1 1
about other_memory_bytes 1e9 1e9
about power_w 500 500
about power_capped_ratio 0.22 0.28
about heat_capped_ratio 0 0
about sm_active_ratio 0.7999 0.8001
about tensor_active_ratio 0.1199 0.1201
about pcie_sent_bytes_per_s 2.7e9 3.3e9
about power_limit_w 350 350
about pcie_link_bytes_per_s 31.4e9 31.6e9
trainprof report --full used | grep -o 'gpu.power_limit_ratio  *[0-9.]*\|gpu.pcie_link_ratio  *[0-9.]*' | tr -s ' ' | sort -u
trainprof report --full used | grep -o "A GPU's PCIe link is narrower.*"
# A counter that wraps between two readings is discarded.
tr -d ' \n' <gpu.json | grep -o '"pcie_received_bytes_per_s":{[^}]*}'
trainprof report --full used | grep 'gpu.energy_j' | awk -v most=$((500 * (seconds + 2))) '{ print ($2 > 1000 && $2 < most ? "energy" : $0) }'
