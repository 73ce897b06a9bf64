---- MODULE Graphs ----
EXTENDS Naturals, Sequences, FiniteSets, SequencesExt, Relation
IsDirectedGraph(G) == G = [node |-> G.node, edge |-> G.edge] /\ G.edge \subseteq G.node \X G.node
DirectedSubgraph(G) == {H \in [node : SUBSET G.node, edge : SUBSET G.edge] : IsDirectedGraph(H)}
Transpose(G) == [node |-> G.node, edge |-> {<<e[2], e[1]>> : e \in G.edge}]
IsUndirectedGraph(G) == IsDirectedGraph(G) /\ \A e \in G.edge : <<e[2], e[1]>> \in G.edge
UndirectedSubgraph(G) == {H \in DirectedSubgraph(G) : IsUndirectedGraph(H)}
Path(G) == {p \in Seq(G.node) : p # <<>> /\ \A i \in 1 .. Len(p) - 1 : <<p[i], p[i + 1]>> \in G.edge}
SimplePath(G) ==
  {p \in UNION {[1 .. n -> G.node] : n \in 1 .. Cardinality(G.node)} :
     /\ \A i, j \in 1 .. Len(p) : p[i] = p[j] => i = j
     /\ \A i \in 1 .. Len(p) - 1 : <<p[i], p[i + 1]>> \in G.edge}
LOCAL Edges(G) == [m, n \in G.node |-> <<m, n>> \in G.edge]
ConnectionsIn(G) == ReflexiveTransitiveClosure(Edges(G), G.node)
AreConnectedIn(m, n, G) == m \in G.node /\ n \in G.node /\ ConnectionsIn(G)[m, n]
IsStronglyConnected(G) == LET connected == ConnectionsIn(G) IN \A m, n \in G.node : connected[m, n]
IsTreeWithRoot(G, r) ==
  /\ IsDirectedGraph(G)
  /\ r \in G.node
  /\ \A e \in G.edge : e[1] # r /\ \A f \in G.edge : e[1] = f[1] => e = f
  /\ LET connected == ConnectionsIn(G) IN \A n \in G.node : connected[n, r]
GraphUnion(G, H) == [node |-> G.node \cup H.node, edge |-> G.edge \cup H.edge]
IsBipartiteWithPartitions(G, U, V) ==
  /\ U \cap V = {}
  /\ G.node \subseteq U \cup V
  /\ \A e \in G.edge : (e[1] \in U /\ e[2] \in V) \/ (e[1] \in V /\ e[2] \in U)
HasCycle(G) == LET reach == TransitiveClosure(Edges(G), G.node) IN \E n \in G.node : reach[n, n]
IsDag(G) == IsDirectedGraph(G) /\ ~HasCycle(G)
Successors(G, n) == {m \in G.node : <<n, m>> \in G.edge}
AllSuccessors(G, S) == UNION {Successors(G, n) : n \in S}
Predecessors(G, n) == {m \in G.node : <<m, n>> \in G.edge}
AllPredecessors(G, S) == UNION {Predecessors(G, n) : n \in S}
Ancestors(G, n) == LET reach == TransitiveClosure(Edges(G), G.node) IN {m \in G.node : reach[m, n]}
Descendants(G, n) == LET reach == TransitiveClosure(Edges(G), G.node) IN {m \in G.node : reach[n, m]}
InDegree(G, n) == Cardinality(Predecessors(G, n))
OutDegree(G, n) == Cardinality(Successors(G, n))
Roots(G) == {n \in G.node : Predecessors(G, n) = {}}
Leaves(G) == {n \in G.node : Successors(G, n) = {}}
EmptyGraph == [node |-> {}, edge |-> {}]
Graphs(S) == [node : {S}, edge : SUBSET (S \X S)]
====
