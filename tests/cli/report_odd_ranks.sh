# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# Jobs whose recordings are odd: what is odd is reported, and no wrong rank is named as sure.
python3=/usr/bin/python3

# job FOLDER CHANGE: digests of four ranks in which rank 2 works 8 ms longer, after a change to the
# list of ranks in Python.
job() {
	$python3 - "$1" "$2" "$CASES/../ranks" <<'PYTHON'
import os, struct, sys
folder, change, lib = sys.argv[1:]
sys.path.insert(0, lib)
import digests as d

lengths = [20000 + (k * 7919 % 4001) for k in range(120)]

class Rank:
    def __init__(self, number):
        self.number, self.size, self.job, self.host = number, 4, "4711", "node%d" % number
        self.start_ns, self.wall_ns, self.first, self.last = 5 * 10**9, 17 * 10**17, 0, 120
        self.folder, self.fields, self.cut, self.version = "rank-%d" % number, (), None, 1
        self.own_us = 20000 if number == 2 else 12000

    def write(self):
        at, steps = 1000000, []
        for k, length in enumerate(lengths):
            if self.first <= k < self.last:
                wait = max(0, length - self.own_us - (k * 31 + self.number) % 97)
                steps.append((at, at + length, wait, 1))
            at += length
        code = d.field(31, d.field(1, "train.py") + d.field(2, "decode" if self.number == 2 else
                       "forward") + d.field(3, 7) + d.field(4, "dataloader.prep") + d.field(5, 8000000))
        rank = d.rank_fields((1, "Slurm"), (2, self.job), (3, self.number), (4, self.size),
                             (6, self.host), (7, 100 + self.number), (9, 1), (12, self.start_ns),
                             (13, self.start_ns + at * 1000), (14, self.wall_ns), *self.fields)
        data = d.header() + d.frame(b"RANK", rank + code)
        for i in range(0, len(steps), 150):
            data += d.frame(b"STEP", d.steps_payload(steps[i:i + 150]))
        data += d.frame(b"ENDS", struct.pack("<3Q", 0, 1, 0))
        if self.version != 1:
            head = d.MAGIC + struct.pack("<HH", self.version, 0)
            data = head + struct.pack("<I", d.crc32c(head)) + data[16:]
        path = os.path.join(folder, self.folder)
        os.makedirs(path)
        with open(os.path.join(path, "digest.tpd"), "wb") as file:
            file.write(data[:self.cut])

ranks = [Rank(number) for number in range(4)]
exec(change)
for rank in ranks:
    rank.write()
PYTHON
}
# told NAME CHANGE: the sentences of the page and of messages, without the tables.
told() {
	echo "== $1"
	job job "$2"
	trainprof report job >page 2>&1
	echo "status $?"
	sed -n '/^[A-Z][A-Z][A-Z ]* [0-9A-Z]/,/^$/p; /^No recording/p; /^Rank/p; /^CANNOT/p; /^Left out/,/\.$/p; /^Of other/p; /contradict\|cannot be/p; /^trainprof:/p; /^Clock/p; /^Not joined/p; /^Joined/p' page |
		awk '!seen[$0]++'
	trainprof report --json job >/dev/null || echo 'no JSON'
	rm -r job
}
told 'as they are' 'pass'
told 'of different lengths' 'ranks[0].last = 100; ranks[3].first = 15'
told 'one has hardly any steps' 'ranks[1].last = 6'
told 'numbered twice' 'ranks[3].number = 2; ranks[3].own_us = 12000'
told 'missing' 'del ranks[1]'
told 'the late one is missing' 'del ranks[2]'
told 'clocks off by hours, and one that starts before it ends' '
for rank, hours in zip(ranks, (0, 7, -1, 300)):
    rank.start_ns += hours * 3600 * 10**9 if hours >= 0 else -4 * 10**9
    rank.wall_ns += hours * 3600 * 10**9
ranks[1].fields = ((13, 1),)'
told 'odd names of hosts' '
for rank, name in zip(ranks, ("a\033[31mb", "x" * 300, "ü\"|<b>,\n", "")):
    rank.host = name'
told 'of another job' 'ranks[3].job = "4712"; ranks[3].wall_ns -= 10**9'
told 'of a job of another size' 'ranks[3].size = 8; ranks[3].wall_ns -= 10**9'
told 'a rank that cannot be' 'ranks[3].number = 7; ranks[3].size = 2; ranks[3].wall_ns -= 10**9'
told 'a number beyond the size' 'ranks[3].number = 7'
told 'one cut in its head, one in its steps' 'ranks[1].cut = 60; ranks[3].cut = 700'
told 'of another version' 'ranks[1].version = 9'
told 'the late one is cut' 'ranks[2].cut = 700'
told 'all are cut' '
for rank in ranks: rank.cut = 20'
told 'all are the same rank' '
for rank in ranks: rank.number = 1'
