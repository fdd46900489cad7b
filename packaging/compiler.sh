#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Installs a C compiler that targets an old glibc and other processors, and writes wrappers for it.
# compiler.sh ARCH DIRECTORY: afterwards DIRECTORY/cc and DIRECTORY/ar exist.
#
# The compiler is clang as the PyPI package "ziglang" ships it, with the headers and symbol lists of
# each glibc since 2.17. 2.17 is that of manylinux2014: CentOS 7 and everything newer.
set -eu
arch=$1
mkdir -p "$2"
directory=$(cd "$2" && pwd)
version=0.13.0
environment=$directory/../compiler-$version
if [ ! -x "$environment/bin/python" ]; then
	rm -rf "$environment"
	python3 -m venv "$environment"
	"$environment/bin/pip" install -q "ziglang==$version"
fi
zig=$("$environment/bin/python" -c 'import os, ziglang; print(os.path.join(os.path.dirname(ziglang.__file__), "zig"))')
write() { # write NAME COMMAND: a wrapper
	printf '#!/bin/sh\nexec "%s" %s "$@"\n' "$zig" "$2" >"$directory/$1.new"
	chmod 755 "$directory/$1.new"
	mv "$directory/$1.new" "$directory/$1"
}
write cc "cc -target $arch-linux-gnu.2.17"
write ar ar
