# SPDX-License-Identifier: Apache-2.0
"""`python -m trainprof run -- ...` starts the program that was installed with this package."""

import os
import shutil
import sys
import sysconfig


def candidates():
    """Folders in which pip installs programs: this environment, this user, `pip install --target`."""
    yield sysconfig.get_path("scripts")
    for scheme in ("posix_user", "posix_prefix", "posix_local"):
        if scheme in sysconfig.get_scheme_names():
            yield sysconfig.get_path("scripts", scheme)
    package = os.path.dirname(os.path.abspath(__file__))
    yield os.path.join(os.path.dirname(package), "bin")
    # In an installed tree (`make install`): PREFIX/share/trainprof/python/trainprof.
    yield os.path.join(package, "..", "..", "..", "..", "bin")


def find_program():
    for folder in candidates():
        path = os.path.join(folder, "trainprof")
        if os.path.isfile(path) and os.access(path, os.X_OK):
            return os.path.normpath(path)
    return shutil.which("trainprof")


def main():
    program = find_program()
    if program is None:
        sys.exit("trainprof: the program is not installed\nnext: pip install --force-reinstall trainprof")
    os.execv(program, [program] + sys.argv[1:])


if __name__ == "__main__":
    main()
