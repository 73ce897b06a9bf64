---- MODULE TwoPhaseCommit ----
(***************************************************************************)
(* The reference for the atomic commitment of one transaction.             *)
(*                                                                         *)
(* The requirements, and where the documents state them:                   *)
(*   R1   guarantees.md 1   records and messages hold only these values    *)
(*   R2   guarantees.md 2   no participant commits while another aborts    *)
(*   R3   guarantees.md 3   commit only if everybody voted yes             *)
(*   R4   guarantees.md 4   the decision is recorded before it is told     *)
(*   R5   guarantees.md 5   a recorded decision never changes              *)
(*   R6   guarantees.md 6   recorded votes and outcomes never change       *)
(*   R7   guarantees.md 7   a vote message says what the log says          *)
(*   R8   guarantees.md 8   outcomes follow from the decision or a "no"    *)
(*   R9   guarantees.md 9   who comes back has a vote on record            *)
(*   R10  guarantees.md 10  a decision is always reached                   *)
(*   R11  guarantees.md 11  a running participant does not hang            *)
(***************************************************************************)
EXTENDS Integers, FiniteSets, Sequences, TLC

CONSTANTS
  Participants,   \* the participants, each a process
  MaxCrashes      \* bound of the model: crashes in all, the coordinator's included

ASSUME MaxCrashes \in Nat /\ "coordinator" \notin Participants

(* --algorithm TwoPhaseCommit
variables
  vote = [p \in Participants |-> "none"],      \* what each participant's log says it voted
  outcome = [p \in Participants |-> "none"],   \* what each participant's log says became of its branch
  decision = "none",                           \* the coordinator's log
  toParticipants = [p \in Participants |-> {}],\* all messages ever sent to each
  toCoordinator = {},                          \* all vote messages ever sent
  down = {},                                   \* the participants that are down
  crashes = 0;

fair process coordinator = "coordinator"
variable votesIn = {};                         \* lost in a crash
begin
Start:
  either
    toParticipants := [p \in Participants |-> toParticipants[p] \union {"prepare"}];
  or
    await crashes < MaxCrashes;
    crashes := crashes + 1;
    goto Recover;
  end either;
Collect:
  while decision = "none" do
    either \* a vote arrives
      with m \in toCoordinator \ votesIn do
        votesIn := votesIn \union {m};
      end with;
    or \* everybody has said yes
      await \A p \in Participants : [from |-> p, vote |-> "yes"] \in votesIn;
      decision := "commit";
    or \* a "no" has arrived, or the time is up
      decision := "abort";
    or
      await crashes < MaxCrashes;
      crashes := crashes + 1;
      votesIn := {};
      goto Recover;
    end either;
  end while;
Announce:
  either
    toParticipants := [p \in Participants |-> toParticipants[p] \union {decision}];
  or
    await crashes < MaxCrashes;
    crashes := crashes + 1;
    votesIn := {};
    goto Recover;
  end either;
Rest: \* a crash after the announcement
  either
    goto Done;
  or
    await crashes < MaxCrashes;
    crashes := crashes + 1;
    votesIn := {};
  end either;
Recover:
  if decision = "none" then
    decision := "abort";
  end if;
  goto Announce;
end process;

fair process participant \in Participants
begin
Work:
  while outcome[self] = "none" \/ [from |-> self, vote |-> vote[self]] \notin toCoordinator do
    either \* asked, and able to commit
      await vote[self] = "none" /\ "prepare" \in toParticipants[self];
      vote[self] := "yes";
    or \* unable, tired of waiting, or told to abort
      await vote[self] = "none";
      vote[self] := "no";
      outcome[self] := "abort";
    or \* send the vote, or send it again
      await vote[self] # "none";
      toCoordinator := toCoordinator \union {[from |-> self, vote |-> vote[self]]};
    or \* hear the decision
      await vote[self] = "yes" /\ outcome[self] = "none";
      with d \in toParticipants[self] \ {"prepare"} do
        outcome[self] := d;
      end with;
    or
      await crashes < MaxCrashes;
      crashes := crashes + 1;
      down := down \union {self};
Restart:- \* may never happen
      down := down \ {self};
      if vote[self] = "none" then
        vote[self] := "no";
        outcome[self] := "abort";
      end if;
    end either;
  end while;
end process;

end algorithm; *)
\* BEGIN TRANSLATION (chksum(pcal) = "4da44dfb" /\ chksum(tla) = "9ad5ef3f")
VARIABLES pc, vote, outcome, decision, toParticipants, toCoordinator, down, 
          crashes, votesIn

vars == << pc, vote, outcome, decision, toParticipants, toCoordinator, down, 
           crashes, votesIn >>

ProcSet == {"coordinator"} \cup (Participants)

Init == (* Global variables *)
        /\ vote = [p \in Participants |-> "none"]
        /\ outcome = [p \in Participants |-> "none"]
        /\ decision = "none"
        /\ toParticipants = [p \in Participants |-> {}]
        /\ toCoordinator = {}
        /\ down = {}
        /\ crashes = 0
        (* Process coordinator *)
        /\ votesIn = {}
        /\ pc = [self \in ProcSet |-> CASE self = "coordinator" -> "Start"
                                        [] self \in Participants -> "Work"]

