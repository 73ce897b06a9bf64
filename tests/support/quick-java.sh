#!/bin/sh
# A `java` for tests: uses an archive of loaded classes, and replaces TLC's parallel collector with the serial one and the
# C1 compiler.
for arg do
  shift
  case "$arg" in
    -XX:+UseParallelGC) set -- "$@" -XX:+UseSerialGC -XX:TieredStopAtLevel=1 ;;
    *) set -- "$@" "$arg" ;;
  esac
done
# Without the warning that the archive does not belong to the jar.
exec "@JAVA@" -Xlog:disable -XX:SharedArchiveFile="@ARCHIVE@" "$@"
