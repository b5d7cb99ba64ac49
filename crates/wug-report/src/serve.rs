//! The page of a report on 127.0.0.1, made again when its folders change.

use std::collections::hash_map::DefaultHasher;
use std::fs;
use std::hash::{Hash, Hasher};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::time::Duration;

use wug_data::{Error, Result};

use crate::Report;

/// A request's head is at most this long.
const MOST_HEAD: u64 = 16 << 10;
/// How long a client may take to say what it wants.
const PATIENCE: Duration = Duration::from_secs(5);
/// How deep changes are looked for.
const DEPTH: usize = 5;

/// Serves the page of some folders until the process ends; `ready` is told where.
///
/// Only this machine can reach it, and only by its number: a request for another host is refused, so that no page from
/// elsewhere can read it.
///
/// # Errors
/// If the port cannot be had.
pub fn serve(folders: &[PathBuf], port: u16, ready: impl FnOnce(SocketAddr)) -> Result<()> {
    let failed = |error: io::Error| Error::failed(format!("cannot serve on 127.0.0.1:{port}: {error}"));
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).map_err(failed)?;
    let address = listener.local_addr().map_err(failed)?;
    ready(address);
    let mut page: Option<(u64, String)> = None;
    for stream in listener.incoming() {
        // One client that goes away is no reason to end.
        let _ = stream.and_then(|stream| answer(stream, folders, address, &mut page));
    }
    Ok(())
}

fn answer(
    mut stream: TcpStream,
    folders: &[PathBuf],
    address: SocketAddr,
    page: &mut Option<(u64, String)>,
) -> io::Result<()> {
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    let (path, host) = request(&stream)?;
    let known = [address.to_string(), format!("localhost:{}", address.port())];
    if !known.contains(&host) {
        return respond(&mut stream, "403 Forbidden", "text/plain", "ask for 127.0.0.1\n");
    }
    let version = version(folders);
    match path.as_str() {
        "/version" => respond(&mut stream, "200 OK", "text/plain", &version.to_string()),
        "/" => {
            let text = match page.take() {
                Some((known, text)) if known == version => text,
                _ => Report::collect(folders).live_html(),
            };
            let done = respond(&mut stream, "200 OK", "text/html; charset=utf-8", &text);
            *page = Some((version, text));
            done
        }
        _ => respond(&mut stream, "404 Not Found", "text/plain", "there is only /\n"),
    }
}

/// The path and the host of a GET request.
fn request(stream: &TcpStream) -> io::Result<(String, String)> {
    let mut lines = BufReader::new(stream.take(MOST_HEAD)).lines();
    let first = lines.next().transpose()?.unwrap_or_default();
    let path =
        first.strip_prefix("GET ").and_then(|rest| rest.split(' ').next()).unwrap_or_default().to_owned();
    let mut host = String::new();
    for line in lines {
        let line = line?;
        if line.is_empty() {
            break;
        }
        if let Some((name, value)) = line.split_once(':')
            && name.eq_ignore_ascii_case("host")
        {
            value.trim().clone_into(&mut host);
        }
    }
    Ok((path, host))
}

fn respond(stream: &mut TcpStream, status: &str, kind: &str, body: &str) -> io::Result<()> {
    let length = body.len();
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\nCache-Control: no-store\r\n\
         X-Content-Type-Options: nosniff\r\nConnection: close\r\n\r\n"
    );
    stream.write_all(head.as_bytes())?;
    stream.write_all(body.as_bytes())
}

/// A number that changes when files of runs or experiments do.
fn version(folders: &[PathBuf]) -> u64 {
    let mut hash = DefaultHasher::new();
    for folder in folders {
        add(folder, 0, &mut hash);
    }
    hash.finish()
}

fn add(path: &Path, depth: usize, hash: &mut DefaultHasher) {
    let Ok(entries) = fs::read_dir(path) else { return };
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    for path in paths {
        let Ok(about) = fs::metadata(&path) else { continue };
        if about.is_dir() && depth < DEPTH {
            add(&path, depth + 1, hash);
        } else if path.extension().is_some_and(|extension| extension == "json" || extension == "jsonl") {
            (path, about.len(), about.modified().ok()).hash(hash);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn get(address: SocketAddr, path: &str, host: &str) -> String {
        let mut stream = TcpStream::connect(address).unwrap();
        write!(stream, "GET {path} HTTP/1.1\r\nHost: {host}\r\n\r\n").unwrap();
        let mut text = String::new();
        stream.read_to_string(&mut text).unwrap();
        text
    }

    #[test]
    fn the_page_is_served_to_this_machine_and_follows_its_folders() {
        let folder = tempfile::tempdir().unwrap();
        let (sender, receiver) = std::sync::mpsc::channel();
        let folders = vec![folder.path().to_owned()];
        std::thread::spawn(move || serve(&folders, 0, |address| sender.send(address).unwrap()));
        let address = receiver.recv().unwrap();
        let host = address.to_string();
        assert!(get(address, "/", &host).contains("no run and no experiment"));
        assert!(get(address, "/", "evil.example").starts_with("HTTP/1.1 403"));
        assert!(get(address, "/etc/passwd", &host).starts_with("HTTP/1.1 404"));
        let before = get(address, "/version", &host);
        fs::create_dir(folder.path().join("x")).unwrap();
        fs::write(folder.path().join("x/metrics.jsonl"), "{}").unwrap();
        assert_ne!(get(address, "/version", &host), before);
    }
}
