# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# stacks with an argument that is no pid, and with an unused pid.
trainprof stacks; echo "status $?"
trainprof stacks train.py; echo "status $?"
trainprof stacks 4194304; echo "status $?"
trainprof stacks --json -- -5; echo "status $?"
trainprof stacks -h | head -4
