# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# Version and formats, or JSON that parses.
trainprof version | sed 's/[0-9]\+\.[0-9]\+\.[0-9]\+/VERSION/'
trainprof -V | sed 's/[0-9]\+\.[0-9]\+\.[0-9]\+/VERSION/'
trainprof version --json | grep -c '"version"'
trainprof version >/dev/full
echo "status $?"
echo '== the tutorials, also where a link is in PATH'
mkdir bin && ln -s "$BUILD/trainprof" bin/trainprof
cmp "$(bin/trainprof version --tutorial)/train.py" "$CASES/../../docs/tutorial/train.py" && echo found
