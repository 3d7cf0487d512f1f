//! How large the programs of real schemas are.

use toolcore::json::{self, Value};
use toolcore::schema::{CompileOptions, compile};

use crate::data;

/// The most bytes of program for a byte of schema.
const MOST: f64 = 1.0;

/// The tools of a server.
pub(crate) struct Sizes {
    server: String,
    schemas: usize,
    bytes: usize,
    program: usize,
}

impl Sizes {
    fn share(&self) -> f64 {
        self.program as f64 / self.bytes as f64
    }
}

/// Compiles every schema of the recorded lists of tools.
pub(crate) fn measure() -> Vec<Sizes> {
    data::recorded_tools().into_iter().map(|(server, list)| sizes(server, &list)).collect()
}

fn sizes(server: String, list: &str) -> Sizes {
    let mut sizes = Sizes { server, schemas: 0, bytes: 0, program: 0 };
    for tool in json::parse(list.as_bytes(), &json::Options::default()).unwrap().items() {
        for schema in ["inputSchema", "outputSchema"].iter().filter_map(|key| tool.get(key)).map(Value::raw) {
            let mut memory = vec![0; 16 * schema.len()];
            sizes.schemas += 1;
            sizes.bytes += schema.len();
            sizes.program += compile(schema, &CompileOptions::default(), &mut memory).unwrap();
        }
    }
    sizes
}

/// Prints a line for each server.
pub(crate) fn print(all: &[Sizes]) {
    if all.is_empty() {
        return println!("../shared/data/mcp-tools is absent: sizes of programs are not shown");
    }
    println!(
        "{:40}{:>14}{:>12}{:>13}{:>9}",
        "programs of real schemas", "schemas", "bytes", "program", "share"
    );
    for sizes in all {
        let Sizes { server, schemas, bytes, program } = sizes;
        println!("  {server:38}{schemas:>14}{bytes:>12}{program:>13}{:>9.2}", sizes.share());
    }
}

/// A line for each server whose programs are too large.
pub(crate) fn broken(all: &[Sizes]) -> Vec<String> {
    let over = all.iter().filter(|sizes| sizes.share() > MOST);
    over.map(|sizes| format!("{}: {:.2} bytes of program for a byte of schema", sizes.server, sizes.share()))
        .collect()
}
