---- MODULE duplicate_votes_counted ----
\* BUG: the coordinator counts "yes" messages and not the participants that sent them. A message
\* that is delivered twice is counted twice.
EXTENDS Integers, FiniteSets, Sequences, TLC

CONSTANTS
  Participants,   \* the participants, each a process
  MaxCrashes      \* bound of the model: crashes in all, the coordinator's included

(* --algorithm duplicate_votes_counted
variables
  vote = [p \in Participants |-> "none"],      \* what each participant's log says it voted
  outcome = [p \in Participants |-> "none"],   \* what each participant's log says became of its branch
  decision = "none",                           \* the coordinator's log
  toParticipants = [p \in Participants |-> {}],\* all messages ever sent to each
  toCoordinator = {},                          \* all vote messages ever sent
  down = {},                                   \* the participants that are down
  crashes = 0;

fair process coordinator = "coordinator"
variable yesses = 0;                           \* lost in a crash
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
      await yesses < Cardinality(Participants);
      with m \in toCoordinator do
        if m.vote = "yes" then
          yesses := yesses + 1;
        else
          decision := "abort";
        end if;
      end with;
    or \* everybody has said yes
      await yesses = Cardinality(Participants);
      decision := "commit";
    or \* the time is up
      decision := "abort";
    or
      await crashes < MaxCrashes;
      crashes := crashes + 1;
      yesses := 0;
      goto Recover;
    end either;
  end while;
Announce:
  either
    toParticipants := [p \in Participants |-> toParticipants[p] \union {decision}];
  or
    await crashes < MaxCrashes;
    crashes := crashes + 1;
    yesses := 0;
    goto Recover;
  end either;
Rest: \* a crash after the announcement
  either
    goto Done;
  or
    await crashes < MaxCrashes;
    crashes := crashes + 1;
    yesses := 0;
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
\* BEGIN TRANSLATION (chksum(pcal) = "124b7554" /\ chksum(tla) = "78de2368")
VARIABLES pc, vote, outcome, decision, toParticipants, toCoordinator, down, 
          crashes, yesses

vars == << pc, vote, outcome, decision, toParticipants, toCoordinator, down, 
           crashes, yesses >>

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
        /\ yesses = 0
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
         /\ UNCHANGED << vote, outcome, decision, toCoordinator, down, yesses >>

Collect == /\ pc["coordinator"] = "Collect"
           /\ IF decision = "none"
                 THEN /\ \/ /\ yesses < Cardinality(Participants)
                            /\ \E m \in toCoordinator:
                                 IF m.vote = "yes"
                                    THEN /\ yesses' = yesses + 1
                                         /\ UNCHANGED decision
                                    ELSE /\ decision' = "abort"
                                         /\ UNCHANGED yesses
                            /\ pc' = [pc EXCEPT !["coordinator"] = "Collect"]
                            /\ UNCHANGED crashes
                         \/ /\ yesses = Cardinality(Participants)
                            /\ decision' = "commit"
                            /\ pc' = [pc EXCEPT !["coordinator"] = "Collect"]
                            /\ UNCHANGED <<crashes, yesses>>
                         \/ /\ decision' = "abort"
                            /\ pc' = [pc EXCEPT !["coordinator"] = "Collect"]
                            /\ UNCHANGED <<crashes, yesses>>
                         \/ /\ crashes < MaxCrashes
                            /\ crashes' = crashes + 1
                            /\ yesses' = 0
                            /\ pc' = [pc EXCEPT !["coordinator"] = "Recover"]
                            /\ UNCHANGED decision
                 ELSE /\ pc' = [pc EXCEPT !["coordinator"] = "Announce"]
                      /\ UNCHANGED << decision, crashes, yesses >>
           /\ UNCHANGED << vote, outcome, toParticipants, toCoordinator, down >>

Announce == /\ pc["coordinator"] = "Announce"
            /\ \/ /\ toParticipants' = [p \in Participants |-> toParticipants[p] \union {decision}]
                  /\ pc' = [pc EXCEPT !["coordinator"] = "Rest"]
                  /\ UNCHANGED <<crashes, yesses>>
               \/ /\ crashes < MaxCrashes
                  /\ crashes' = crashes + 1
                  /\ yesses' = 0
                  /\ pc' = [pc EXCEPT !["coordinator"] = "Recover"]
                  /\ UNCHANGED toParticipants
            /\ UNCHANGED << vote, outcome, decision, toCoordinator, down >>

Rest == /\ pc["coordinator"] = "Rest"
        /\ \/ /\ pc' = [pc EXCEPT !["coordinator"] = "Done"]
              /\ UNCHANGED <<crashes, yesses>>
           \/ /\ crashes < MaxCrashes
              /\ crashes' = crashes + 1
              /\ yesses' = 0
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
                           crashes, yesses >>

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
              /\ UNCHANGED << decision, toParticipants, yesses >>

Restart(self) == /\ pc[self] = "Restart"
                 /\ down' = down \ {self}
                 /\ IF vote[self] = "none"
                       THEN /\ vote' = [vote EXCEPT ![self] = "no"]
                            /\ outcome' = [outcome EXCEPT ![self] = "abort"]
                       ELSE /\ TRUE
                            /\ UNCHANGED << vote, outcome >>
                 /\ pc' = [pc EXCEPT ![self] = "Work"]
                 /\ UNCHANGED << decision, toParticipants, toCoordinator, 
                                 crashes, yesses >>

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

====
