---- MODULE UndirectedGraphs ----
LOCAL INSTANCE Naturals
LOCAL INSTANCE Sequences
LOCAL INSTANCE FiniteSets
LOCAL INSTANCE Relation
LOCAL HasFields(G) == G = [node |-> G.node, edge |-> G.edge]
IsUndirectedGraph(G) == HasFields(G) /\ \A e \in G.edge : \E m, n \in G.node : e = {m, n}
IsLoopFreeUndirectedGraph(G) == HasFields(G) /\ \A e \in G.edge : \E m, n \in G.node : m # n /\ e = {m, n}
UndirectedSubgraph(G) == {H \in [node : SUBSET G.node, edge : SUBSET G.edge] : IsUndirectedGraph(H)}
Path(G) == {p \in Seq(G.node) : p # <<>> /\ \A i \in 1 .. Len(p) - 1 : {p[i], p[i + 1]} \in G.edge}
SimplePath(G) ==
  {p \in UNION {[1 .. n -> G.node] : n \in 1 .. Cardinality(G.node)} :
     /\ \A i, j \in 1 .. Len(p) : p[i] = p[j] => i = j
     /\ \A i \in 1 .. Len(p) - 1 : {p[i], p[i + 1]} \in G.edge}
LOCAL Connections(G) == ReflexiveTransitiveClosure([m, n \in G.node |-> {m, n} \in G.edge], G.node)
AreConnectedIn(m, n, G) == m \in G.node /\ n \in G.node /\ Connections(G)[m, n]
ConnectedComponents(G) ==
  LET connected == Connections(G) IN {{n \in G.node : connected[m, n]} : m \in G.node}
IsStronglyConnected(G) == ConnectedComponents(G) = {G.node}
UndirectedGraphs(S) == [node : {S}, edge : SUBSET {{e[1], e[2]} : e \in S \X S}]
====
