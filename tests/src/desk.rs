//! The desk tool as a test talks with it: a request a line in, an answer a line out.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::{Mutex, MutexGuard, OnceLock};

use serde_json::Value;

/// A running desk tool. It ends when it is dropped.
pub struct Desk {
    child: Child,
    requests: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Desk {
    /// Starts the desk tool with these flags, or says that `test` is skipped.
    ///
    /// # Panics
    /// If it does not build or start.
    pub fn start(test: &str, flags: &[&str]) -> Option<Desk> {
        let program = crate::inspect(test)?;
        let child = Command::new(program).args(flags).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
        let mut child = child.unwrap_or_else(|error| crate::fail(&format!("{}: {error}", program.display())));
        let (Some(requests), Some(answers)) = (child.stdin.take(), child.stdout.take()) else {
            crate::fail("the desk tool has no input or output")
        };
        Some(Desk { child, requests, answers: BufReader::new(answers) })
    }

    /// The one desk tool that all tests of a program share.
    pub fn shared(test: &str) -> Option<MutexGuard<'static, Desk>> {
        static DESK: OnceLock<Option<Mutex<Desk>>> = OnceLock::new();
        let desk = DESK.get_or_init(|| Desk::start(test, &[]).map(Mutex::new));
        if desk.is_none() {
            crate::skip(test, "there is no C compiler");
        }
        // A test that failed has left the desk tool between two requests.
        Some(desk.as_ref()?.lock().unwrap_or_else(|poisoned| poisoned.into_inner()))
    }

    /// Sends one line, whatever it holds, and gives the answer's line.
    ///
    /// # Panics
    /// If the desk tool has ended.
    pub fn send(&mut self, line: &[u8]) -> String {
        let sent = self.requests.write_all(line).and_then(|()| self.requests.write_all(b"\n"));
        let mut answer = String::new();
        let read =
            sent.and_then(|()| self.requests.flush()).and_then(|()| self.answers.read_line(&mut answer));
        match read {
            Ok(length) if length > 0 => answer.trim_end_matches('\n').to_owned(),
            _ => {
                let shown = String::from_utf8_lossy(line.get(..line.len().min(400)).unwrap_or_default());
                crate::fail(&format!("the desk tool ended ({:?}) at: {shown}", self.child.wait()))
            }
        }
    }

    /// Asks, and gives the answer, which is JSON.
    ///
    /// # Panics
    /// If it is not.
    pub fn ask(&mut self, request: &Value) -> Value {
        self.ask_text(&request.to_string())
    }

    /// Like [`Desk::ask`] for a request whose text matters.
    ///
    /// # Panics
    /// If the answer is not JSON.
    pub fn ask_text(&mut self, request: &str) -> Value {
        let answer = self.send(one_line(request).as_bytes());
        serde_json::from_str(&answer).unwrap_or_else(|error| crate::fail(&format!("{error}: {answer}")))
    }

    /// Closes its input and waits for its end; gives whether it succeeded, and what it still wrote.
    pub fn end(mut self) -> (bool, String) {
        drop(self.requests);
        let mut rest = String::new();
        let read = std::io::Read::read_to_string(&mut self.answers, &mut rest);
        let ended = self.child.wait();
        (read.is_ok() && ended.is_ok_and(|status| status.success()), rest)
    }
}

/// JSON on one line: line ends stand only between its tokens.
pub fn one_line(json: &str) -> String {
    json.replace(['\n', '\r'], " ")
}

/// Starts a program once and says what it printed.
///
/// # Panics
/// If it cannot be started.
pub fn output_of(program: &Path, arguments: &[&str], input: &[u8]) -> (bool, String) {
    let child = Command::new(program)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let mut child = child.unwrap_or_else(|error| crate::fail(&format!("{}: {error}", program.display())));
    if let Some(mut stdin) = child.stdin.take() {
        // A program that does not read its input may end before it is written.
        stdin.write_all(input).ok();
    }
    match child.wait_with_output() {
        Ok(output) => {
            let text = [output.stdout, output.stderr].concat();
            (output.status.success(), String::from_utf8_lossy(&text).into_owned())
        }
        Err(error) => crate::fail(&format!("{}: {error}", program.display())),
    }
}
