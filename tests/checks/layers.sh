#!/bin/sh
# Floors include only what they may; libraries come in through the one file that is allowed to.
# The table is that of docs/internals.md. Run from the top of the tree.
set -u

# awk does all of it in one pass: a fork per include line would take longer than the build.
# shellcheck disable=SC2016,SC2046
grep -Hn '^[[:space:]]*#[[:space:]]*include' $(find src include -name '*.[ch]' | sort) | awk -F: '
BEGIN {
	split("wire agent base inject model stack collect import store analyze advise report cli", floors, " ")
	may["wire"] = " "
	may["agent"] = " wire "
	may["base"] = " "
	may["inject"] = " base "
	may["model"] = " base "
	may["stack"] = " base model "
	may["collect"] = " wire base inject model stack "
	may["import"] = " base model stack "
	may["store"] = may["analyze"] = may["advise"] = may["report"] = " base model "
	may["cli"] = " wire base model stack collect import store analyze advise report "
	may["top"] = " cli "

	# library header -> where it may come in
	library["cjson/"] = "^src/base/json\\.c$"
	library["zlib"] = "^src/base/gzip\\.c$"
	library["cpuid"] = "^src/base/sha256\\.c$"
	library["immintrin"] = "^src/(base/sha256|import/json/json_skip)\\.c$"
	library["emmintrin"] = "^src/import/json/byte_mask\\.h$"
	library["sqlite3"] = "^src/import/nsys/"
	library["elfutils/"] = library["libelf"] = library["gelf"] = library["dwarf"] = "^(src|include/trainprof)/stack/"
	library["perfmon/"] = "^src/collect/pmu/pmu_libpfm\\.c$"
	library["sanitizer/"] = "^src/base/arena\\.c$"

	# what any file may take from the C library and the kernel
	n = split("assert ctype elf dirent dlfcn endian errno fcntl fnmatch float ftw getopt glob grp inttypes libgen limits link locale math netdb poll pthread pwd regex sched search semaphore signal spawn stdalign stdarg stdatomic stdbool stddef stdint stdio stdlib stdnoreturn string strings syscall termios time ucontext unistd wchar wctype langinfo mntent execinfo fenv", names, " ")
	for (i = 1; i <= n; i++)
		libc[names[i] ".h"] = 1
}
function complain(what) {
	printf "%s:%s: %s\n", $1, $2, what
	n_failed++
}
function floor_of(path,   parts) {
	if (path == "src/main.c" || path ~ /^include\/trainprof\/[a-z_]*\.h$/)
		return "top"
	split(path, parts, "/")
	return parts[1] == "src" ? parts[2] : parts[3]
}
{
	n_seen++
	own = floor_of($1)
	line = $0
	sub(/^[^:]*:[^:]*:[ \t]*#[ \t]*include[ \t]*/, "", line)
	name = substr(line, 2)
	sub(/[">].*/, "", name)
	if (!(own in may)) {
		complain("no such floor: " own)
	} else if (line ~ /^</) {
		allowed = libc[name] || name ~ /^(sys|linux|asm|net|netinet|arpa)\//
		for (prefix in library)
			if (index(name, prefix) == 1)
				allowed = $1 ~ library[prefix]
		if (!allowed)
			complain("<" name "> may not come in here")
	} else if (name ~ /\.\.\//) {
		complain("\"" name "\": no way up")
	} else if (name ~ /^trainprof\/[a-z_]*\/[a-z_0-9]*\.h$/) {
		split(name, parts, "/")
		if (parts[2] != own && index(may[own], " " parts[2] " ") == 0)
			complain(own " may not include " parts[2])
	} else if (name ~ /\//) {
		split(name, parts, "/")
		if (parts[1] != own)
			complain("\"" name "\" is private to " parts[1])
	} else if (own == "top") {
		complain("\"" name "\" may not come in here")
	}
}
END {
	printf "layers: %d passed, %d failed, 0 skipped\n", n_seen - n_failed, n_failed
	exit n_failed > 0
}'
