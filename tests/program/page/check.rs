//! The page of a check, with the graph of the reachable states.

use serde_json::Value;

use super::{check_page, inside, traces};
use crate::support::Bench;

/// Two processes that look at a lock before they take it.
const MODULE: &str = "---- MODULE Lock ----
EXTENDS Integers
(* --algorithm Lock {
variables lock = 0, inside = {};
process (p \\in {1, 2}) {
  Look: await lock = 0;
  Take: lock := self;
  Enter: inside := inside \\cup {self};
  Leave: inside := inside \\ {self}; lock := 0;
  Again: goto Look;
}
} *)
Exclusive == inside # {1, 2}
SecondHasIt == lock = 2
====
";

pub(super) fn bench() -> Bench {
    let bench = Bench::without_tools();
    bench.write("Lock.tla", MODULE);
    bench.write("Lock.cfg", "SPECIFICATION Spec\nINVARIANT Exclusive\n\\* WITNESS SecondHasIt\nCHECK_DEADLOCK FALSE\n");
    bench
}

pub(super) fn page(bench: &Bench) -> String {
    bench.run(&["check", "Lock.tla", "--checker", "embedded", "--html", "page.html"]).expect(1);
    let page = bench.read("page.html");
    check_page(&page);
    page
}

fn graph(page: &str) -> Value {
    let data = inside(page, "<script type=\"application/json\" id=\"data\">", "</script>");
    serde_json::from_str::<Value>(data).unwrap()["graph"].clone()
}

#[test]
fn the_counterexample_is_a_path_of_the_graph_of_all_reachable_states() {
    let bench = bench();
    let page = page(&bench);
    assert_eq!(inside(&page, "<h1>", "</h1>"), "Exclusive is violated, shown by a behaviour of 7 states");
    assert_eq!(traces(&page)["counterexample"]["steps"].as_array().unwrap().len(), 7);
    let graph = graph(&page);
    let states = graph["states"].as_array().unwrap();
    // A check without the invariant counts the states independently.
    bench.write("All.cfg", "SPECIFICATION Spec\nCHECK_DEADLOCK FALSE\n");
    let all =
        bench.run(&["check", "Lock.tla", "--config", "All.cfg", "--checker", "embedded", "--format", "json"]).expect(0);
    let all: Value = serde_json::from_str(&all.stdout).unwrap();
    assert_eq!(states.len() as u64, all["statistics"]["distinct"].as_u64().unwrap());
    let trace: Vec<usize> = serde_json::from_value(graph["trace"].clone()).unwrap();
    assert_eq!(trace.len(), 7);
    let edges = graph["edges"].as_array().unwrap();
    let action = |from: usize, to: usize| {
        let edge = edges.iter().find(|edge| edge[0] == from && edge[1] == to);
        edge.unwrap_or_else(|| panic!("no step from {from} to {to}"))[2].as_str().unwrap().to_owned()
    };
    let actions: Vec<String> = trace.windows(2).map(|pair| action(pair[0], pair[1])).collect();
    assert_eq!(actions, ["Look", "Look", "Take", "Enter", "Take", "Enter"]);
    let variables: Vec<&str> =
        graph["variables"].as_array().unwrap().iter().map(|name| name.as_str().unwrap()).collect();
    let value = |state: &Value, name: &str| {
        let at = variables.iter().position(|known| *known == name).unwrap();
        state[0][at].as_str().unwrap().to_owned()
    };
    for state in states {
        assert_eq!(state[2].as_array().unwrap().is_empty(), value(state, "inside") != "{1, 2}", "{state}");
        assert_eq!(state[3].as_array().unwrap().is_empty(), value(state, "lock") != "2", "{state}");
    }
}

/// The trace that leads to a witness.
fn story(page: &str, name: &str) -> Value {
    let card = page.split("<details class=\"card story\"").find(|card| card.contains(&format!("<code>{name}</code>")));
    let id = inside(card.expect("a card of the witness"), "data-trace=\"", "\"");
    traces(page)[id].clone()
}

