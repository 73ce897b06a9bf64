---- MODULE QuorumVote ----
(* One decision by majority vote. Shows: p-syntax, two process sets, messages
   as a set that only grows, with, SYMMETRY over several sets.
   R1  No two learners decide differently.
   R2  Only a proposed value is voted for or decided.
   R3  A decision rests on the votes of a majority for that value.
   Atomicity: a learner hears of one vote a step, so two learners may hear of
   different majorities in different orders. What is proposed does not change,
   so it is chosen in the initial state.
   Bounds: a voter votes at most once; a learner may give up at any time, as a
   split vote or a crashed voter would keep it waiting for ever.
   SYMMETRY: voters, values and learners differ in name only. *)
EXTENDS Naturals, FiniteSets, TLC

CONSTANTS Voters, Values, Learners, None

Majority(S) == 2 * Cardinality(S) > Cardinality(Voters)
Perms == Permutations(Voters) \cup Permutations(Values) \cup Permutations(Learners)
Messages == [voter : Voters, value : Values]
VotesFor(v, msgs) == {m.voter : m \in {n \in msgs : n.value = v}}

(* --algorithm QuorumVote
variables proposed \in SUBSET Values \ {{}}, votes = {};

process voter \in Voters
begin
  vote:
    either
      with v \in proposed do
        votes := votes \cup {[voter |-> self, value |-> v]};
      end with;
    or
      skip;                    \* crashes before voting
    end either;
end process;

process learner \in Learners
variables heard = {}, decision = None;
begin
  learn:
    either
      with m \in votes \ heard do
        heard := heard \cup {m};
        if Majority(VotesFor(m.value, heard)) then
          decision := m.value;
        else
          goto learn;
        end if;
      end with;
    or
      skip;                    \* gives up
    end either;
end process;
end algorithm; *)
\* BEGIN TRANSLATION - the hash of the PCal code: PCal-02885e61eabc94c527694d9dfa1d5faf
VARIABLES proposed, votes, pc, heard, decision

vars == << proposed, votes, pc, heard, decision >>

ProcSet == (Voters) \cup (Learners)

Init == (* Global variables *)
        /\ proposed \in SUBSET Values \ {{}}
        /\ votes = {}
        (* Process learner *)
        /\ heard = [self \in Learners |-> {}]
        /\ decision = [self \in Learners |-> None]
        /\ pc = [self \in ProcSet |-> CASE self \in Voters -> "vote"
                                        [] self \in Learners -> "learn"]

vote(self) == /\ pc[self] = "vote"
              /\ \/ /\ \E v \in proposed:
                         votes' = (votes \cup {[voter |-> self, value |-> v]})
                 \/ /\ TRUE
                    /\ votes' = votes
              /\ pc' = [pc EXCEPT ![self] = "Done"]
              /\ UNCHANGED << proposed, heard, decision >>

voter(self) == vote(self)

learn(self) == /\ pc[self] = "learn"
               /\ \/ /\ \E m \in votes \ heard[self]:
                          /\ heard' = [heard EXCEPT ![self] = heard[self] \cup {m}]
                          /\ IF Majority(VotesFor(m.value, heard'[self]))
                                THEN /\ decision' = [decision EXCEPT ![self] = m.value]
                                     /\ pc' = [pc EXCEPT ![self] = "Done"]
                                ELSE /\ pc' = [pc EXCEPT ![self] = "learn"]
                                     /\ UNCHANGED decision
                  \/ /\ TRUE
                     /\ pc' = [pc EXCEPT ![self] = "Done"]
                     /\ UNCHANGED <<heard, decision>>
               /\ UNCHANGED << proposed, votes >>

learner(self) == learn(self)

(* Allow infinite stuttering to prevent deadlock on termination. *)
Terminating == /\ \A self \in ProcSet: pc[self] = "Done"
               /\ UNCHANGED vars

Next == (\E self \in Voters: voter(self))
           \/ (\E self \in Learners: learner(self))
           \/ Terminating

Spec == Init /\ [][Next]_vars

Termination == <>(\A self \in ProcSet: pc[self] = "Done")

\* END TRANSLATION - the hash of the generated TLA code (remove to silence divergence warnings): TLA-a072f6986d9383c94f048e7df1482451

\* the type of every variable
TypeOK == /\ proposed \in SUBSET Values \ {{}}
          /\ votes \subseteq Messages
          /\ heard \in [Learners -> SUBSET Messages]
          /\ decision \in [Learners -> Values \cup {None}]
          /\ DOMAIN pc = Voters \cup Learners
          /\ \A x \in Voters : pc[x] \in {"vote", "Done"}
          /\ \A l \in Learners : pc[l] \in {"learn", "Done"}

Decided == {decision[l] : l \in Learners} \ {None}

\* covers R1
Agreement == \A v, w \in Decided : v = w

\* covers R2
OnlyProposed == {m.value : m \in votes} \cup Decided \subseteq proposed

\* covers R3
BackedByMajority == \A v \in Decided : Majority(VotesFor(v, votes))

\* two learners have decided on what they heard from different voters
WitnessTwoMajorities == \E l, k \in Learners :
    decision[l] # None /\ decision[k] # None /\ heard[l] # heard[k]

\* the vote is split, and no learner can ever decide
WitnessSplit == /\ \A x \in Voters : pc[x] = "Done"
                /\ votes # {} /\ \A v \in Values : ~Majority(VotesFor(v, votes))
====
