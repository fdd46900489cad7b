#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Compiles the libraries that trainprof links as static ones, from Debian's source packages.
# libraries.sh ARCH DIRECTORY: needs DIRECTORY/cc and ar of compiler.sh; afterwards DIRECTORY has
# include/, lib/, licenses/, and versions.txt with a line for each library.
#
# Source packages carry Debian's security fixes, and apt checks their signatures. Nothing on this
# machine changes: the list of sources lies in a state directory of its own.
set -eu
unset MAKEFLAGS
arch=$1
directory=$(cd "$2" && pwd)
sources=$directory/../sources
stamp=$directory/versions.txt
[ ! -s "$stamp" ] || exit 0
mkdir -p "$sources/lists/partial" "$directory/include" "$directory/lib" "$directory/licenses" "$directory/work"

fetch() { # fetch PACKAGE...: unpacked below $sources, once for all processors
	cat /etc/apt/sources.list /etc/apt/sources.list.d/debian.sources 2>/dev/null |
		sed -n -e 's/^Types:.*/Types: deb-src/p' -e '/^URIs:/p' -e '/^Suites:/p' -e '/^Components:/p' -e '/^Signed-By:/p' \
			-e '/^$/p' >"$sources/debian.sources"
	sed -n 's/^deb /deb-src /p' /etc/apt/sources.list >"$sources/debian.list" 2>/dev/null || :
	list=$sources/debian.sources
	grep -q deb-src "$list" || list=$sources/debian.list
	apt="apt-get -q -o Dir::Etc::sourcelist=$list -o Dir::Etc::sourceparts=- -o Dir::State::lists=$sources/lists
		-o APT::Sandbox::User=$(id -un)"
	(
		cd "$sources" || exit 1
		# shellcheck disable=SC2086 # words on purpose
		$apt update && $apt source --download-only "$@" || exit 1
		for package in *.dsc; do
			[ -d "${package%.dsc}.unpacked" ] || dpkg-source -x "$package" "${package%.dsc}.unpacked" || exit 1
		done
	) >"$sources/fetch.log" 2>&1 || {
		tail -5 "$sources/fetch.log" >&2
		return 1
	}
}

unpack() { # unpack NAME: a copy of its sources to work in
	found=$(echo "$sources/${1}"_*.unpacked)
	[ -d "$found" ] || {
		echo "no sources of $1 in $sources" >&2
		return 1
	}
	rm -rf "$directory/work/$1"
	cp -r "$found" "$directory/work/$1"
	cp "$found/debian/copyright" "$directory/licenses/$1.txt"
	package=${found##*/}
	package=${package%.unpacked}
	echo "$1 ${package#*_}" >>"$stamp.new"
	cd "$directory/work/$1"
}

zlib() {
	unpack zlib
	CC=$directory/cc AR=$directory/ar CHOST=$arch-linux-gnu CFLAGS="-O2 -fPIC" ./configure --static --prefix="$directory"
	make -s -j2 libz.a
	cp libz.a "$directory/lib/"
	cp zlib.h zconf.h "$directory/include/"
}

cjson() {
	unpack cjson
	"$directory/cc" -O2 -c cJSON.c -o cJSON.o
	"$directory/ar" rcs "$directory/lib/libcjson.a" cJSON.o
	mkdir -p "$directory/include/cjson"
	cp cJSON.h "$directory/include/cjson/"
}

# The amalgamation is made with tclsh; without threads and loadable code, as imports use it.
sqlite() {
	unpack sqlite3
	CC=gcc ./configure --disable-tcl
	make -s sqlite3.c
	"$directory/cc" -O2 -DSQLITE_THREADSAFE=0 -DSQLITE_OMIT_LOAD_EXTENSION -DSQLITE_DQS=0 -c sqlite3.c -o sqlite3.o
	"$directory/ar" rcs "$directory/lib/libsqlite3.a" sqlite3.o
	cp sqlite3.h "$directory/include/"
}

libpfm() {
	unpack libpfm4
	make -s -j2 lib ARCH="$(echo "$arch" | sed s/aarch64/arm64/)" CC="$directory/cc" AR="$directory/ar" CONFIG_PFMLIB_SHARED=n \
		CONFIG_PFMLIB_NOPYTHON=y DBG= OPTIM=-O2
	cp lib/libpfm.a "$directory/lib/"
	cp -r include/perfmon "$directory/include/"
}

# Only constants: trainprof reads DWARF itself.
dwarf() {
	unpack elfutils
	cp libdw/dwarf.h "$directory/include/"
	rm "$directory/licenses/elfutils.txt" # nothing of it is in the program
	sed -i /^elfutils/d "$stamp.new"
}

command -v tclsh >/dev/null || {
	echo "missing: tclsh (Debian: tcl), which puts SQLite's sources together" >&2
	exit 1
}
: >"$stamp.new"
for name in zlib cjson sqlite3 libpfm4 elfutils; do
	set -- "$sources/$name"_*.unpacked
	[ -d "$1" ] || {
		fetch zlib cjson sqlite3 libpfm4 elfutils
		break
	}
done
for library in zlib cjson sqlite libpfm dwarf; do
	echo "  BUILD   $library for $arch"
	# In the background, because set -e would not hold inside a condition.
	("$library") >"$directory/work/$library.log" 2>&1 &
	wait $! || {
		tail -5 "$directory/work/$library.log" >&2
		exit 1
	}
done
rm -rf "$directory/work"
mv "$stamp.new" "$stamp"
