---- MODULE no_vote_timeout ----
\* BUG: the coordinator waits for the votes without a time limit; it aborts only on a "no".
EXTENDS Integers, FiniteSets, Sequences, TLC

CONSTANTS
  Participants,   \* the participants, each a process
  MaxCrashes      \* bound of the model: crashes in all, the coordinator's included

(* --algorithm no_vote_timeout
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
    or \* a "no" has arrived
      await \E m \in votesIn : m.vote = "no";
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
\* BEGIN TRANSLATION (chksum(pcal) = "880f360" /\ chksum(tla) = "e94e2b8d")
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
                         \/ /\ \E m \in votesIn : m.vote = "no"
                            /\ decision' = "abort"
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

====
