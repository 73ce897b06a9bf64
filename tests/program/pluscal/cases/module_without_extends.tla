---- MODULE module_without_extends ----
(* --algorithm Alone
variables x = {};
begin
  A: x := {x};
  B: x := {};
end algorithm; *)
====
