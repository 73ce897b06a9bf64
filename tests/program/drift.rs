//! `tlaforge drift`: the documents of a run against newer ones.

use proptest::prelude::*;
use serde_json::Value;

use crate::support::{Bench, Done, project};
use tlaforge::prompt::{Document, Drift, compare_documents};

/// The demo in `demo-specs/`, and its documents in `docs/`.
fn bench() -> Bench {
    let bench = Bench::without_tools();
    bench.finished_demo().expect(0);
    for name in ["guarantees.md", "pool.md"] {
        let path = project().join("evals/uniswap_swap/docs").join(name);
        bench.write(&format!("docs/{name}"), std::fs::read_to_string(path).unwrap());
    }
    bench
}

fn edit(bench: &Bench, name: &str, from: &str, to: &str) {
    let text = bench.read(name);
    assert!(text.contains(from), "{name} has no {from:?}");
    bench.write(name, text.replacen(from, to, 1));
}

const DRIFT: [&str; 4] = ["drift", "demo-specs", "--docs", "docs"];

fn drift(bench: &Bench, more: &[&str]) -> Done {
    bench.run(&[&DRIFT[..], more].concat())
}

fn json(bench: &Bench, status: i32) -> Value {
    serde_json::from_str(&drift(bench, &["--format", "json"]).expect(status).stdout).unwrap()
}

/// The changes as `changed guarantees.md:9 R2 R3`, with what is open.
fn changes(found: &Value) -> Vec<String> {
    let change = |change: &Value| {
        let open = change["open"].as_array().unwrap().iter().map(|name| format!(" {}", name.as_str().unwrap()));
        let place = change["now"].as_object().or(change["before"].as_object()).unwrap();
        let (kind, document) = (change["change"].as_str().unwrap(), place["document"].as_str().unwrap());
        format!("{kind} {document}:{}{}", place["from"], open.collect::<String>())
    };
    found["changes"].as_array().unwrap().iter().map(change).collect()
}

#[test]
fn the_same_text_elsewhere_or_wrapped_otherwise_is_no_drift() {
    let bench = bench();
    let found = json(&bench, 0);
    assert_eq!(
        (&found["drift"], &found["moved"], &found["other_new"]),
        (&Value::from(false), &0.into(), &serde_json::json!([]))
    );
    assert_eq!(found["compared"].as_array().unwrap().len(), 10);
    assert_eq!(found["not_compared"], serde_json::json!([]));
    // A paragraph moves to the other document.
    let paragraph = "5. **A living pool.** Neither reserve ever reaches zero.\n\n";
    let originals = ["docs/guarantees.md", "docs/pool.md"].map(|name| (name, bench.read(name)));
    edit(&bench, "docs/guarantees.md", paragraph, "");
    edit(&bench, "docs/pool.md", "## 5. Out of scope", &format!("{paragraph}## 5. Out of scope"));
    // Below another heading, so it may not say the same any more.
    let found = json(&bench, 1);
    assert_eq!((&found["moved"], found["moved_cited"].as_array().unwrap().len()), (&2.into(), 2));
    drift(&bench, &[]).expect(1).prints(&["Cited, unchanged, and now elsewhere:\n  docs/pool.md:"]);
    for (name, text) in originals {
        bench.write(name, text);
    }
    // Every paragraph on one line, with other marks of lists; code keeps its lines.
    for name in ["docs/guarantees.md", "docs/pool.md"] {
        let text = bench.read(name).replace("\n\n", "\0").replace('\n', " ").replace('\0', "\n\n");
        bench.write(name, text.replace("    ", "\t"));
    }
    assert_eq!(json(&bench, 0)["moved"], 0);
    // A document gets another name.
    std::fs::rename(bench.path("docs/pool.md"), bench.path("docs/amm.md")).unwrap();
    let found = json(&bench, 0);
    assert!(found["moved"].as_u64().unwrap() > 40, "{found}");
    drift(&bench, &[])
        .expect(0)
        .prints(&["No drift: the text that 10 requirements of rev_0 (approved) cite is unchanged; "]);
}

