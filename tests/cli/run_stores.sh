# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# A recording has the files that docs/privacy.md lists, and none of them holds what that page
# excludes: values, contents, source text, output. Words are built at run time where the command
# line or the script would show them otherwise.
. "$CASES/run.inc"
command -v python3 >/dev/null || { echo 'no python3 here' >&2; exit 77; }
printf 'WORD_of_file %.0s' $(seq 1000) >data.txt
cat >main.py <<'P'
import os, socket, sys, time
def read(end):
    one, two = socket.socketpair()
    total = 0.0
    while time.monotonic() < end:
        value = "WORD_of_value" + os.environ["NOT_LISTED"]  # WORD_of_source
        one.send(b"WORD_of_sender"), two.recv(100)
        total += len(open("data.txt").read()) + len(value)
    print("WORD_of_output", total)
    time.sleep(0.2)
read(time.monotonic() + 1)
P
NOT_LISTED=WORD_of_variable run -o prof -- python3 main.py ARGUMENT_word >out
cut -d" " -f1 out
echo '== in its files'
grep -alE 'WORD_of_' prof/*
find prof -type f -printf '%f\n' | sort >files
while read -r file; do
	grep -q "^| .*\`$file" "$CASES/../../docs/privacy.md" || echo "$file is not on the page"
done <files
echo '== what the page says is there'
grep -alF 'ARGUMENT_word' prof/* | sort
stat -c '%a %n' prof prof/* | sort
echo '== elsewhere'
find . -mindepth 1 -maxdepth 2 -not -path './prof/*' -not -path './.cache*' | sort
