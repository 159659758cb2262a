# Prints the host part of a CUDA program for g++, as nvcc splits it off: kernels become empty stubs, device functions and
# variables go, launches become calls. It knows the programs of this folder, not CUDA: definitions start and end in the first column.

function close_of(text) { # whether a definition that starts in this text ends in it
  return text ~ /^}/ || text ~ /}[ \t]*$/ && text ~ /{/
}

skipping { if ($0 ~ /^}/) skipping = 0; next }

/^#include <(cooperative_groups|cuda\/)/ || /^namespace cg =/ { next }

/^__global__/ || kernel {
  kernel = kernel $0 "\n"
  if ($0 !~ /{/) next
  head = kernel
  sub(/{.*/, "", head)
  printf "%s{}\n", head
  skipping = !close_of($0)
  kernel = ""
  next
}

/^__(device|constant)__/ && !/__host__/ {
  if ($0 ~ /^[^=]*\(/) { skipping = !close_of($0); next }
  declaration = $0
  sub(/ *[=;].*/, "", declaration)
  sub(/^__(device|constant)__ [a-z ]*[ \t]/, "", declaration)
  count = split(declaration, names, /, */)
  for (i = 1; i <= count; i++) if (names[i] ~ /^[A-Za-z_]+$/) print "SYMBOL(" names[i] ")"
  next
}

{
  if (match($0, /[A-Za-z_][A-Za-z_0-9]*(<[^<>()]*>)?<<</)) {
    before = substr($0, 1, RSTART - 1)
    name = substr($0, RSTART, RLENGTH - 3)
    rest = substr($0, RSTART + RLENGTH)
    at = index(rest, ">>>(")
    print before "launch(" name ", Configuration(" substr(rest, 1, at - 1) "))(" substr(rest, at + 4)
    next
  }
  print
}
