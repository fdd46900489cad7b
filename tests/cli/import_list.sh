# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# The formats, with what each keeps and loses, in any width.
trainprof import --list
trainprof import --list --width=44 | awk 'length($0) > 44'
for format in $(trainprof import --list | sed -n 's/^\([a-z-]*\)  .*/\1/p'); do
	trainprof import --help | tr '\n' ' ' | grep -q "auto.*$format" || echo "--from does not take $format"
done
