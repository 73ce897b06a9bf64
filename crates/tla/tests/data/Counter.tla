---- MODULE Counter ----
EXTENDS Naturals
CONSTANT Max
(* --algorithm Counter {
  variables n = 0, seen = {};
  define { Small == n <= Max }
  macro bump(k) { n := n + k; }
  procedure twice(by = 1) variables t = 0; { first: bump(by); second: bump(by); return; }
  fair process (Ticker = "t") {
    loop: while (n < Max) {
      with (k \in {1, 2}) { seen := seen \union {k}; };
      either { up: bump(1) } or { call twice(1) };
    }
  }
} *)
====
