#!/bin/sh
# Stands in for java in tests: what the real one printed, wrote and ended with is remembered by the content of the files
# in the working folder and by the arguments, temporary paths left out. Runs few programs: each start takes a millisecond.
set -u
args=""
skip=0
for arg in "$@"; do
  case "$skip$arg" in
    1*) skip=0; continue ;;
    0-metadir) skip=1; continue ;;
    # The size of the heap, which differs on workers of a fleet, changes no answer.
    0-Djava.io.tmpdir=* | 0-Xmx*) continue ;;
  esac
  args="$args $arg"
done
key=$( { printf '%s' "$args"; cat ./*.tla ./*.cfg 2>/dev/null; } | sha256sum)
entry="@MEMORY@/${key%% *}"
# What TLC says of its folders must be of the folders of this run.
here=${PWD%/*}
if [ ! -d "$entry" ]; then
  new="@MEMORY@/.new-$$-${key%% *}"
  mkdir "$new"
  "@JAVA@" "$@" >"$new/stdout" 2>"$new/stderr"
  status=$?
  # Killed with the run that started it: no result to remember. SANY and TLC have 150, 151 and 255 of their own.
  case $status in
    130 | 137 | 143) rm -rf "$new"; exit "$status" ;;
  esac
  printf '%s\n' "$status" >"$new/status"
  cp ./*.tla "$new/" 2>/dev/null
  sed -i "s#$here#@@HERE@@#g" "$new/stdout" "$new/stderr"
  mv -T "$new" "$entry" 2>/dev/null || rm -rf "$new"
fi
sed "s#@@HERE@@#$here#g" "$entry/stdout"
[ ! -s "$entry/stderr" ] || sed "s#@@HERE@@#$here#g" "$entry/stderr" >&2
# A translation that cannot be written is no translation.
cp "$entry"/*.tla . || exit 77
read -r status <"$entry/status"
exit "$status"
