#!/bin/sh
# Installs the pi-ts program that fits this machine:
#
#   sh install.sh --base-url URL [--dir FOLDER] [--target NAME]
#
# URL is the folder that a release's files are in (also PI_TS_BASE_URL), FOLDER where pi-ts goes (also PI_TS_INSTALL_DIR,
# default ~/.local/bin). NAME, such as linux-x64-musl, is only needed where the guess is wrong. Needs curl or wget, and no root.
#
# All of it is functions, and the call stands in the last line: of a script that was cut on its way nothing runs.

# A release puts its own address here.
default_base_url=""

say() {
  printf '%s\n' "$*"
}

fail() {
  printf 'install.sh: %s\n' "$1" >&2
  shift
  for hint in "$@"; do printf '  %s\n' "$hint" >&2; done
  exit 1
}

has() {
  command -v "$1" >/dev/null 2>&1
}

usage() {
  say "usage: install.sh --base-url URL [--dir FOLDER] [--target NAME]"
}

# Sets base_url, dir and target.
parse_arguments() {
  base_url=${PI_TS_BASE_URL:-$default_base_url}
  dir=${PI_TS_INSTALL_DIR:-${HOME:+$HOME/.local/bin}}
  target=""
  while [ $# -gt 0 ]; do
    case $1 in
      --help | -h)
        usage
        exit 0
        ;;
      --base-url | --dir | --target)
        [ $# -ge 2 ] || fail "$1 needs a value"
        case $1 in
          --base-url) base_url=$2 ;;
          --dir) dir=$2 ;;
          --target) target=$2 ;;
        esac
        shift 2
        ;;
      --base-url=* | --dir=* | --target=*)
        # The same in one word.
        flag=${1%%=*}
        value=${1#*=}
        shift
        set -- "$flag" "$value" "$@"
        ;;
      *) fail "unknown argument: $1" "$(usage)" ;;
    esac
  done
  base_url=${base_url%/}
  [ -n "$base_url" ] || fail "where from? Give the address of a release's files with --base-url URL"
  [ -n "$dir" ] || fail "where to? There is no HOME, so give a folder with --dir FOLDER"
  case $dir in
    /*) ;;
    *) dir=${PWD%/}/$dir ;;
  esac
  tidy_dir
}

# Without what means nothing in a path, so that a slash in it is a folder, and the PATH's way to write it is found.
tidy_dir() {
  while :; do
    case $dir in
      ?*//*) dir=${dir%//*}/${dir##*//} ;;
      */./*) dir=${dir%/./*}/${dir##*/./} ;;
      */.) dir=${dir%.} ;;
      ?*/) dir=${dir%/} ;;
      *) return ;;
    esac
  done
}

# The name of the build for this machine, as in scripts/release/targets.ts.
find_target() {
  system=$(uname -s)
  machine=$(uname -m)
  case $machine in
    x86_64 | amd64) arch=x64 ;;
    aarch64 | arm64) arch=arm64 ;;
    *) unsupported "$system on $machine" ;;
  esac
  case $system in
    Linux)
      if [ "$(getconf LONG_BIT 2>/dev/null)" = 32 ]; then unsupported "$system on $machine with 32-bit programs"; fi
      if uses_musl; then
        say "linux-$arch-musl"
      elif [ "$arch" = x64 ] && [ -r /proc/cpuinfo ] && ! grep -qw avx2 /proc/cpuinfo; then
        say linux-x64-baseline
      else
        say "linux-$arch"
      fi
      ;;
    Darwin)
      # A shell under Rosetta takes the machine for an Intel one.
      if [ "$(sysctl -n sysctl.proc_translated 2>/dev/null)" = 1 ]; then arch=arm64; fi
      say "macos-$arch"
      ;;
    MINGW* | MSYS* | CYGWIN*)
      # Windows on ARM runs it too.
      say windows-x64
      ;;
    *) unsupported "$system on $machine" ;;
  esac
}

unsupported() {
  fail "there is no pi-ts for $1" "There is one for Linux and macOS on x64 and arm64, and for Windows on x64; --target NAME takes one all the same."
}

# By what ldd says of itself. Both C libraries can be there, and glibc's own loader is the better sign then.
uses_musl() {
  case $(ldd --version 2>&1) in
    *musl*) return 0 ;;
    *GLIBC* | *GNU* | *glibc*) return 1 ;;
  esac
  for loader in /lib64/ld-linux-*.so.* /lib/ld-linux-*.so.*; do
    if [ -e "$loader" ]; then return 1; fi
  done
  for loader in /lib/ld-musl-*.so.1; do
    if [ -e "$loader" ]; then return 0; fi
  done
  return 1
}

