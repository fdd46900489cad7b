# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# Switch records are turned off above a limit, and all reports contain that.
trainprof run -o prof -- ping_pong pipe 200000 pinned 1000 >said 2>err
n=$(sed -n 's/.*switches_per_s //p' said)
[ "$n" -gt 60000 ] || { echo "$n switches per second: too few for the limit" >&2; exit 77; }
trainprof report --full prof | grep -q 'perf  CPU stacks: present' || { echo 'no perf events here' >&2; exit 77; }
told='Less detail: .*switch records off above .* of the run'
trainprof report --full prof | tr -s '\n ' ' ' | grep -c "$told"
trainprof report --markdown prof | grep -c "$told"
trainprof report --json prof | grep -c '"reduced": ".*switch records off'
trainprof report --json prof | grep -c '"id": "switches-off"'
