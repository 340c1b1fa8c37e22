#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# setup.sh [floor]: installs what the contestants need (Debian packages, and Desktop Commander when
# npm is there) and builds the floor. With `floor` it only does the latter, which needs no network.
# Everything of ours goes to build/bench, or to $BENCH_BUILD.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
build=${BENCH_BUILD:-$here/../../build/bench}
python=${BENCH_PYTHON:-/usr/bin/python3}
mkdir -p "$build"

install_peers() {
    local as_root=()
    [ "$(id -u)" = 0 ] || as_root=(sudo)
    "${as_root[@]}" apt-get -q -o DPkg::Lock::Timeout=600 update
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -y -o DPkg::Lock::Timeout=600 install \
        --no-install-recommends gcc libc6-dev python3 python3-pandas python3-matplotlib python3-ipykernel \
        python3-jupyter-client postgresql odbc-postgresql sqlite3
    if ! command -v npm >/dev/null; then
        echo "setup.sh: no npm here; the benchmark goes without Desktop Commander" >&2
        return
    fi
    # No install scripts: those of this tree phone home or download browsers.
    mkdir -p "$build/peers"
    cp "$here/peers/package.json" "$here/peers/.npmrc" "$build/peers/"
    npm install --prefix "$build/peers" --ignore-scripts --no-audit --no-fund --loglevel=error
}

[ "${1:-}" = floor ] || install_peers
"${CC:-cc}" -std=c17 -D_GNU_SOURCE -O2 -Wall -Wextra -o "$build/floor" "$here/floor/floor.c"
"$python" -I -c 'import py_compile, sys; py_compile.compile(sys.argv[1], sys.argv[2], doraise=True)' \
    "$here/floor/driver.py" "$build/driver.pyc"
"$python" "$here/bench.py" --list
