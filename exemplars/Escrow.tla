---- MODULE Escrow ----
(* Transfers between accounts: money is set aside, then paid out or returned.
   Shows: p-syntax, inputs chosen in the initial state, a sum by recursion,
   action properties, termination.
   R1  No money appears or vanishes.
   R2  No account is ever overdrawn.
   R3  A transfer is refused only for lack of funds.
   R4  Every transfer ends paid, returned or refused, and that is final.
   Atomicity: testing the funds and setting them aside is one transaction, as
   is paying out; others run between the two.
   Bounds: amounts up to MAX_AMOUNT; payer and payee may be the same account,
   as no requirement forbids it. No SYMMETRY: temporal properties are checked.
   The cfg lists NoOverdraft before TypeOK, as TLC names the first that fails. *)
EXTENDS Naturals

CONSTANTS Accounts, Transfers, START, MAX_AMOUNT

RECURSIVE SumOver(_, _)
SumOver(f, S) == IF S = {} THEN 0
                 ELSE LET x == CHOOSE y \in S : TRUE IN f[x] + SumOver(f, S \ {x})
Total == SumOver([a \in Accounts |-> START], Accounts)

(* --algorithm Escrow
variables balance = [a \in Accounts |-> START];

fair process transfer \in Transfers
variables payer \in Accounts, payee \in Accounts, amount \in 1..MAX_AMOUNT,
          status = "new";
begin
  reserve:
    if balance[payer] >= amount then
      balance[payer] := balance[payer] - amount;
      status := "held";
    else
      status := "refused";
      goto Done;
    end if;
  settle:
    either
      balance[payee] := balance[payee] + amount;
      status := "paid";
    or
      balance[payer] := balance[payer] + amount;
      status := "returned";
    end either;
end process;
end algorithm; *)
\* BEGIN TRANSLATION - the hash of the PCal code: PCal-b3ec722c131daf298d963a65c9216fd1
VARIABLES balance, pc, payer, payee, amount, status

vars == << balance, pc, payer, payee, amount, status >>

ProcSet == (Transfers)

Init == (* Global variables *)
        /\ balance = [a \in Accounts |-> START]
        (* Process transfer *)
        /\ payer \in [Transfers -> Accounts]
        /\ payee \in [Transfers -> Accounts]
        /\ amount \in [Transfers -> 1..MAX_AMOUNT]
        /\ status = [self \in Transfers |-> "new"]
        /\ pc = [self \in ProcSet |-> "reserve"]

reserve(self) == /\ pc[self] = "reserve"
                 /\ IF balance[payer[self]] >= amount[self]
                       THEN /\ balance' = [balance EXCEPT ![payer[self]] = balance[payer[self]] - amount[self]]
                            /\ status' = [status EXCEPT ![self] = "held"]
                            /\ pc' = [pc EXCEPT ![self] = "settle"]
                       ELSE /\ status' = [status EXCEPT ![self] = "refused"]
                            /\ pc' = [pc EXCEPT ![self] = "Done"]
                            /\ UNCHANGED balance
                 /\ UNCHANGED << payer, payee, amount >>

settle(self) == /\ pc[self] = "settle"
                /\ \/ /\ balance' = [balance EXCEPT ![payee[self]] = balance[payee[self]] + amount[self]]
                      /\ status' = [status EXCEPT ![self] = "paid"]
                   \/ /\ balance' = [balance EXCEPT ![payer[self]] = balance[payer[self]] + amount[self]]
                      /\ status' = [status EXCEPT ![self] = "returned"]
                /\ pc' = [pc EXCEPT ![self] = "Done"]
                /\ UNCHANGED << payer, payee, amount >>

transfer(self) == reserve(self) \/ settle(self)

(* Allow infinite stuttering to prevent deadlock on termination. *)
Terminating == /\ \A self \in ProcSet: pc[self] = "Done"
               /\ UNCHANGED vars

Next == (\E self \in Transfers: transfer(self))
           \/ Terminating

Spec == /\ Init /\ [][Next]_vars
        /\ \A self \in Transfers : WF_vars(transfer(self))

Termination == <>(\A self \in ProcSet: pc[self] = "Done")

\* END TRANSLATION - the hash of the generated TLA code (remove to silence divergence warnings): TLA-72b7b99fb76f29cedbefcc29b1aa7b5e

Held == SumOver([t \in Transfers |-> IF status[t] = "held" THEN amount[t] ELSE 0], Transfers)
Final == {"paid", "returned", "refused"}

\* the type of every variable
TypeOK == /\ balance \in [Accounts -> 0..Total]
          /\ payer \in [Transfers -> Accounts]
          /\ payee \in [Transfers -> Accounts]
          /\ amount \in [Transfers -> 1..MAX_AMOUNT]
          /\ status \in [Transfers -> Final \cup {"new", "held"}]
          /\ pc \in [Transfers -> {"reserve", "settle", "Done"}]

\* covers R1
Conserved == SumOver(balance, Accounts) + Held = Total

\* covers R2
NoOverdraft == \A a \in Accounts : balance[a] >= 0

\* covers R3
RefusedForLack == [][\A t \in Transfers :
    status[t] # "refused" /\ status'[t] = "refused" => balance[payer[t]] < amount[t]]_vars

\* covers R4
FinalStays == [][\A t \in Transfers : status[t] \in Final => status'[t] = status[t]]_vars

\* covers R4
AllEnd == <>(\A t \in Transfers : status[t] \in Final)

\* one is refused while another holds the money
WitnessRefused == \E t, u \in Transfers : status[t] = "refused" /\ status[u] = "held"

\* all is paid, and one account has got everything
WitnessAllPaid == /\ \A t \in Transfers : status[t] = "paid"
                  /\ \E a \in Accounts : balance[a] = Total
====
