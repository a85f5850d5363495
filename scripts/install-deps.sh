#!/usr/bin/env bash
# Installs the Debian or Ubuntu packages Sluice needs; silent and offline when they are all there.
# --runtime (the default): to build and run the program. --tests: to build and run the tests as well, and training over
# several processes (docs/cluster.md); --slow-tests: the slow ones, too.
set -euo pipefail

packages=(g++ cmake ninja-build libhwy-dev libopenblas-dev nlohmann-json3-dev libcli11-dev libfmt-dev
  libpcre2-dev libutf8proc-dev zlib1g-dev libcairo2-dev libbz2-dev liblzma-dev libzstd-dev)

case "${1:---runtime}" in
  --runtime) ;;
  --tests | --slow-tests)
    packages+=(libgtest-dev python3) # Python runs an example that calls the library
    packages+=(libopenmpi-dev openmpi-bin)
    # Other projects find the library, and a package of it is made and installed on a fresh system.
    if [[ $1 == --slow-tests ]]; then packages+=(pkg-config dpkg-dev debootstrap); fi
    # The format check wants exactly this version; where the release has another, the check is skipped.
    # shellcheck disable=SC1091  # a system file, not part of the project
    release=$(. /etc/os-release 2>/dev/null && echo "${ID:-}-${VERSION_ID:-}") || release=unknown
    case "$release" in debian-12 | ubuntu-22.04 | ubuntu-24.04) packages+=(clang-format-14) ;; esac
    # The explorer's pages in a browser. Ubuntu's is no package of this kind; there those tests are skipped.
    if [[ $1 == --slow-tests && $release == debian-* ]]; then packages+=(chromium chromium-driver); fi
    ;;
  *)
    echo "usage: install-deps.sh [--runtime|--tests|--slow-tests]" >&2
    exit 2
    ;;
esac

fail() {
  echo "install-deps.sh: $*" >&2
  exit 1
}

if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
  fail "not a Debian or Ubuntu system; install what these packages provide: ${packages[*]}"
fi

missing=()
for package in "${packages[@]}"; do
  status=$(dpkg-query --show --showformat='${db:Status-Status}' "$package" 2>/dev/null) || status=
  [[ $status == installed ]] || missing+=("$package")
done
if ((${#missing[@]} == 0)); then exit 0; fi

as_root=()
if (($(id -u) != 0)); then
  command -v sudo >/dev/null || fail "needs root or sudo to install: ${missing[*]}"
  as_root=(sudo)
fi

run() {
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive "$@" >/dev/null || fail "failed: $*"
}

echo "Installing: ${missing[*]}"
run apt-get update -qq
run apt-get install -y -qq --no-install-recommends "${missing[@]}"
