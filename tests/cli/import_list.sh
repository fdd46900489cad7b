# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# The formats, with what each keeps and loses, in any width.
trainprof import --list
trainprof import --list --width=44 | awk 'length($0) > 44'
for format in $(trainprof import --list | sed -n 's/^\([a-z-]*\)  .*/\1/p'); do
	trainprof import --from="$format" gone 2>&1 | grep -q "cannot read 'gone'" || echo "--from does not take $format"
done
