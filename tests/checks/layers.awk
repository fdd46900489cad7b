# SPDX-License-Identifier: Apache-2.0
# Checks edges between files against the table of floors and rooms. Input: "TABLE floor: floors it may use" and
# "TABLE   room: rooms it may use" first, then "FILE LINE defines|uses SYMBOL" and "FILE LINE include NAME".

BEGIN {
	# Headers that all rooms of a floor use: the parts of collectors, the data between passes,
	# the table of thresholds.
	is_contract["src/collect/registry.h"] = is_contract["src/analyze/analysis.h"] = is_contract["src/analyze/thresholds.h"] = 1

	# library header -> files that may include it
	library["cjson/"] = "^src/base/json\\.c$"
	library["zlib"] = "^src/base/gzip\\.c$"
	library["cpuid"] = "^src/(base/sha256|import/json/json_skip)\\.c$"
	library["immintrin"] = "^src/(base/sha256|import/json/json_skip)\\.c$"
	library["emmintrin"] = "^src/import/json/byte_mask\\.h$"
	library["sqlite3"] = "^src/import/sqlite/"
	library["elfutils/"] = library["libelf"] = library["gelf"] = library["dwarf"] = "^(src|include/trainprof)/stack/"
	library["perfmon/"] = "^src/collect/pmu/pmu_libpfm\\.c$"
	library["sanitizer/"] = "^src/base/arena\\.c$"

	# symbols of the C library and the kernel that any file may use
	n = split("assert ctype elf dirent dlfcn endian errno fcntl fnmatch float ftw getopt glob grp inttypes libgen limits link locale malloc math netdb poll pthread pwd regex sched search semaphore signal spawn stdalign stdarg stdatomic stdbool stddef stdint stdio stdlib stdnoreturn string strings syscall termios time ucontext unistd wchar wctype langinfo mntent execinfo fenv", names, " ")
	for (i = 1; i <= n; i++)
		libc[names[i] ".h"] = 1
}

function fail(what, mend) {
	if (!(($1 " " what) in said))
		printf "%s:%s: %s\n    %s\n", $1, $2, what, mend
	said[$1 " " what] = 1
	n_failed++
}

# "collect" of src/collect/perf/perf_ring.c and of include/trainprof/collect/plan.h
function floor_of(path,   parts) {
	if (path == "src/main.c" || path ~ /^include\/trainprof\/[a-z_]*\.h$/)
		return "top"
	split(path, parts, "/")
	return parts[1] == "src" ? parts[2] : parts[3]
}

# "perf" of src/collect/perf/perf_ring.c, "gpu/nvml" of src/collect/gpu/nvml/nvml_abi.h, "" of src/collect/plan.c
function room_of(path,   rest) {
	if (path !~ /^src\/[a-z]*\//)
		return ""
	rest = path
	sub(/^src\/[a-z]*\//, "", rest)
	return sub(/\/[^\/]*$/, "", rest) ? rest : ""
}

# A file of a floor needs another file of the same floor.
function check_room(from, to, what,   floor, own, other) {
	floor = floor_of(from)
	own = room_of(from)
	other = room_of(to)
	if (own == other || own == "")
		return
	if (index(rooms[floor "/" own], " " other " ") == 0 && other != "")
		fail("room " floor "/" own " uses " floor "/" other " (" what ")", "move what both need to a lower room, or let " own " use " other " in docs/architecture.md")
	else if (other == "")
		fail("room " floor "/" own " uses the floor above it (" what ")", "move " to " into a room below " own)
}

$1 == "TABLE" {
	room = $0 ~ /^TABLE  /
	name = $2
	sub(/:$/, "", name)
	used = " "
	for (i = 3; i <= NF; i++)
		used = used $i " "
	if (!room)
		may[floor = name] = used
	else
		rooms[floor "/" name] = used
	next
}

{
	n_seen++
	own = floor_of($1)
	place = room_of($1)
	if (!(own in may)) {
		fail("there is no floor '" own "'", "put the file into a floor of docs/architecture.md")
		next
	}
	if (place != "" && !((own "/" place) in rooms)) {
		fail("there is no room '" place "' in " own, "put the file into a room of docs/architecture.md")
		next
	}
}

$3 == "defines" {
	home[$4] = $1
	next
}

$3 == "uses" {
	target = home[$4]
	if (target == "" || target == $1)
		next
	if (floor_of(target) != own) {
		if (index(may[own], " " floor_of(target) " ") == 0)
			fail(own " uses " floor_of(target) " (" $4 ")", "move what both need to a lower floor")
	} else {
		check_room($1, target, $4)
		if (!(($1, target) in needs)) {
			needs[$1, target] = $4
			list[$1] = list[$1] " " target
			files[$1] = 1
		}
	}
	next
}

$3 == "include" {
	name = substr($4, 2)
	sub(/[">].*/, "", name)
	if ($4 ~ /^</) {
		allowed = libc[name] || name ~ /^(sys|linux|asm|net|netinet|arpa)\//
		for (prefix in library)
			if (index(name, prefix) == 1)
				allowed = $1 ~ library[prefix]
		if (!allowed)
			fail("<" name "> may not come in here", "use the file that wraps this library")
	} else if (name ~ /\.\.\//) {
		fail("\"" name "\" goes up", "name the header by its path below src/")
	} else if (name ~ /^trainprof\/[a-z_]*\/[a-z_0-9]*\.h$/) {
		split(name, parts, "/")
		if (parts[2] != own && index(may[own], " " parts[2] " ") == 0)
			fail(own " includes " parts[2] " (\"" name "\")", "move what both need to a lower floor")
	} else if (name ~ /\//) {
		if (floor_of("src/" name) != own && name !~ /^trainprof\//)
			fail("\"" name "\" is private to " floor_of("src/" name), "put what others need into include/trainprof/")
		else if (name !~ /^trainprof\// && !(("src/" name) in is_contract))
			check_room($1, "src/" name, "\"" name "\"")
	} else if (own == "top" && name !~ /\.inc$/) {
		fail("\"" name "\" may not come in here", "main.c uses include/trainprof/cli/ alone")
	}
}

# Depth first; a file that is met again while it is on the path closes a circle.
function visit(file, path,   next_files, n, i) {
	state[file] = 1
	n = split(list[file], next_files, " ")
	for (i = 1; i <= n; i++) {
		if (state[next_files[i]] == 1) {
			printf "%s:0: files need each other: %s -> %s (%s)\n    move %s to a file that both can use\n", file, path, next_files[i], needs[file, next_files[i]], needs[file, next_files[i]]
			n_failed++
		} else if (!state[next_files[i]]) {
			visit(next_files[i], path " -> " next_files[i])
		}
	}
	state[file] = 2
}

END {
	for (file in files)
		if (!state[file])
			visit(file, file)
	printf "layers: %d passed, %d failed, 0 skipped\n", n_seen - n_failed, n_failed
	exit n_failed > 0
}
