#!/bin/sh
# Stands in for java in tests: runs it with the classes of an archive, and TLC, too, with the first compiler alone and a
# collector without threads of its own.
for arg do
  shift
  case "$arg" in
    -XX:+UseParallelGC) set -- "$@" -XX:+UseSerialGC -XX:TieredStopAtLevel=1 ;;
    *) set -- "$@" "$arg" ;;
  esac
done
# Without the warning that the archive does not belong to the jar.
exec "@JAVA@" -Xlog:disable -XX:SharedArchiveFile="@ARCHIVE@" "$@"