#[test]
fn changed_text_names_its_requirements_properties_and_steps() {
    let bench = bench();
    edit(&bench, "docs/guarantees.md", "never decreases", "rarely decreases");
    edit(&bench, "docs/pool.md", " There is no credit.", "");
    edit(&bench, "docs/pool.md", "and leaves no mark", "and leaves its mark");
    let done = drift(&bench, &[]).expect(1);
    done.clone().prints(&[
        "Drift: 3 changes of the documents concern rev_0 (approved): R2, R3, R7, step CarryOut",
        "docs/guarantees.md:9 has changed\n  was: The product `reserveX * reserveY` never \
         decreases.\n  now: The product `reserveX * reserveY` rarely decreases.\n  R2 No transaction",
        "checked by ProductNeverFalls",
        "docs/pool.md:40 of the run is gone, after docs/pool.md:40\n  was: There is no credit.\n  cited by step CarryOut",
        "  R7 A transaction that refuses a request",
        "also cited by A4, A5, O1, step CarryOut, step SendRequest",
    ]);
    done.says(&[
        "tlaforge drift demo-specs --docs docs --accept R2 --accept R3 --because \"read, still right\"",
        "otherwise forge again what it concerns: tlaforge resume demo-specs --drift --docs docs",
    ]);
    let found = json(&bench, 1);
    assert_eq!(
        changes(&found),
        ["changed guarantees.md:9 R2 R3", "removed pool.md:40 CarryOut", "changed pool.md:53 R7"]
    );
    let properties = &found["changes"][0]["cited_by"][0];
    assert_eq!(
        (&properties["name"], &properties["properties"]),
        (&"R2".into(), &serde_json::json!(["ProductNeverFalls"]))
    );
}

#[test]
fn the_book_shows_the_output() {
    let bench = bench();
    edit(
        &bench,
        "docs/guarantees.md",
        "Neither reserve ever reaches zero.",
        "A reserve reaches zero only if its last owner leaves.\n   He gets all of it.",
    );
    edit(&bench, "docs/pool.md", "Each trader holds", "Every trader holds");
    let page = std::fs::read_to_string(project().join("docs/src/drift.md")).unwrap();
    let (_, shown) = page.split_once("$ tlaforge drift demo-specs --docs docs\n").unwrap();
    let (shown, _) = shown.split_once("```").unwrap();
    assert_eq!(drift(&bench, &[]).expect(1).stdout, shown);
}

#[test]
fn text_that_is_added_beside_cited_text_is_a_change_of_it() {
    let bench = bench();
    edit(
        &bench,
        "docs/guarantees.md",
        "Neither reserve ever reaches zero.",
        "Neither reserve ever reaches zero. The owner is exempt.",
    );
    let text = bench.read("docs/guarantees.md") + "\nA trader must wait a minute.\n\nThat is all.\n";
    bench.write("docs/guarantees.md", text);
    let found = json(&bench, 1);
    assert_eq!(changes(&found), ["added guarantees.md:19 R6"]);
    assert_eq!(found["new_normative"][0]["text"], "A trader must wait a minute.");
    assert_eq!(found["other_new"].as_array().unwrap().len(), 1);
    drift(&bench, &[]).expect(1).prints(&[
        "1 new normative sentence, which no specification accounts for:\n  docs/guarantees.md:26 \"A trader must wait a minute.\"",
        "New, without normative words:\n  docs/guarantees.md:28 \"That is all.\"\n",
    ]);
}

#[test]
fn what_nothing_cites_is_told_and_is_no_drift() {
    let bench = bench();
    edit(&bench, "docs/guarantees.md", "The guarantees hold after", "The guarantees hold before");
    edit(&bench, "docs/pool.md", "This note describes", "This text describes");
    drift(&bench, &[]).expect(0).prints(&[
        "No drift: ",
        "2 changes cited by no requirement and no step",
        "docs/guarantees.md:3 has changed",
        "docs/pool.md:3 has changed",
    ]);
    let informal = "## Requirements\nR1 [docs/a.md:1] One.\n## Out of scope\n- [docs/a.md:3] Fees.\n";
    let drift = compare(informal, "One.\n\nFees are low.\n", "One.\n\nFees must be low.\n");
    assert_eq!((drift.cited.len(), drift.uncited.len(), drift.new_normative.len()), (0, 1, 0));
    assert!(drift.uncited[0].is_normative);
    assert_eq!(drift.uncited[0].cited_by.first().unwrap().1, "[docs/a.md:3] Fees.");
}

