//! Where each dialect has its calls, tools and results, for tests that go through all of them.

use serde_json::{Value as Json, json};
use toolcore::dialect::Dialect;

/// The dialects whose messages are JSON.
pub(crate) fn json_dialects() -> impl Iterator<Item = Dialect> {
    Dialect::ALL.into_iter().filter(|dialect| !dialect.is_text())
}

/// A reply with a call of each name and no arguments, with the ids `c0`, `c1` and so on.
pub(crate) fn reply(dialect: Dialect, names: &[&str]) -> String {
    let calls = |call: fn(String, &str) -> Json| -> Json {
        names.iter().enumerate().map(|(at, name)| call(format!("c{at}"), name)).collect()
    };
    match dialect {
        Dialect::OpenAiChat | Dialect::MistralChat => {
            let call = |id, name: &str| json!({"id":id,"type":"function","function":{"name":name,"arguments":"{}"}});
            json!({"role":"assistant","content":null,"tool_calls":calls(call)})
        }
        Dialect::OpenAiResponses => {
            let call = |id, name: &str| json!({"type":"function_call","id":"fc","call_id":id,"name":name,"arguments":"{}"});
            json!({"output":calls(call)})
        }
        Dialect::Anthropic => {
            json!({"content":calls(|id, name| json!({"type":"tool_use","id":id,"name":name,"input":{}}))})
        }
        Dialect::Gemini | Dialect::GeminiSchema => {
            let parts = calls(|id, name| json!({"functionCall":{"id":id,"name":name,"args":{}}}));
            json!({"candidates":[{"content":{"role":"model","parts":parts}}]})
        }
        Dialect::Bedrock => {
            let content = calls(|id, name| json!({"toolUse":{"toolUseId":id,"name":name,"input":{}}}));
            json!({"output":{"message":{"role":"assistant","content":content}}})
        }
        Dialect::Ollama => {
            let calls = calls(|id, name| json!({"id":id,"function":{"name":name,"arguments":{}}}));
            json!({"message":{"role":"assistant","content":"","tool_calls":calls}})
        }
        Dialect::Cohere => {
            let call = |id, name: &str| json!({"id":id,"type":"function","function":{"name":name,"arguments":"{}"}});
            json!({"message":{"role":"assistant","tool_calls":calls(call)},"finish_reason":"TOOL_CALL"})
        }
        Dialect::Hermes | Dialect::Llama3 | Dialect::Mistral => panic!("{} is text", dialect.name()),
        Dialect::Mcp => {
            json!({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":names[0],"arguments":{}}})
        }
    }
    .to_string()
}

/// What is told of each tool: the objects that hold its name, and the place of its schema in them.
pub(crate) fn tools(dialect: Dialect, request: &Json) -> (Vec<Json>, &'static str) {
    let (list, body, schema) = match dialect {
        Dialect::OpenAiChat | Dialect::MistralChat | Dialect::Cohere | Dialect::Ollama => {
            ("/tools", "/function", "/parameters")
        }
        Dialect::OpenAiResponses => ("/tools", "", "/parameters"),
        Dialect::Anthropic => ("/tools", "", "/input_schema"),
        Dialect::Gemini => ("/tools/0/functionDeclarations", "", "/parametersJsonSchema"),
        Dialect::GeminiSchema => ("/tools/0/functionDeclarations", "", "/parameters"),
        Dialect::Bedrock => ("/toolConfig/tools", "/toolSpec", "/inputSchema/json"),
        Dialect::Mcp => ("/tools", "", "/inputSchema"),
        Dialect::Hermes | Dialect::Llama3 | Dialect::Mistral => panic!("{} is text", dialect.name()),
    };
    let tools = request.pointer(list).and_then(Json::as_array).into_iter().flatten();
    (tools.filter_map(|tool| tool.pointer(body)).cloned().collect(), schema)
}

/// The results in messages: each the object that holds the id, and the id's key.
pub(crate) fn results(dialect: Dialect, messages: &Json) -> (Vec<Json>, &'static str) {
    let (list, body, key) = match dialect {
        Dialect::OpenAiChat | Dialect::MistralChat | Dialect::Cohere | Dialect::Ollama => {
            ("", "", "tool_call_id")
        }
        Dialect::OpenAiResponses => ("", "", "call_id"),
        Dialect::Anthropic => ("/0/content", "", "tool_use_id"),
        Dialect::Gemini | Dialect::GeminiSchema => ("/0/parts", "/functionResponse", "id"),
        Dialect::Bedrock => ("/0/content", "/toolResult", "toolUseId"),
        Dialect::Hermes | Dialect::Llama3 | Dialect::Mistral => panic!("{} is text", dialect.name()),
        Dialect::Mcp => return (vec![messages.clone()], ""),
    };
    let results = messages.pointer(list).and_then(Json::as_array).into_iter().flatten();
    (results.filter_map(|result| result.pointer(body)).cloned().collect(), key)
}
