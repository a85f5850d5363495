#!/usr/bin/env bash
# The documents check names paths that are gone and leaves alone what is no path: check_docs_test.sh SOURCE_DIR
# shellcheck disable=SC2016  # the backticks are the documents'
# shellcheck source=tests/checks/expect.sh
source "$(dirname "${BASH_SOURCE[0]}")/expect.sh"
check=$1/tools/check-docs.sh

mkdir -p "$work"/docs/decisions "$work"/src/sluice/base "$work"/tools
printf 'base\nnn\n' >"$work/tools/ladder.txt"
touch "$work"/{test.sh,src/sluice/base/error.h,docs/decisions/one.md,docs/guide.md}

# passes WHAT TEXT: a README with TEXT is fine.
passes() {
  printf 'x\n%s\n' "$2" >"$work/README.md"
  expect_pass "$1" "$check" "$work"
}

# fails WHAT TEXT PATH: a README with TEXT is refused because of PATH.
fails() {
  printf 'x\n%s\n' "$2" >"$work/README.md"
  expect_fail "$1" "README.md:2: no such path: $3" "$check" "$work"
}

passes "paths from the root" '`test.sh`, `./test.sh -R gone/x`, `src/sluice/base/`, [guide](docs/guide.md#part "title")'
passes "paths from src and src/sluice" '`sluice/base/error.h` `base/error.h:12`'
passes "a rung without content" '`nn/` and `src/sluice/nn/`'
passes "addresses" '[a](https://example.org/x.md) [b](#here) `/usr/lib/x.h`'
passes "placeholders" '`src/sluice/<folder>/` `tests/*.cpp` `a/{b,c}` `$HOME/x` `a/…` `gone/f(x)`'
passes "products and neighbours" '`build/dev/x` `out/run` `../shared/DESIGN.md` `--x=a/b` `1/2`'
passes "an example" '```
`gone/file.h`
```'

fails "code" 'see `src/sluice/gone.h`' src/sluice/gone.h
fails "a folder" 'see `gone/`' gone/
fails "a file at the root" 'see `GONE.md`' GONE.md
fails "a command" 'run `tools/gone.sh --all`' tools/gone.sh
fails "a link" 'see [it](docs/gone.md)' docs/gone.md
fails "the second in a line" '`test.sh` and `gone/two.h`' gone/two.h
fails "a file named as a folder" '`test.sh/`' test.sh/

passes "nothing" ''
printf '[home](../../README.md) [two](two.md)\n' >"$work/docs/decisions/one.md"
expect_fail "a link from its own folder" "docs/decisions/one.md:1: no such path: two.md" "$check" "$work"
: >"$work/docs/decisions/one.md"

mkdir "$work/examples"
printf 'int x;\nint y;\n' >"$work/examples/a.cpp"
verbatim='<!-- verbatim: examples/a.cpp -->'
passes "a block that is its file" "$verbatim"'
```cpp
int x;
int y;
```
after'
# differs WHAT TEXT MESSAGE
differs() {
  printf '%s\n' "$2" >"$work/README.md"
  expect_fail "$1" "$3" "$check" "$work"
}
differs "a block with another line" "$verbatim"'
```cpp
int x;
int z;
```' "README.md:1: the block is not examples/a.cpp"
differs "a block that ends early" "$verbatim"'
```cpp
int x;
```' "README.md:1: the block is not examples/a.cpp"
differs "no block" "$verbatim"'

```cpp
int x;
int y;
```' "README.md:1: the block is not examples/a.cpp"
differs "a block of a file that is gone" '<!-- verbatim: examples/b.cpp -->' "README.md:1: no such file: examples/b.cpp"
differs "a program that nobody shows" 'x' "examples/a.cpp: no document shows it"
rm -r "$work/examples"
passes "no programs" ''

printf '`gone/a.h`\n' | tee "$work/CHANGELOG.md" >"$work/docs/log.md"
expect_pass "history may name what is gone" "$check" "$work"

rm -r "$work"/docs "$work"/*.md
expect_fail "nothing to check" "no documents" "$check" "$work"