Start == /\ pc["coordinator"] = "Start"
         /\ \/ /\ toParticipants' = [p \in Participants |-> toParticipants[p] \union {"prepare"}]
               /\ pc' = [pc EXCEPT !["coordinator"] = "Collect"]
               /\ UNCHANGED crashes
            \/ /\ crashes < MaxCrashes
               /\ crashes' = crashes + 1
               /\ pc' = [pc EXCEPT !["coordinator"] = "Recover"]
               /\ UNCHANGED toParticipants
         /\ UNCHANGED << vote, outcome, decision, toCoordinator, down, votesIn >>

Collect == /\ pc["coordinator"] = "Collect"
           /\ IF decision = "none"
                 THEN /\ \/ /\ \E m \in toCoordinator \ votesIn:
                                 votesIn' = (votesIn \union {m})
                            /\ pc' = [pc EXCEPT !["coordinator"] = "Collect"]
                            /\ UNCHANGED <<decision, crashes>>
                         \/ /\ \A p \in Participants : [from |-> p, vote |-> "yes"] \in votesIn
                            /\ decision' = "commit"
                            /\ pc' = [pc EXCEPT !["coordinator"] = "Collect"]
                            /\ UNCHANGED <<crashes, votesIn>>
                         \/ /\ decision' = "abort"
                            /\ pc' = [pc EXCEPT !["coordinator"] = "Collect"]
                            /\ UNCHANGED <<crashes, votesIn>>
                         \/ /\ crashes < MaxCrashes
                            /\ crashes' = crashes + 1
                            /\ votesIn' = {}
                            /\ pc' = [pc EXCEPT !["coordinator"] = "Recover"]
                            /\ UNCHANGED decision
                 ELSE /\ pc' = [pc EXCEPT !["coordinator"] = "Announce"]
                      /\ UNCHANGED << decision, crashes, votesIn >>
           /\ UNCHANGED << vote, outcome, toParticipants, toCoordinator, down >>

Announce == /\ pc["coordinator"] = "Announce"
            /\ \/ /\ toParticipants' = [p \in Participants |-> toParticipants[p] \union {decision}]
                  /\ pc' = [pc EXCEPT !["coordinator"] = "Rest"]
                  /\ UNCHANGED <<crashes, votesIn>>
               \/ /\ crashes < MaxCrashes
                  /\ crashes' = crashes + 1
                  /\ votesIn' = {}
                  /\ pc' = [pc EXCEPT !["coordinator"] = "Recover"]
                  /\ UNCHANGED toParticipants
            /\ UNCHANGED << vote, outcome, decision, toCoordinator, down >>

Rest == /\ pc["coordinator"] = "Rest"
        /\ \/ /\ pc' = [pc EXCEPT !["coordinator"] = "Done"]
              /\ UNCHANGED <<crashes, votesIn>>
           \/ /\ crashes < MaxCrashes
              /\ crashes' = crashes + 1
              /\ votesIn' = {}
              /\ pc' = [pc EXCEPT !["coordinator"] = "Recover"]
        /\ UNCHANGED << vote, outcome, decision, toParticipants, toCoordinator, 
                        down >>

Recover == /\ pc["coordinator"] = "Recover"
           /\ IF decision = "none"
                 THEN /\ decision' = "abort"
                 ELSE /\ TRUE
                      /\ UNCHANGED decision
           /\ pc' = [pc EXCEPT !["coordinator"] = "Announce"]
           /\ UNCHANGED << vote, outcome, toParticipants, toCoordinator, down, 
                           crashes, votesIn >>

coordinator == Start \/ Collect \/ Announce \/ Rest \/ Recover

Work(self) == /\ pc[self] = "Work"
              /\ IF outcome[self] = "none" \/ [from |-> self, vote |-> vote[self]] \notin toCoordinator
                    THEN /\ \/ /\ vote[self] = "none" /\ "prepare" \in toParticipants[self]
                               /\ vote' = [vote EXCEPT ![self] = "yes"]
                               /\ pc' = [pc EXCEPT ![self] = "Work"]
                               /\ UNCHANGED <<outcome, toCoordinator, down, crashes>>
                            \/ /\ vote[self] = "none"
                               /\ vote' = [vote EXCEPT ![self] = "no"]
                               /\ outcome' = [outcome EXCEPT ![self] = "abort"]
                               /\ pc' = [pc EXCEPT ![self] = "Work"]
                               /\ UNCHANGED <<toCoordinator, down, crashes>>
                            \/ /\ vote[self] # "none"
                               /\ toCoordinator' = (toCoordinator \union {[from |-> self, vote |-> vote[self]]})
                               /\ pc' = [pc EXCEPT ![self] = "Work"]
                               /\ UNCHANGED <<vote, outcome, down, crashes>>
                            \/ /\ vote[self] = "yes" /\ outcome[self] = "none"
                               /\ \E d \in toParticipants[self] \ {"prepare"}:
                                    outcome' = [outcome EXCEPT ![self] = d]
                               /\ pc' = [pc EXCEPT ![self] = "Work"]
                               /\ UNCHANGED <<vote, toCoordinator, down, crashes>>
                            \/ /\ crashes < MaxCrashes
                               /\ crashes' = crashes + 1
                               /\ down' = (down \union {self})
                               /\ pc' = [pc EXCEPT ![self] = "Restart"]
                               /\ UNCHANGED <<vote, outcome, toCoordinator>>
                    ELSE /\ pc' = [pc EXCEPT ![self] = "Done"]
                         /\ UNCHANGED << vote, outcome, toCoordinator, down, 
                                         crashes >>
              /\ UNCHANGED << decision, toParticipants, votesIn >>

