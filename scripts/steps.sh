# For scripts that run several steps: `step NAME COMMAND…` runs one and stops the script if it fails. How long each took is printed at
# the end, or after the step that failed.
times=()
step() {
  local name=$1 start=$SECONDS status=0
  shift
  "$@" || status=$?
  times+=("$((SECONDS - start)) s  $name")
  [ "$status" = 0 ] || exit "$status"
}
print_times() { printf '%s\n' "${times[@]+"${times[@]}"}" >&2; }