#[test]
fn an_accepted_change_counts_for_its_text_alone() {
    let bench = bench();
    edit(&bench, "docs/guarantees.md", "never decreases", "does not decrease");
    let accept = |id: &str, because: &str| drift(&bench, &["--accept", id, "--because", because]);
    // Refused, and nothing is recorded.
    accept("R2", " ").expect(2).says(&["--because is empty"]);
    accept("R77", "read").expect(2).says(&["rev_0 has no requirement and no changed part R77", "to accept: R2, R3"]);
    accept("R6", "read").expect(2).says(&["the text that R6 cites has not changed"]);
    drift(&bench, &["--accept", "R2", "--accept", "R6", "--because", "read"]).expect(2);
    drift(&bench, &["--accept", "R2"]).expect(2);
    assert!(!bench.path("demo-specs/accepted_drift.jsonl").exists());
    // For one of the two requirements, then for the other one.
    accept("R2", "read, still right")
        .expect(1)
        .prints(&["concerns rev_0 (approved): R3\n", "accepted: read, still right"]);
    accept("R2", "again").expect(2).says(&["the changed text of R2 is accepted already"]);
    accept("R3", "only <words> changed").expect(0).prints(&["or the change was accepted", "for R2: read, still right"]);
    let expected = "rev_0, R3: only <words> changed (\"The product `reserveX * reserveY` never decreases.\" is now \"The \
                    product `reserveX * reserveY` does not decrease.\"; ";
    bench.run(&["report", "demo-specs"]).expect(0).prints(&[
        "Changes of the documents that were accepted without a new run:\n  rev_0, R2: read, still right",
        expected,
    ]);
    let report = bench.run(&["report", "demo-specs", "--format", "json"]).expect(0).stdout;
    let report: Value = serde_json::from_str(&report).unwrap();
    assert_eq!(report["accepted_drift"][1]["item"], "R3");
    bench.run(&["report", "demo-specs", "--html", "page.html"]).expect(0);
    let page = bench.read("page.html");
    assert!(page.contains("rev_0, R3: only &lt;words&gt; changed"), "the page shows it");
    // The run itself is as it was.
    assert_eq!(bench.run(&["audit", "demo-specs", "--policy", "default"]).expect(0).stderr, "");
    bench.run(&["resume", "demo-specs"]).expect(0);
    json(&bench, 0);
    // Back to the first text, and to yet another one.
    edit(&bench, "docs/guarantees.md", "does not decrease", "hardly ever decreases");
    assert_eq!(changes(&json(&bench, 1)), ["changed guarantees.md:9 R2 R3"]);
    edit(&bench, "docs/guarantees.md", "hardly ever decreases", "never decreases");
    let found = json(&bench, 0);
    assert_eq!(changes(&found), [""; 0]);
    // A step is accepted where no requirement cites the text.
    edit(&bench, "docs/pool.md", " There is no credit.", " There is credit.");
    accept("CarryOut", "read").expect(0);
    // What was accepted is not forgotten in silence.
    bench.write("demo-specs/accepted_drift.jsonl", "no JSON\n");
    drift(&bench, &[]).expect(2).says(&["accepted_drift.jsonl", "line 1"]);
    bench.run(&["report", "demo-specs"]).expect(2);
}

#[test]
fn changes_are_shown_beside_the_new_lines() {
    let bench = bench();
    edit(
        &bench,
        "docs/guarantees.md",
        "# What the pool guarantees\n",
        "# What the pool guarantees\n\nIt must not rain.\n",
    );
    edit(&bench, "docs/guarantees.md", "never decreases", "rarely decreases");
    let github = drift(&bench, &["--format", "github"]).expect(1).stdout;
    let expected = "::error file=docs/guarantees.md,line=11,title=tlaforge%3A drift::\"The product `reserveX * reserveY` never \
                    decreases.\" has changed to \"The product `reserveX * reserveY` rarely decreases.\" (cited by R2, R3; \
                    checked by ProductAtLeastOpening, ProductNeverFalls)\n::warning file=docs/guarantees.md,line=3,title=\
                    tlaforge%3A new-sentence::new, and no specification accounts for it: \"It must not rain.\"\n\
                    tlaforge drift: drift: 1 change of the documents concerns";
    assert!(github.starts_with(expected), "{github}");
    let sarif: Value = serde_json::from_str(&drift(&bench, &["--format", "sarif"]).expect(1).stdout).unwrap();
    let place = &sarif["runs"][0]["results"][0]["locations"][0]["physicalLocation"];
    assert_eq!(
        (&place["artifactLocation"]["uri"], &place["region"]["startLine"]),
        (&"docs/guarantees.md".into(), &11.into())
    );
    drift(&bench, &["--format", "markdown"]).expect(1).prints(&["### tlaforge drift", "| error |"]);
    drift(&bench, &["--accept", "R2", "--accept", "R3", "--because", "read", "--format", "github"])
        .expect(0)
        .prints(&["::notice file=docs/guarantees.md,line=11,title=tlaforge%3A drift-accepted::"]);
}

