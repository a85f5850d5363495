#!/usr/bin/env bash
# The .deb that cpack makes installs on a fresh minimal Debian and works there: deb_test.sh BUILD_DIR
# Needs root, debootstrap and the archive that this machine installs from; skipped (77), with the reason, without them.
set -euo pipefail
build=$(cd "${1:?usage: deb_test.sh BUILD_DIR}" && pwd)

skip() {
  echo "skipped: $*"
  exit 77
}

fail() {
  echo "not ok: $*"
  exit 1
}

# shellcheck disable=SC1091  # a system file, not part of the project
release=$(. /etc/os-release && echo "$ID-$VERSION_CODENAME")
[[ $release == debian-* ]] || skip "this is not Debian"
release=${release#debian-}
(($(id -u) == 0)) || skip "a new root directory needs root"
for tool in debootstrap dpkg-shlibdeps cpack; do
  command -v "$tool" >/dev/null || skip "$tool is not installed (scripts/install-deps.sh --slow-tests)"
done
# shellcheck disable=SC2016  # apt expands them
archive=$(apt-get indextargets --format '$(SITE)|$(RELEASE)|$(COMPONENT)' |
  awk -F '|' -v release="$release" '$3 == "main" && $2 == release { print $1; exit }')
[[ -n $archive ]] || skip "no archive of $release is set up here"

work=$(mktemp -d)
machine=$work/machine
cleanup() {
  umount -l "$machine/proc" 2>/dev/null || true
  rm -rf "$work"
}
trap cleanup EXIT

cpack --config "$build/CPackConfig.cmake" -B "$work/package" >"$work/log" 2>&1 || fail "cpack: $(tail -5 "$work/log")"
package=$(echo "$work"/package/sluice_*.deb)
dpkg-deb --field "$package" Package Version Architecture Installed-Size Depends

# What the program is linked with has to come by itself, and nothing that only a build needs.
depends=$(dpkg-deb --field "$package" Depends)
[[ $depends == *libopenblas0* && $depends == *libfmt* ]] || fail "Depends lacks a library that sluice is linked with"
[[ $depends != *-dev* ]] || fail "Depends names a package for building"

debootstrap --variant=minbase "$release" "$machine" "$archive" >"$work/log" 2>&1 ||
  skip "debootstrap failed: $(tail -1 "$work/log")"
mount -t proc proc "$machine/proc" || skip "nothing can be mounted here"
cp /etc/resolv.conf "$machine/etc/" # names are looked up, and the archive trusted, as here
mkdir -p "$machine/etc/ssl" && cp -a /etc/ssl/certs "$machine/etc/ssl/"
cp "$package" "$machine/tmp/sluice.deb"

# on_machine COMMAND...
on_machine() {
  chroot "$machine" /usr/bin/env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 \
    DEBIAN_FRONTEND=noninteractive "$@"
}

on_machine apt-get update -qq >"$work/log" 2>&1 || skip "apt-get update failed: $(tail -1 "$work/log")"
on_machine apt-get install -y -qq --no-install-recommends /tmp/sluice.deb >"$work/log" 2>&1 ||
  fail "apt-get install: $(tail -5 "$work/log")"

on_machine sluice doctor
on_machine sluice init tiny-elementwise /tmp/model --quiet >/dev/null || fail "sluice init"
on_machine sluice generate /tmp/model --ids 1,2,3 --max-tokens 4 --quiet || fail "sluice generate"
on_machine ldconfig -p | grep 'libsluice\.so\.' >/dev/null || fail "the shared library is not found"
for file in share/man/man1/sluice.1 share/bash-completion/completions/sluice include/sluice/sluice.h; do
  [[ -n $(find "$machine/usr/$file"* 2>/dev/null) ]] || fail "usr/$file is not there"
done
on_machine apt-get remove -y -qq sluice >"$work/log" 2>&1 || fail "apt-get remove: $(tail -5 "$work/log")"
[[ ! -e $machine/usr/bin/sluice ]] || fail "removing it leaves the program"
