#!/bin/sh
# Stands for Claude Code: says a version, and otherwise does what `does.sh` beside it says.
here=$(dirname "$0")
if [ "$1" = --version ]; then
  cat "$here/version"
  exit 0
fi
. "$here/does.sh"
