#!/usr/bin/env bash
# install-deps.sh with a pretended system: what it asks of apt, and when not: install_deps_test.sh SOURCE_DIR
# shellcheck source=tests/checks/expect.sh
source "$(dirname "${BASH_SOURCE[0]}")/expect.sh"
install=$1/scripts/install-deps.sh
calls=$work/calls
bin=$work/bin
mkdir "$bin"
for tool in bash env; do ln -s "$(command -v "$tool")" "$bin/$tool"; done

# pretend PROGRAM BODY
pretend() {
  printf '#!/usr/bin/env bash\n%s\n' "$2" >"$bin/$1"
  chmod +x "$bin/$1"
}

run_installer() { PATH=$bin "$install" "$@"; }

pretend id 'echo 1000'
expect_fail "another kind of system" "not a Debian or Ubuntu system" run_installer

# shellcheck disable=SC2016  # expanded by the pretended programs
{
  pretend apt-get 'echo "apt-get $*" >>'"$calls"
  pretend dpkg-query 'printf installed'
  expect_pass "everything there" run_installer --tests
  expect_output "everything there: silence" ""
  if [[ -e $calls ]]; then echo "not ok: apt-get was called although nothing was missing" && exit 1; fi

  pretend dpkg-query 'if [[ ${*: -1} == libfmt-dev ]]; then exit 1; fi; printf installed'
  expect_fail "neither root nor sudo" "needs root or sudo to install: libfmt-dev" run_installer

  pretend sudo 'echo "sudo $*" >>'"$calls"'; exec "$@"'
  expect_pass "through sudo" run_installer
  expect_output "says what it installs" "Installing: libfmt-dev"
  expect_pass "asks apt" grep -x "sudo env DEBIAN_FRONTEND=noninteractive apt-get install .* libfmt-dev" "$calls"

  pretend id 'echo 0'
  pretend sudo 'exit 1'
  expect_pass "as root, without sudo" run_installer

  pretend dpkg-query 'printf config-files'
  expect_pass "removed packages are missing" run_installer
  expect_pass "and installed again" grep "^apt-get install .* g++ cmake" "$calls"

  expect_pass "for the tests" run_installer --tests
  expect_pass "a compiler and the test library" grep "^apt-get install .* g++ .* libgtest-dev" "$calls"
  if grep debootstrap "$calls"; then echo "not ok: plain tests do not make a system" && exit 1; fi
  expect_pass "for the slow ones" run_installer --slow-tests
  expect_pass "and what makes a system" grep "^apt-get install .* libgtest-dev .* debootstrap" "$calls"

  pretend apt-get 'exit 100'
  expect_fail "apt fails" "failed: apt-get update" run_installer
}
expect_fail "an unknown option" "usage:" run_installer --everything
