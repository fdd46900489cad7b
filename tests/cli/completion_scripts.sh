# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# The scripts parse; bash completes commands, options and values.
command -v bash >/dev/null || { echo 'bash is missing' >&2; exit 77; }
trainprof completion bash >complete.bash && bash -n complete.bash
trainprof completion zsh >_trainprof
trainprof completion fish >trainprof.fish
if command -v zsh >/dev/null; then zsh -n _trainprof; fi
if command -v fish >/dev/null; then fish -n trainprof.fish; fi
cat >try.bash <<'END'
source complete.bash
compopt() { :; }
try() {
	COMP_LINE=$1 COMP_POINT=${#1}
	read -ra COMP_WORDS <<<"$1"
	case $1 in *' ') COMP_WORDS+=('') ;; esac
	COMP_CWORD=$((${#COMP_WORDS[@]} - 1)) COMPREPLY=()
	_trainprof
	echo "$1 -> ${COMPREPLY[*]}"
}
try 'trainprof r'
try 'trainprof run --du'
try 'trainprof run --summary='
try 'trainprof run --summary=n'
try 'trainprof report --form'
try 'trainprof --color=a'
END
bash try.bash