#[test]
fn what_cannot_be_compared_is_an_error() {
    let bench = bench();
    let run = |args: &[&str]| bench.run(&[&["drift"], args].concat());
    run(&["nothing", "--docs", "docs"]).expect(2).says(&["nothing holds no run"]);
    run(&["demo-specs", "--docs", "nothing"]).expect(2).says(&["nothing does not exist"]);
    run(&["demo-specs"]).expect(2);
    std::fs::create_dir(bench.path("empty")).unwrap();
    run(&["demo-specs", "--docs", "empty"]).expect(2).says(&["empty holds no document"]);
    // An unreadable document is no removed one.
    let text = bench.read("docs/pool.md");
    bench.write("docs/pool.md", b"a\0b");
    drift(&bench, &[]).expect(2).says(&["docs/pool.md, a document of the run, cannot be read: binary"]);
    // An empty one is.
    bench.write("docs/pool.md", "\n");
    assert!(changes(&json(&bench, 1)).iter().all(|change| change.starts_with("removed pool.md")));
    std::fs::remove_file(bench.path("docs/pool.md")).unwrap();
    drift(&bench, &[]).expect(1).prints(&["docs/pool.md:42 of the run is gone, with its document"]);
    drift(&bench, &["--format", "github"]).expect(1).prints(&["::error title=tlaforge%3A drift::"]);
    bench.write("docs/pool.md", &text);
    drift(&bench, &[]).expect(0);
    // A document that the run keeps was changed.
    let journal = bench.journal("demo-specs");
    let sha = journal[0]["data"]["docs"][0]["sha"].as_str().unwrap().to_owned();
    bench.write(&format!("demo-specs/artifacts/{sha}"), "changed");
    drift(&bench, &[]).expect(2).says(&["the document guarantees.md of the run is missing or was changed"]);
}

#[test]
fn without_a_revision_or_cited_text_drift_is_not_decided() {
    let bench = bench();
    let journal = bench.journal("demo-specs");
    // The run was killed in its first node.
    bench.write("begun/journal.jsonl", format!("{}\n{}\n", journal[0], journal[1]));
    bench.run(&["drift", "begun", "--docs", "docs"]).expect(3).says(&["begun has no revision yet"]);
    // The same run with another informal specification.
    let put = |folder: &str, informal: &str| {
        let sha = tlaforge::journal::Sha::digest(informal);
        bench.write(&format!("{folder}/artifacts/{}", sha.as_str()), informal);
        for stored in journal[0]["data"]["docs"].as_array().unwrap() {
            let sha = stored["sha"].as_str().unwrap();
            bench.write(&format!("{folder}/artifacts/{sha}"), bench.read(&format!("demo-specs/artifacts/{sha}")));
        }
        let lines = journal.iter().map(|event| {
            let mut event = event.clone();
            if let Some(hash) = event.pointer_mut("/data/hashes/informal_spec.md") {
                *hash = sha.as_str().into();
            }
            event.to_string() + "\n"
        });
        bench.write(&format!("{folder}/journal.jsonl"), lines.collect::<String>());
    };
    let informal = bench.read("demo-specs/informal_spec.md");
    // No requirement has a place in the documents.
    put("bare", &informal.replace("] ", " ").replace(" [docs", " docs"));
    bench
        .run(&["drift", "bare", "--docs", "docs"])
        .expect(3)
        .says(&["no requirement of rev_0 cites text of its documents"]);
    // One requirement has none: what it says was not compared.
    assert!(informal.contains("R1 [docs/"));
    put("partly", &informal.replacen("R1 [docs/", "R1 [gone/", 1));
    bench
        .run(&["drift", "partly", "--docs", "docs"])
        .expect(3)
        .prints(&["Not compared, because they cite no text:\n  R1"]);
}