Restart(self) == /\ pc[self] = "Restart"
                 /\ down' = down \ {self}
                 /\ IF vote[self] = "none"
                       THEN /\ vote' = [vote EXCEPT ![self] = "no"]
                            /\ outcome' = [outcome EXCEPT ![self] = "abort"]
                       ELSE /\ TRUE
                            /\ UNCHANGED << vote, outcome >>
                 /\ pc' = [pc EXCEPT ![self] = "Work"]
                 /\ UNCHANGED << decision, toParticipants, toCoordinator, 
                                 crashes, votesIn >>

participant(self) == Work(self) \/ Restart(self)

(* Allow infinite stuttering to prevent deadlock on termination. *)
Terminating == /\ \A self \in ProcSet: pc[self] = "Done"
               /\ UNCHANGED vars

Next == coordinator
           \/ (\E self \in Participants: participant(self))
           \/ Terminating

Spec == /\ Init /\ [][Next]_vars
        /\ WF_vars(coordinator)
        /\ \A self \in Participants : WF_vars((pc[self] # "Restart") /\ participant(self))

Termination == <>(\A self \in ProcSet: pc[self] = "Done")

\* END TRANSLATION 

\* covers R1
TypeOK ==
  /\ vote \in [Participants -> {"none", "yes", "no"}]
  /\ outcome \in [Participants -> {"none", "commit", "abort"}]
  /\ decision \in {"none", "commit", "abort"}
  /\ toParticipants \in [Participants -> SUBSET {"prepare", "commit", "abort"}]
  /\ toCoordinator \subseteq [from : Participants, vote : {"yes", "no"}]
  /\ down \subseteq Participants
  /\ crashes \in 0..MaxCrashes
  /\ votesIn \subseteq toCoordinator
  /\ pc \in [Participants \union {"coordinator"} ->
               {"Start", "Collect", "Announce", "Rest", "Recover", "Work", "Restart", "Done"}]

\* covers R2
Atomicity ==
  ~ \E p, q \in Participants : outcome[p] = "commit" /\ outcome[q] = "abort"

\* covers R3
CommitOnlyIfAllYes ==
  decision = "commit" \/ (\E p \in Participants : outcome[p] = "commit")
    => \A p \in Participants : vote[p] = "yes"

\* covers R4
DecisionRecordedFirst ==
  \A p \in Participants : \A d \in {"commit", "abort"} :
    d \in toParticipants[p] => decision = d

\* covers R5
DecisionStable == [][decision # "none" => decision' = decision]_decision

\* covers R10
EventuallyDecided == <>(decision # "none")

\* covers R11
RunningSettles ==
  \A p \in Participants :
    (p \notin down /\ outcome[p] = "none") ~> (p \in down \/ outcome[p] # "none")

\* covers R6
VoteAndOutcomeStable ==
  [][\A p \in Participants :
       /\ vote[p] # "none" => vote'[p] = vote[p]
       /\ outcome[p] # "none" => outcome'[p] = outcome[p]]_<<vote, outcome>>

\* covers R7
VotesAsRecorded == \A m \in toCoordinator : vote[m.from] = m.vote

\* covers R8
OutcomeFollowsDecision ==
  \A p \in Participants :
    /\ outcome[p] = "commit" => decision = "commit"
    /\ outcome[p] = "abort" => decision = "abort" \/ vote[p] = "no"

\* covers R8
NoVoterAborted == \A p \in Participants : vote[p] = "no" => outcome[p] = "abort"

\* covers R9
ReturnsWithVote ==
  [][\A p \in Participants : p \in down /\ p \notin down' => vote'[p] # "none"]_<<vote, down>>

\* Everybody committed.
WitnessAllCommitted == \A p \in Participants : outcome[p] = "commit"

\* Everybody voted yes, and the transaction was aborted all the same.
WitnessYesAborted == \A p \in Participants : vote[p] = "yes" /\ outcome[p] = "abort"

\* The coordinator decided without the vote of a participant that is down.
WitnessAbortedWithoutVote ==
  decision = "abort" /\ \E p \in down : vote[p] = "none"

\* One participant committed while another that had voted yes is down.
WitnessSettledWhileDown ==
  \E p, q \in Participants : p \in down /\ outcome[p] = "none" /\ outcome[q] = "commit"

\* Everybody committed although there were crashes.
WitnessCommitAfterCrash ==
  crashes = MaxCrashes /\ \A p \in Participants : outcome[p] = "commit"

====
