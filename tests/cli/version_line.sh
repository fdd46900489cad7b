# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# Version and formats, or JSON that parses.
trainprof version | sed 's/[0-9]\+\.[0-9]\+\.[0-9]\+/VERSION/'
trainprof -V | sed 's/[0-9]\+\.[0-9]\+\.[0-9]\+/VERSION/'
trainprof version --json | grep -c '"version"'
trainprof version >/dev/full
echo "status $?"