#[test]
fn lines_of_code_in_another_order_are_a_change() {
    let old = "Take it.\n\n```\nlock(a)\nlock(b)\nwork()\n```\n";
    let found = |new: &str| {
        let drift = compare("## Requirements\nR1 [docs/a.md:4-6] In this order.\n", old, new);
        drift
            .cited
            .iter()
            .map(|change| format!("{:?} {}", change.kind, change.at.as_ref().unwrap().1))
            .collect::<Vec<_>>()
    };
    assert_eq!(found(old), [""; 0]);
    assert_eq!(found("~~~tla\n  lock(a)\n\n  lock(b)\n  work()\n~~~\n\nTake it.\n"), [""; 0]);
    assert_eq!(found("Take it.\n\n```\nlock(b)\nlock(a)\nwork()\n```\n"), ["Reordered 4", "Reordered 6"]);
    assert_eq!(found("Take it.\n\n```\nlock(a)\nretry()\nlock(b)\nwork()\n```\n"), ["Added 5"]);
}

#[test]
fn a_number_at_the_beginning_of_a_line_is_no_change() {
    let old = "The formula of 2.3 and whole numbers\nnever overflow. It holds.\n";
    let new = "The formula of\n2.3 and whole numbers never\noverflow. It holds.\n";
    assert_eq!(compare("## Requirements\nR1 [docs/a.md:1] One.\n", old, new).cited, []);
    // The line that looks like an item of a list is where cited text was.
    assert_eq!(compare("## Requirements\nR1 [docs/a.md:1] One.\n", old, &new.replace("whole", "real")).cited.len(), 2);
}

#[test]
fn a_comment_is_text_of_its_own_and_no_change_of_its_neighbours() {
    let old = "The lock is free\nat first. It is taken\nonce.\n\n<!-- Owner: A. -->\n- It ends.\n";
    let informal = "## Requirements\nR1 [docs/a.md:1-3] One.\nR2 [docs/a.md:5-6] Two.\n";
    let commented = "The lock is free\n<!-- B must check. -->\nat first. <!-- C. --> It is taken\nonce.\n\n\
                     <!-- Owner: A. -->\n- It ends.\n<!-- D.\n\nE. -->\n";
    let drift = compare(informal, old, commented);
    assert_eq!(drift.cited, []);
    let texts = |all: &[tlaforge::prompt::Quoted]| all.iter().map(|one| one.text.clone()).collect::<Vec<_>>();
    assert_eq!(texts(&drift.new_normative), ["<!-- B must check. -->"]);
    assert_eq!(texts(&drift.other_new), ["<!-- C. -->", "<!-- D. E. -->"]);
    // The model has read a comment of the cited lines.
    let names = |drift: &Drift| {
        drift.cited.iter().flat_map(|one| one.cited_by.iter().map(|(_, id)| id.clone())).collect::<Vec<_>>()
    };
    assert_eq!(names(&compare(informal, old, &old.replace("Owner: A", "Owner: B"))), ["R2"]);
    assert_eq!(names(&compare(informal, old, &old.replace("<!-- Owner: A. -->\n", ""))), ["R2"]);
    // Text that is put into a comment is not the same text.
    assert_eq!(
        names(&compare(informal, old, &old.replace("It is taken\nonce.", "<!-- It is taken\nonce. -->"))),
        ["R1"]
    );
}

