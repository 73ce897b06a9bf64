//! An engine whose answers a test chooses.

use std::sync::Arc;

use serde_json::Value;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::{TcpListener, TcpStream};

/// An engine on loopback that answers each request with a JSON; one with a `restate_code` is an error. `answer` gets the line of
/// the request, such as `POST /query`, and its body.
pub(crate) async fn start_engine<F>(answer: impl Fn(String, String) -> F + Send + Sync + 'static) -> String
where
    F: Future<Output = Value> + Send + 'static,
{
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let answer = Arc::new(answer);
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let answer = answer.clone();
            tokio::spawn(async move {
                let mut stream = BufReader::new(stream);
                let (line, body) = read_request(&mut stream).await;
                let answer = answer(line, body).await;
                let status = if answer["restate_code"].is_null() { "200 OK" } else { "500 Internal Server Error" };
                let text = answer.to_string();
                let head = format!("HTTP/1.1 {status}\r\nconnection: close\r\ncontent-length: {}\r\n\r\n", text.len());
                // The client may no longer wait for it.
                let _ = stream.write_all((head + &text).as_bytes()).await;
            });
        }
    });
    address
}

async fn read_request(stream: &mut BufReader<TcpStream>) -> (String, String) {
    let mut head = Vec::new();
    loop {
        let mut line = String::new();
        stream.read_line(&mut line).await.unwrap();
        match line.trim_end() {
            "" => break,
            line => head.push(line.to_ascii_lowercase()),
        }
    }
    let length = head.iter().find_map(|line| line.strip_prefix("content-length: ")).unwrap_or("0");
    let mut body = vec![0; length.parse().unwrap()];
    stream.read_exact(&mut body).await.unwrap();
    (head.swap_remove(0), String::from_utf8(body).unwrap())
}
