# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# The page about imports names every format, its Python compiles, its commands are those of
# trainprof, and what it says to type for a foreign file is what import says.
page=$CASES/../../docs/howto/import.md
command -v python3 >/dev/null || {
	echo 'python3 is not installed' >&2
	exit 77
}
python3 - "$page" <<'PYTHON'
import re, sys
text = open(sys.argv[1], encoding="utf-8").read()
blocks = re.findall(r"```python\n(.*?)```", text, re.S)
for block in blocks:
    compile(block, "import.md", "exec")
print(len(blocks), "blocks of Python compile")
PYTHON
sed -n 's/^    \(trainprof .*\)/\1/p' "$page" | while read -r command; do
	set -f
	# Files need not exist; what an option or a word means is judged before.
	eval "$command" >printed 2>&1
	[ $? -ne 2 ] || echo "no command: $command"
done
# The tools that formats are of, by the words of the page's headings.
for words in Kineto nsys XProf rocprofv3 rocpd rocmProfileData Ascend kernel_details TensorFlow Horovod ByteDance -device-lane; do
	grep -q -e "$words" "$page" || echo "the page lacks $words"
done
type_of() { # type_of FILE WORDS: the line to type has the words, and so has the page
	trainprof import "$1" 2>&1 | sed -n 's/^  next: //p' | grep -qF "$2" || echo "$1: import does not say $2"
	grep -qF "$2" "$page" || echo "$1: the page does not say $2"
}
printf 'version https://git-lfs.github.com/spec/v1\n' >pointer.db
printf '\200\004\225\172\000}\224(\214\010segments\224]' >memory.pickle
printf '\377\376{\000"\000' >wide.json
printf 'PERFILE2' >perf.data
printf 'main;train;forward 12\nmain;train;backward 30\n' >stacks.txt
printf '\200\004\225\172\000}\224(\214\011pg_config\224]' >flight.pickle
: >t.pftrace && echo x >t.pftrace
type_of pointer.db 'git lfs pull --include'
type_of memory.pickle 'python -m torch.cuda._memory_viz trace_plot'
type_of wide.json 'iconv -f UTF-16 -t UTF-8'
type_of perf.data 'trainprof run -- CMD'
type_of stacks.txt 'trainprof attach PID'
type_of flight.pickle 'torchfrtrace FOLDER'
type_of t.pftrace 'traceconv json'