#[test]
fn text_below_another_heading_is_drift() {
    let bench = bench();
    let text = bench.read("docs/pool.md");
    let headings: Vec<&str> = text.lines().filter(|line| line.starts_with("## ")).collect();
    let (one, other) = (headings[0], headings[1]);
    bench.write("docs/pool.md", text.replace(one, "#SWAP").replace(other, one).replace("#SWAP", other));
    let (was, now) = (format!("was: below \"{}\"", &one[3..]), format!("now: below \"{}\"", &other[3..]));
    drift(&bench, &[]).expect(1).prints(&[
        "Drift: ",
        "is below another heading (in the run: docs/pool.md:",
        &was,
        &now,
    ]);
    let found = json(&bench, 1);
    let first = &found["changes"][0];
    assert_eq!((&first["change"], &first["now"]["text"]), (&"heading".into(), &other[3..].into()), "{first:#}");
    // Another text of a heading; a person can accept it.
    bench.write("docs/pool.md", text.replace(one, "## Withdrawn"));
    let open = drift(&bench, &[]).expect(1);
    let names: Vec<&str> = open.stdout.lines().next().unwrap().rsplit(": ").next().unwrap().split(", ").collect();
    let accept = names.iter().flat_map(|name| ["--accept", name.trim_start_matches("step ")]);
    drift(&bench, &accept.chain(["--because", "read"]).collect::<Vec<_>>()).expect(0);
    // Another number of it.
    bench.write("docs/pool.md", text.replace("## ", "## 1."));
    drift(&bench, &[]).expect(0);
}

#[test]
fn any_heading_above_cited_text_counts_and_its_number_does_not() {
    let informal = "## Requirements\nR1 [docs/a.md:3, 4] One.\nR2 [docs/a.md:8] Two.\n";
    let old = "# Lock\n## 2.1 Guarantees\nIt ends.\nAt last.\n### Time\nNow.\n## Limits\nIt begins.\n";
    let below = |new: &str| {
        let cited = compare(informal, old, new).cited.into_iter();
        let text = |quoted: &Option<tlaforge::prompt::Quoted>| {
            quoted.as_ref().map_or("none".to_owned(), |quoted| quoted.text.clone())
        };
        cited
            .map(|change| {
                format!("{:?} {} > {}: {}", change.kind, text(&change.before), text(&change.now), text(&change.beside))
            })
            .collect::<Vec<_>>()
    };
    assert_eq!(below(old), [""; 0]);
    for same in [
        old.replace("2.1", "2.2"),
        old.replace("## 2.1 Guarantees", "## Guarantees"),
        old.replace("## Limits", "## 3. **Limits**"),
        old.replace("# Lock\n", "Lock\n====\n"),
        old.replace("### Time\nNow.\n", ""),
        old.replace("### Time", "### Clock"),
    ] {
        assert_eq!(below(&same), [""; 0], "{same}");
    }
    let guarantees = "2.1 Guarantees > Not guaranteed: It ends. At last.";
    for (new, expected) in [
        (old.replace("2.1 Guarantees", "Not guaranteed"), vec![format!("Heading {guarantees}")]),
        (
            old.replace("# Lock", "# Lock (withdrawn)"),
            vec![
                "Heading Lock > Lock (withdrawn): It ends. At last.".to_owned(),
                "Heading Lock > Lock (withdrawn): It begins.".to_owned(),
            ],
        ),
        (old.replace("## Limits", "### Limits"), vec!["Heading Limits > 2.1 Guarantees: It begins.".to_owned()]),
        (
            old.replace("It begins.\n", "").replace("## 2.1", "It begins.\n## 2.1"),
            vec!["Heading Limits > none: It begins.".to_owned()],
        ),
        (
            old.replace("## Limits\nIt", "## Limits\nFees.\n\nNot guaranteed\n--------------\nIt"),
            vec!["Heading Limits > Not guaranteed: It begins.".to_owned()],
        ),
    ] {
        let found = below(&new);
        assert!(expected.iter().all(|one| found.contains(one)), "{new}: {found:#?}");
        assert_eq!(found.iter().filter(|one| one.starts_with("Heading")).count(), expected.len(), "{found:#?}");
    }
}

#[test]
fn a_row_of_marks_is_text_and_the_width_of_a_column_is_not() {
    let old = "| a | b |\n|---|---|\n| \u{2713} | \u{2717} |\n";
    let cited = ["R1 [docs/a.md:3]"];
    assert_eq!(compared(&cited, old, "| a  | b  |\n|:---|----|\n| \u{2713}  |\u{2717}|\n"), [""; 0]);
    assert_eq!(
        compared(&cited, old, &old.replace("\u{2713} | \u{2717}", "\u{2717} | \u{2717}")),
        ["| \u{2713} | \u{2717} | -> | \u{2717} | \u{2717} |"]
    );
}

#[test]
fn a_step_cites_each_line_of_a_list_in_words() {
    let informal = "## Steps\n- `Lock`: takes it [docs/a.md:1 and 3]\n";
    let drift = compare(informal, "It is free.\n\nIt is taken.\n", "It is free.\n\nIt is broken.\n");
    assert_eq!(drift.cited.len(), 1, "{drift:?}");
}

