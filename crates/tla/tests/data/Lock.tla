Here is the module you asked for: it's "complete" (* not a comment

---------------------------- MODULE Lock ------------------------------------
EXTENDS Naturals, FiniteSets, TLC
CONSTANTS Procs, F(_, _)
\* The algorithm below is PlusCal; TypeOK is generated later.
RECURSIVE Sum(_)
Sum(S) == IF S = {} THEN 0 ELSE LET x == CHOOSE y \in S : TRUE IN x + Sum(S \ {x})

(*--fair algorithm Lock
variables lock = FALSE, q = [p \in Procs |-> {x : x \in Procs}];
define
  \* covers R1
  Safe == \A p, r \in Procs : p # r => ~(pc[p] = "cs" /\ pc[r] = "cs")
  Free == ~lock
end define;
macro take(l) begin await ~l; l := TRUE; end macro;
fair+ process p \in Procs
variables mine = 0;
begin
  ncs: while TRUE do
    try: await Free; take(lock); mine := Sum({1, 2});
    cs:+ skip;
    rel: lock := FALSE;
    end while;
end process;
end algorithm; *)
\* BEGIN TRANSLATION (chksum(pcal) = "a" /\ chksum(tla) = "b")
VARIABLES lock, q, pc, mine

(* define statement *)
Safe == \A p, r \in Procs : p # r => ~(pc[p] = "cs" /\ pc[r] = "cs")
Free == ~lock

vars == << lock, q, pc, mine >>
Init == /\ lock = FALSE
        /\ pc = [self \in Procs |-> "ncs"]
Next == \E self \in Procs : lock' = ~lock /\ UNCHANGED << pc, q, mine >>
Spec == /\ Init /\ [][Next]_vars
        /\ WF_vars(Next)
\* END TRANSLATION

ASSUME Pos == Cardinality(Procs) > 0
a \prec b == a < b
f[x \in 1..3, y \in Procs] == x
LOCAL M == INSTANCE Other WITH x <- lock

\* covers R1, R3
\* and more
TypeOK ==
  /\ lock \in BOOLEAN   \* tail "TypeOK"
  /\ LET z == 3
         g(w) == w \prec z
     IN g(4)
Uses == TypeOK /\ f[1, 2].lock = 3
THEOREM Spec => []TypeOK
PROOF
<1>1. DEFINE X == 3
<1> QED BY Pos
Last == 4 (* tail *)
=============================================================================
Some prose ==== after the MODULE, with "quotes
