//! `doctor --fetch-tools --jar-url`: what is downloaded is what its checksum says, or nothing is written.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpListener;
use std::thread;

use crate::libraries::make_jar;
use crate::support::{Bench, jar};
use tlaforge::files::Sha;

/// Serves these bytes on loopback at `/jar`, and redirects `/latest` to it.
fn serve(bytes: Vec<u8>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut lines = BufReader::new(stream.try_clone().unwrap()).lines();
            let request = lines.next().unwrap().unwrap();
            while lines.next().is_some_and(|line| !line.unwrap().is_empty()) {}
            let (status, more, body): (_, _, &[u8]) = match request.split(' ').nth(1).unwrap() {
                "/latest/Community.jar" => ("302 Found", "location: /jar\r\n", &[]),
                "/jar" => ("200 OK", "", &bytes),
                _ => ("404 Not Found", "", b"no such file"),
            };
            let head =
                format!("HTTP/1.1 {status}\r\n{more}connection: close\r\ncontent-length: {}\r\n\r\n", body.len());
            // The client may have seen enough.
            let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(body));
        }
    });
    address
}

fn bench() -> Bench {
    let mut bench = Bench::without_tools();
    let cache = bench.path("cache").display().to_string();
    bench.set("XDG_CACHE_HOME", &cache);
    bench
}

#[test]
fn a_library_is_fetched_by_its_checksum_and_named_for_use() {
    let bench = bench();
    bench.write("modules/Steps.tla", "---- MODULE Steps ----\nEXTENDS Naturals\nNext(x) == (x + 1) % 3\n====\n");
    make_jar(&bench, "made.jar", "modules");
    let bytes = std::fs::read(bench.path("made.jar")).unwrap();
    let url = serve(bytes.clone()) + "/latest/Community.jar";
    let sha256 = Sha::digest(&bytes).to_string();
    let fetch = ["doctor", "--fetch-tools", "--jar-url", &url, "--jar-sha256", &sha256];
    let jar = bench.path("cache/tlaforge/modules-Community.jar");
    bench.run(&fetch).says(&["the modules are in", "use them with --library", jar.to_str().unwrap()]);
    assert_eq!(std::fs::read(&jar).unwrap(), bytes);
    bench.write(
        "M.tla",
        "---- MODULE M ----\nEXTENDS Naturals, Steps\nVARIABLE x\nInit == x = 0\nStep == x' = Next(x)\n====\n",
    );
    bench.write("M.cfg", "INIT Init\nNEXT Step\n");
    let check = ["check", "M.tla", "--checker", "embedded", "--library", jar.to_str().unwrap()];
    bench.run(&check).expect(0).prints(&["3 distinct"]);
}

#[test]
fn a_newer_jar_of_the_tools_replaces_the_cached_one() {
    let bench = bench();
    let bytes = std::fs::read(jar()).unwrap();
    let url = serve(bytes.clone()) + "/jar";
    // Publishers also write digests in capitals.
    let sha256 = Sha::digest(&bytes).to_string().to_uppercase();
    bench.write("cache/tlaforge/tla2tools.jar", "an older one");
    bench.run(&["doctor", "--fetch-tools", "--jar-url", &url, "--jar-sha256", &sha256]).says(&["tla2tools.jar is in"]);
    assert_eq!(std::fs::read(bench.path("cache/tlaforge/tla2tools.jar")).unwrap(), bytes);
}

#[test]
fn nothing_is_written_that_was_not_asked_for() {
    let bench = bench();
    bench.write("cache/tlaforge/tla2tools.jar", "the old one");
    let page = b"<html>Sign in to download</html>".to_vec();
    let address = serve(page.clone());
    let of_page = Sha::digest(&page).to_string();
    let other = "0".repeat(64);
    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    for (url, sha256, status, why) in [
        (format!("{address}/jar"), &other, 4, "its SHA-256 is"),
        (format!("{address}/jar"), &of_page, 4, "it is no jar"),
        (format!("{address}/other"), &of_page, 4, "404"),
        (format!("http://{closed}/jar"), &of_page, 4, "cannot download"),
        ("no address".to_owned(), &of_page, 4, "cannot download no address"),
        (format!("{address}/jar"), &"abc".to_owned(), 2, "64 hexadecimal digits"),
    ] {
        let fetch = ["doctor", "--fetch-tools", "--jar-url", &url, "--jar-sha256", sha256];
        bench.run(&fetch).expect(status).says(&[why]);
    }
    bench.run(&["doctor", "--fetch-tools", "--jar-url", "http://127.0.0.1/jar"]).expect(2);
    assert_eq!(bench.read("cache/tlaforge/tla2tools.jar"), "the old one");
    assert_eq!(std::fs::read_dir(bench.path("cache/tlaforge")).unwrap().count(), 1);
}