#[test]
fn a_witness_is_the_end_of_a_shortest_path_through_the_graph() {
    let bench = bench();
    let page = page(&bench);
    let story = story(&page, "SecondHasIt");
    let steps = story["steps"].as_array().unwrap();
    // The check counts the states of a shortest path independently.
    let checked = bench.run(&["check", "Lock.tla", "--checker", "embedded", "--format", "json"]).expect(1);
    let checked: Value = serde_json::from_str(&checked.stdout).unwrap();
    assert_eq!(checked["witnesses"][0]["reached"]["yes"]["depth"], steps.len());
    let titles: Vec<&str> = steps.iter().map(|step| step["title"].as_str().unwrap()).collect();
    assert_eq!(titles, ["initial state", "Look(2)", "Take(2)"]);
    assert_eq!(steps[2]["state"]["lock"], "2");
    let from = steps[2]["lines"][0].as_u64().unwrap();
    assert!(inside(&page, &format!("id=\"module-L{from}\">"), "</div>").contains("Take: lock := self"));
    assert!(inside(&page, "<section id=\"witnesses\"", "</section>").contains("The embedded checker found"));
}

/// A walk on a line, with witnesses at these numbers and a constraint.
fn walk_page(length: usize, witnesses: &[(&str, usize)]) -> String {
    let bench = Bench::without_tools();
    let definitions = witnesses.iter().map(|(name, at)| format!("{name} == x = {at}\n")).collect::<Vec<_>>().concat();
    let module = format!(
        "---- MODULE Walk ----\nEXTENDS Naturals\nVARIABLES x\nInit == x = 0\nNext == x' = x + 1\n\
         Spec == Init /\\ [][Next]_x\nSmall == x < {length}\nTrue == x >= 0\n{definitions}====\n"
    );
    let lines = witnesses.iter().map(|(name, _)| format!("\\* WITNESS {name}\n")).collect::<Vec<_>>().concat();
    bench.write("Walk.tla", module);
    bench.write(
        "Walk.cfg",
        format!("SPECIFICATION Spec\nINVARIANT True\nCONSTRAINT Small\n{lines}CHECK_DEADLOCK FALSE\n"),
    );
    bench.run(&["check", "Walk.tla", "--checker", "embedded", "--html", "page.html"]).expect(0);
    let page = bench.read("page.html");
    check_page(&page);
    page
}

#[test]
fn a_model_that_is_too_large_to_draw_has_the_paths_to_its_witnesses() {
    let page = walk_page(400, &[("Near", 40), ("Far", 250)]);
    assert!(graph(&page).is_null());
    assert_eq!(story(&page, "Near")["steps"].as_array().unwrap().len(), 41);
    let far = page.rsplit("<code>Far</code>").next().unwrap();
    assert!(page.contains("reached after 251 states") && inside(far, "<p>", "</p>").contains("more than 200 states"));
}

#[test]
fn a_witness_outside_of_the_constraint_and_one_behind_the_limit_are_told_apart() {
    // A check evaluates witnesses also in the states that a constraint cuts off.
    let page = walk_page(5, &[("Outside", 5)]);
    assert_eq!(story(&page, "Outside")["steps"].as_array().unwrap().len(), 6);
    let bench = Bench::without_tools();
    bench.write(
        "Wide.tla",
        "---- MODULE Wide ----\nEXTENDS Naturals\nVARIABLES x, y\nInit == x = 0 /\\ y \\in 1..21000\n\
         Next == x < 1 /\\ y = 1 /\\ x' = 1 /\\ y' = y\nSpec == Init /\\ [][Next]_<<x, y>>\nMoved == x = 1\n====\n",
    );
    bench.write("Wide.cfg", "SPECIFICATION Spec\n\\* WITNESS Moved\nCHECK_DEADLOCK FALSE\n");
    bench.run(&["check", "Wide.tla", "--checker", "embedded", "--html", "page.html"]).expect(0);
    let page = bench.read("page.html");
    check_page(&page);
    assert!(page.contains("no such state is among the 21000 states that were explored for this page"), "{page}");
}

