# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# A limit on the size of files is for the program: trainprof's own files fail without a message of
# the shell, and the program gets the signal as it would alone.
. "$CASES/run.inc"
mkdir cache
export XDG_CACHE_HOME="$PWD/cache"
(ulimit -f 8 && run -o a -- sh -c 'exit 3' 2>/dev/null)
said $?
(ulimit -f 8 && run -o b -- sh -c 'exec head -c 99999 /dev/zero >big' 2>/dev/null)
status=$?
[ "$(kill -l "$status")" = XFSZ ] && echo "killed as it would be alone"
find cache -type f -size +2