fn compare(informal: &str, old: &str, new: &str) -> Drift {
    let document = |text: &str| [Document { path: "a.md".to_owned(), text: text.to_owned() }];
    compare_documents(informal, &document(old), &document(new), &["must".to_owned()])
}

/// Paragraphs of sentences with few different words, so that many are equal.
fn paragraphs() -> impl Strategy<Value = Vec<Vec<String>>> {
    let sentence = prop::collection::vec("[a-c]{1,2}", 1..4).prop_map(|words| {
        let text = words.join(" ") + ".";
        text[..1].to_uppercase() + &text[1..]
    });
    prop::collection::vec(prop::collection::vec(sentence, 1..4), 1..7)
}

/// The paragraphs as two documents, wrapped at some of the blanks, and the lines of each paragraph.
fn documents(paragraphs: &[Vec<String>], wraps: &[bool], split: usize) -> (Vec<Document>, Vec<String>) {
    let mut documents: Vec<Document> =
        ["a.md", "b.md"].map(|path| Document { path: path.to_owned(), text: "# Title\n\n".to_owned() }).into();
    let mut wraps = wraps.iter().cycle();
    let mut places = Vec::new();
    for (n, sentences) in paragraphs.iter().enumerate() {
        let document = &mut documents[usize::from(n >= split)];
        let from = document.text.lines().count() + 1;
        let wrapped = |c: char| if c == ' ' && *wraps.next().unwrap() { '\n' } else { c };
        let text: String = sentences.join(" ").chars().map(wrapped).collect();
        document.text += &text;
        places.push(format!("docs/{}:{from}-{}", document.path, document.text.lines().count()));
        document.text += "\n\n";
    }
    (documents, places)
}

/// The changes of cited text as `before -> now`, for requirements in this form: `R1 [docs/a.md:3] …`.
fn compared(requirements: &[&str], old: &str, new: &str) -> Vec<String> {
    let document = |text: &str| [Document { path: "a.md".to_owned(), text: text.to_owned() }];
    let lines = requirements.join(" A requirement.\n");
    let drift =
        compare_documents(&format!("## Requirements\n{lines} A requirement.\n"), &document(old), &document(new), &[]);
    let text = |quoted: &Option<tlaforge::prompt::Quoted>| quoted.as_ref().map_or("", |quoted| &quoted.text).to_owned();
    drift.cited.iter().map(|change| format!("{} -> {}", text(&change.before), text(&change.now))).collect()
}

#[test]
fn items_of_a_list_are_compared_with_those_at_their_place() {
    let old = "- Readers: 10\n- Writers: 20\n";
    let cited = ["R1 [docs/a.md:1-2]"];
    assert_eq!(
        compared(&cited, old, "- Readers: 20\n- Writers: 40\n"),
        ["Readers: 10 -> Readers: 20", "Writers: 20 -> Writers: 40"]
    );
    // What stands where cited text was is a part of the change, however many lines it has now.
    let more = compared(&cited, old, "- Readers: 20\n- Guests: none\n- Writers: 40\n");
    assert!(more.iter().any(|change| change.ends_with("-> Guests: none")), "{more:?}");
}

#[test]
fn a_sentence_that_resembles_another_one_is_still_new_beside_cited_text() {
    let old = "The owner in maintenance mode is exempt from logging.\n\nEvery client takes the lock.\n";
    let new = "Every client takes the lock. The owner in maintenance mode is exempt from locking.\n";
    assert_eq!(
        compared(&["R1 [docs/a.md:3]"], old, new),
        [" -> The owner in maintenance mode is exempt from locking."]
    );
    let moved = "Every client takes the lock. The owner in maintenance mode is exempt from logging.\n";
    assert_eq!(compared(&["R1 [docs/a.md:3]"], old, moved).len(), 1);
}