#[test]
fn an_arrow_between_lanes_is_a_message_and_nothing_else_is_one() {
    let bench = Bench::without_tools();
    // `b` takes out the letter that `a` has posted. It also clears the name of `a` and a flag, which are no messages.
    let module = "---- MODULE Mail ----
EXTENDS Integers
(* --algorithm Mail {
variables post = {}, busy = {}, flags = {}, read = 0;
process (a = \"a\") { Send: post := {[text |-> \"x\"]}; busy := {\"a\"}; flags := {7}; }
process (b = \"b\") { Read: await post # {}; post := {}; busy := {}; flags := {}; read := 1; }
} *)
Unread == read = 0
====
";
    bench.write("Mail.tla", module);
    bench.write("Mail.cfg", "SPECIFICATION Spec\nINVARIANT Unread\nCHECK_DEADLOCK FALSE\n");
    bench.run(&["check", "Mail.tla", "--checker", "embedded", "--html", "page.html"]).expect(1);
    let page = bench.read("page.html");
    check_page(&page);
    let lanes = inside(&page, "<svg class=\"lanes\"", "</svg>");
    assert_eq!(lanes.matches("<g class=\"lane\">").count(), 2, "{lanes}");
    assert_eq!(lanes.matches("<path class=\"message\"").count(), 1, "{lanes}");
    let title = inside(inside(lanes, "<path class=\"message\"", "</path>"), "<title>", "</title>");
    assert_eq!(title, "[text |-&gt; &quot;x&quot;]: added in step 2, removed in step 3");
}

#[test]
fn a_graph_of_more_states_is_summed_up() {
    let bench = Bench::without_tools();
    bench.write(
        "Grid.tla",
        "---- MODULE Grid ----\nEXTENDS Naturals\nVARIABLES x, y\nInit == x = 0 /\\ y = 0\nRight == x < 19 /\\ x' = x + 1 /\\ \
         y' = y\nUp == y < 19 /\\ y' = y + 1 /\\ x' = x\nNext == Right \\/ Up\nSpec == Init /\\ [][Next]_<<x, y>>\nSmall == x + \
         y < 100\n====\n",
    );
    bench.write("Grid.cfg", "SPECIFICATION Spec\nINVARIANT Small\nCHECK_DEADLOCK FALSE\n");
    bench.run(&["check", "Grid.tla", "--checker", "embedded", "--html", "page.html"]).expect(0);
    let page = bench.read("page.html");
    check_page(&page);
    assert!(page.contains("400 reachable states, 38 deep: too many to draw one by one"));
    assert!(graph(&page).is_null() && !page.contains("class=\"graph js-only\""));
    let actions = inside(&page, "Steps by action", "</table>");
    assert_eq!(actions.matches("</svg> 380").count(), 2, "{actions}");
}

#[test]
fn a_module_that_cannot_be_checked_has_a_page_of_what_is_wrong() {
    let bench = bench();
    bench.write("Lock.tla", MODULE.replace("lock := self", "lok := self"));
    bench.run(&["check", "Lock.tla", "--checker", "embedded", "--html", "page.html"]).expect(1);
    let page = bench.read("page.html");
    check_page(&page);
    assert!(inside(&page, "<section id=\"errors\"", "</section>").contains("lok"));
}

#[test]
fn the_same_check_gives_the_same_bytes() {
    let bench = bench();
    assert_eq!(page(&bench), page(&bench));
}

#[test]
fn a_counterexample_of_two_thousand_states_is_a_small_page() {
    let bench = Bench::without_tools();
    let module = "---- MODULE Count ----\nEXTENDS Naturals\nVARIABLES x\nInit == x = 0\nNext == x' = x + 1\n\
                  Spec == Init /\\ [][Next]_x\nSmall == x < 1999\n====\n";
    bench.write("Count.tla", module);
    bench.write("Count.cfg", "SPECIFICATION Spec\nINVARIANT Small\n");
    bench.run(&["check", "Count.tla", "--checker", "embedded", "--html", "page.html"]).expect(1);
    let page = bench.read("page.html");
    check_page(&page);
    let trace = &traces(&page)["counterexample"];
    // The script draws what the page leaves out.
    assert_eq!(trace["steps"].as_array().unwrap().len(), 2_000);
    assert_eq!(trace["lanes"]["nodes"].as_array().unwrap().len(), 2_000);
    let elements = page.matches('<').count();
    assert!(elements < 3_000, "{elements} elements");
}
