# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# stacks of what is no pid, and of nobody.
trainprof stacks; echo "status $?"
trainprof stacks train.py; echo "status $?"
trainprof stacks 4194304; echo "status $?"
trainprof stacks --json -- -5; echo "status $?"
trainprof stacks -h | head -4