# download URL FILE. In the background, since a shell that waits for `wait` hears signals at once.
download() {
  if has curl; then
    curl -fsSL --retry 2 --connect-timeout 30 --speed-limit 100 --speed-time 60 -o "$2" "$1" </dev/null &
  elif has wget; then
    # GNU's goes on trying twenty times, and others do not know how to be told. A BusyBox that was built without -T crashes over it.
    case $(wget --version 2>&1) in *GNU*) tries=--tries=3 ;; *) tries="" ;; esac
    case $(wget --help 2>&1) in *-T*) limit=-T60 ;; *) limit="" ;; esac
    wget -q ${limit:+"$limit"} ${tries:+"$tries"} -O "$2" "$1" </dev/null &
  else
    fail "it takes curl or wget to download, and neither is here"
  fi
  downloading=$!
  outcome=0
  wait "$downloading" || outcome=$?
  downloading=""
  [ "$outcome" = 0 ] || fail "could not download $1" "Nothing was installed."
}

sum_of() {
  if has sha256sum; then
    sum=$(sha256sum <"$1")
  elif has shasum; then
    sum=$(shasum -a 256 <"$1")
  else
    fail "it takes sha256sum or shasum to check the download, and neither is here"
  fi
  say "${sum%% *}"
}

# check_sum FILE NAME: against the line of SHA256SUMS for NAME.
check_sum() {
  expected=""
  while read -r listed name; do
    if [ "${name#\*}" = "$2" ]; then expected=$listed; fi
  done <"$work/SHA256SUMS"
  [ -n "$expected" ] || fail "$base_url/SHA256SUMS does not list $2" "Nothing was installed."
  actual=$(sum_of "$1")
  [ "$actual" = "$expected" ] || fail "the download of $2 is broken: its SHA-256 is not the one in SHA256SUMS" \
    "expected $expected" "got      $actual" "Nothing was installed."
}

clean_up() {
  if [ -n "$downloading" ]; then kill "$downloading" 2>/dev/null; fi
  if [ -n "$work" ]; then rm -rf "$work"; fi
  # The folders that were made go too, where nothing was put into them; not all of them may have been made.
  folder=$dir
  while [ "$folder" != "$kept" ]; do
    if [ -d "$folder" ]; then rmdir "$folder" 2>/dev/null || return 0; fi
    folder=${folder%/*}
  done
}

# A folder inside the target one, so that the last step is a rename, which is done whole or not at all.
make_work_folder() {
  while [ ! -d "$kept/" ]; do kept=${kept%/*}; done
  mkdir -p "$dir" 2>/dev/null || fail "cannot make the folder $dir" "Choose another with --dir FOLDER."
  work=$(mktemp -d "$dir/.pi-ts-install.XXXXXX" 2>/dev/null) || fail "cannot write in $dir" "Choose another folder with --dir FOLDER."
}

# Says what is missing before an older version that works is replaced.
check_it_runs() {
  if version=$("$1" --version 2>"$work/error" </dev/null); then return; fi
  reason=$(tail -n 3 "$work/error")
  case $target in
    *-musl) set -- "It needs the C++ library: apk add libstdc++ (as root), or your system's like it." ;;
    *) set -- "Another build may fit: --target NAME." ;;
  esac
  fail "the program for $target does not run here: $reason" "$@" "Nothing was installed."
}

say_about_path() {
  case :$PATH: in
    *":$dir:"*) ;;
    *)
      say "$dir is not on your PATH; add it:"
      say "  export PATH=\"$dir:\$PATH\""
      return
      ;;
  esac
  found=$(command -v pi-ts || true)
  if [ "$found" != "$dir/$program" ]; then say "note: your PATH has another pi-ts first: $found"; fi
}

pi_ts_install() {
  set -eu
  work=""
  downloading=""
  parse_arguments "$@"
  # The deepest folder on the way to the target one that was there before.
  kept=$dir
  [ -n "$target" ] || target=$(find_target) || exit 1

  program=pi-ts
  case $target in windows-*) program=pi-ts.exe ;; esac
  file=pi-ts-$target${program#pi-ts}
  [ ! -d "$dir/$program" ] || fail "$dir/$program is a folder" "Choose another place with --dir FOLDER."

  trap clean_up EXIT
  trap 'exit 129' HUP
  trap 'exit 130' INT
  trap 'exit 143' TERM
  make_work_folder
  download "$base_url/SHA256SUMS" "$work/SHA256SUMS"
  download "$base_url/$file" "$work/$program"
  check_sum "$work/$program" "$file"
  chmod 755 "$work/$program"
  check_it_runs "$work/$program"
  mv -f "$work/$program" "$dir/$program" || fail "cannot put $program into $dir" "Is it running, or read-only?"
  say "installed $version ($target) as $dir/$program"
  say_about_path
}

{ pi_ts_install "$@"; }
