# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# Ranks that start at the same time in one folder, without -o, all run, each with its own recording.
for i in 1 2 3 4 5 6 7 8; do
	(
		trainprof run -q --summary=none -- sh -c "echo >ran$i; exit 7"
		echo $? >status$i
	) &
done
wait
echo "statuses: $(sort -u status?)"
echo "programs that ran: $(ls ran? | wc -l)"
echo "recordings: $(ls -d .trainprof/[0-9]* | wc -l)"
echo "of them closed: $(grep -l '"is_closed": true' .trainprof/[0-9]*/manifest.json | wc -l)"
test -e .trainprof/last/manifest.json && echo '.trainprof/last names one'
