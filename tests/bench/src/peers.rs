//! The same work with serde_json and jsonschema, written as one would by hand.

use std::collections::HashMap;

use jsonschema::Validator;
use serde_json::{Value, json};
use toolcore::dialect::Dialect;

use crate::data;

pub(crate) fn ignore(text: &str) {
    serde_json::from_slice::<serde::de::IgnoredAny>(text.as_bytes()).unwrap();
}

pub(crate) fn parse(text: &str) -> Value {
    serde_json::from_slice(text.as_bytes()).unwrap()
}

pub(crate) fn validator(schema: &str) -> Validator {
    jsonschema::validator_for(&parse(schema)).unwrap()
}

/// What is wrong with a text, in one line.
pub(crate) fn problems(validator: &Validator, text: &str) -> String {
    let value = parse(text);
    let problems = validator.iter_errors(&value);
    let problems = problems.map(|problem| format!("{}: {problem}", problem.instance_path()));
    problems.collect::<Vec<_>>().join("; ")
}

/// Validators by the names of their tools.
pub(crate) struct Tools(HashMap<String, Validator>);

impl Tools {
    pub(crate) fn new(count: usize) -> Self {
        Tools((0..count).map(|index| (data::tool_name(index), validator(data::SCHEMA))).collect())
    }

    /// The messages that answer a reply.
    pub(crate) fn answer(&self, dialect: Dialect, reply: &str) -> String {
        let reply = parse(reply);
        let messages = match dialect {
            Dialect::Anthropic => {
                let calls =
                    reply["content"].as_array().unwrap().iter().filter(|block| block["type"] == "tool_use");
                let results: Vec<Value> = calls
                    .map(|call| {
                        let content = self.run(call["name"].as_str().unwrap(), &call["input"]);
                        json!({"type": "tool_result", "tool_use_id": call["id"], "content": content})
                    })
                    .collect();
                json!([{"role": "user", "content": results}])
            }
            _ => reply["choices"][0]["message"]["tool_calls"]
                .as_array()
                .unwrap()
                .iter()
                .map(|call| {
                    let arguments = parse(call["function"]["arguments"].as_str().unwrap());
                    let content = self.run(call["function"]["name"].as_str().unwrap(), &arguments);
                    json!({"role": "tool", "tool_call_id": call["id"], "content": content})
                })
                .collect(),
        };
        serde_json::to_string(&messages).unwrap()
    }

    fn run(&self, name: &str, arguments: &Value) -> String {
        assert!(self.0[name].is_valid(arguments));
        format!("{}: 21 C", arguments["city"].as_str().unwrap())
    }
}

/// The members of a request that tell the model of the tools, ready to be written.
pub(crate) fn rendered(dialect: Dialect, count: usize) -> Value {
    let tools: Vec<Value> = (0..count)
        .map(|index| {
            let (name, description) = (data::tool_name(index), data::tool_description(index));
            let schema = parse(data::SCHEMA);
            match dialect {
                Dialect::Anthropic => json!({"name": name, "description": description, "input_schema": schema}),
                _ => json!({"type": "function", "function": {"name": name, "description": description, "parameters": schema}}),
            }
        })
        .collect();
    json!({ "tools": tools })
}