#[test]
fn code_is_compared_with_its_order_its_indentation_and_its_marks() {
    let code = |lines: &str| format!("```\n{lines}\n```\n");
    let cited = ["R1 [docs/a.md:2, 3, 4]"];
    let old = code("lock()\nwrite()\nunlock()");
    let other = code("write()\nlock()\nunlock()");
    let found = compared(&cited, &old, &other);
    let whole_block = |change: &String| change == "lock()\nwrite()\nunlock() -> write()\nlock()\nunlock()";
    assert!(!found.is_empty() && found.iter().all(whole_block), "{found:?}");
    let whole = ["R1 [docs/a.md:2-4]"];
    assert_ne!(compared(&whole, &code("if free:\n    write()\nx"), &code("if free:\nwrite()\nx")), [""; 0]);
    assert_ne!(compared(&whole, &code("if {\nwrite()\n}"), &code("if {\n}\nwrite()")), [""; 0]);
    assert_eq!(compared(&whole, &code("if free:\n    write()\nx"), &code("  if free:\n  \twrite()\n  x")), [""; 0]);
    assert_ne!(compared(&["R1 [docs/a.md:1-2]"], "The reserve is\n>= 0.\n", "The reserve is\n= 0.\n"), [""; 0]);
}

#[test]
fn an_acceptance_counts_for_one_place_and_one_run() {
    let bench = bench();
    let accept = |item: &str| drift(&bench, &["--accept", item, "--because", "read"]);
    edit(&bench, "docs/guarantees.md", "never decreases", "rarely decreases");
    accept("R2").expect(1);
    accept("R3").expect(0).prints(&["Accepted:\n  docs/guarantees.md:9 has changed\n      was: The product"]);
    // The same lines in the folder of another specification.
    let line = bench.read("demo-specs/accepted_drift.jsonl");
    assert!(line.contains("\"informal\":\""), "{line}");
    let start = line.find("\"informal\":\"").unwrap() + 12;
    bench.write("demo-specs/accepted_drift.jsonl", line.replace(&line[start..start + 64], &"0".repeat(64)));
    drift(&bench, &[]).expect(1);
    let done = drift(&bench, &["--accept", "R2", "--because", "ok\nOutcome: approved by all"]);
    done.expect(2).says(&["--because has a line break"]);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(1_000) })]

    #[test]
    fn paragraphs_in_any_order_and_wrapping_are_no_drift_and_any_other_letter_is(
        (old, new) in paragraphs().prop_flat_map(|old| {
            let numbered: Vec<_> = old.clone().into_iter().enumerate().collect();
            (Just(old), Just(numbered).prop_shuffle())
        }),
        wraps in prop::collection::vec(any::<bool>(), 2 * 7),
        splits in (0_usize..7, 0_usize..7),
        changed in (any::<prop::sample::Index>(), any::<prop::sample::Index>()),
    ) {
        let (before, places) = documents(&old, &wraps[..7], splits.0);
        let requirements = places.iter().enumerate().map(|(n, place)| format!("R{n} [{place}] Requirement.\n"));
        let informal = format!("## Requirements\n{}", requirements.collect::<String>());
        let texts: Vec<Vec<String>> = new.iter().map(|(_, text)| text.clone()).collect();
        let (after, _) = documents(&texts, &wraps[7..], splits.1);
        let drift = compare_documents(&informal, &before, &after, &[]);
        prop_assert_eq!(&drift.cited, &[]);
        prop_assert_eq!((drift.uncited.len(), drift.other_new.len(), drift.compared.len()), (0, 0, old.len()));

        let mut texts = texts;
        let at = changed.0.index(texts.len());
        let sentence = changed.1.index(texts[at].len());
        // The last letter of the sentence: the next one of the alphabet.
        let text = &mut texts[at][sentence];
        let earlier = text.clone();
        let letter = text.chars().rev().nth(1).unwrap();
        let other = match letter { 'a' => 'b', 'b' => 'c', 'c' => 'a', 'A' => 'B', 'B' => 'C', _ => 'A' };
        text.replace_range(text.len() - 2..text.len() - 1, &other.to_string());
        let (after, _) = documents(&texts, &wraps[7..], splits.1);
        let drift = compare_documents(&informal, &before, &after, &[]);
        // Of equal sentences, the one that is still at its place is not the one that changed, so only the text is sure.
        let named = drift.cited.iter().any(|change| change.before.as_ref().is_some_and(|before| before.text == earlier));
        prop_assert!(named, "{} is not in {:#?}", earlier, drift.cited);
        prop_assert!(drift.cited.iter().all(|change| !change.cited_by.is_empty()));
    }
}
