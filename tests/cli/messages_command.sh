# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# Messages for a wrong command.
for words in './train --epochs 1' reprot rnu attach --colr --width --color=purple 'version --jsn' \
	'version -x' 'help reprot' 'guide partz' 'completion tcsh' 'completion' 'rules lst' rules \
	'report a b'; do
	echo "trainprof $words"
	# The words are meant to be split.
	# shellcheck disable=SC2086
	trainprof $words 2>&1
	echo "status $?"
done
