//! What is particular to the streams and turns of OpenAI Responses and Gemini.

use std::slice::from_ref;

use serde_json::{Value as Json, json};
use toolcore::dialect::{
    CallResult, Dialect, Finish, ReplyError, ResultsOptions, parse_reply, render_results,
};
use toolcore::result::ToolResult;
use toolcore::scratch::Scratch;
use toolcore::sink::Sink;
use toolcore::stream::{Stream, StreamError, StreamOptions};

use crate::chunks::examples;
use crate::common::read;
use crate::convert::{gemini, responses};
use crate::support::{ALL, CALLS, Seen, Watched, failed, sse, stream, stream_in, stream_watched, whole};

fn example(dialect: Dialect) -> Json {
    examples().into_iter().find(|(of, _)| *of == dialect).unwrap().1
}

fn responses_seen(events: &[Json]) -> Seen {
    stream(Dialect::OpenAiResponses, [sse(events, false).as_bytes()])
}

fn gemini_seen(events: &[Json]) -> Seen {
    stream(Dialect::Gemini, [sse(events, false).as_bytes()])
}

/// A response of Gemini with these parts.
fn parts(parts: &Json) -> Json {
    json!({"candidates":[{"content":{"role":"model","parts":parts},"index":0}]})
}

/// The end of a Gemini stream for this reason.
fn ends(reason: &str) -> Json {
    json!({"candidates":[{"finishReason":reason,"index":0}]})
}

fn call_item(status: &str, arguments: &str) -> Json {
    json!({"type":"function_call","id":"fc_1","call_id":"call_1","name":"f","arguments":arguments,"status":status})
}

fn added(item: Json) -> Json {
    json!({"type":"response.output_item.added","output_index":0,"item":item})
}

fn done(item: Json) -> Json {
    json!({"type":"response.output_item.done","output_index":0,"item":item})
}

fn delta(text: &str) -> Json {
    json!({"type":"response.function_call_arguments.delta","item_id":"fc_1","output_index":0,"delta":text})
}

fn completed() -> Json {
    json!({"type":"response.completed","response":{"status":"completed","error":null,"incomplete_details":null}})
}

/// What goes back of the example of Responses: order, ids, the encrypted reasoning; without what is only put
/// out (`status` of calls, `logprobs`, empty `content` of reasoning).
#[test]
fn a_turn_of_responses_goes_back_item_by_item() {
    let reply = example(Dialect::OpenAiResponses);
    let arguments = reply["output"][3]["arguments"].clone();
    let expected = json!([
        {"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"hm\n"}],
            "encrypted_content":"AAA=="},
        {"type":"message","id":"msg_1","role":"assistant","status":"completed","content":[
            {"type":"output_text","text":"Let me \"see\" 😀","annotations":[]}]},
        {"type":"web_search_call","id":"ws_1","status":"completed","action":{"type":"search","query":"x"}},
        {"type":"function_call","id":"fc_1","call_id":"call_1","name":"get_weather","arguments":arguments},
        {"type":"custom_tool_call","id":"ctc_1","call_id":"call_2","name":"sql","input":"SELECT \"a\"\n"},
        {"type":"function_call","id":"fc_3","call_id":"call_3","name":"ping","arguments":"{}"}]);
    assert_eq!(whole(Dialect::OpenAiResponses, &reply).unwrap().replay, Some(expected.clone()));
    assert_eq!(whole(Dialect::OpenAiResponses, &reply["output"]).unwrap().replay, Some(expected.clone()));
    assert_eq!(responses_seen(&responses(&reply, 3)).replay, Some(expected));
}

#[test]
fn what_responses_refuses_does_not_go_back() {
    let reasoning = json!({"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":null});
    let message = json!({"type":"message","id":"m","role":"assistant","status":"incomplete","content":[]});
    let replay =
        |items: Json| whole(Dialect::OpenAiResponses, &json!({"output":items})).unwrap().replay.unwrap();
    assert_eq!(replay(json!([reasoning, message])), json!([]));
    assert_eq!(replay(json!([reasoning])), json!([]), "reasoning wants what it led to");
    let call = json!({"type":"function_call","call_id":null,"name":"f","arguments":""});
    let expected = json!([
        {"type":"reasoning","id":"rs_1","summary":[]},
        {"type":"function_call","name":"f","arguments":"{}","call_id":"toolcore_0"}]);
    assert_eq!(replay(json!([reasoning, message, call])), expected, "an id is minted");
    let call = json!({"type":"function_call","call_id":"c","name":"f","arguments":{"a":1}});
    let expected = json!([{"type":"function_call","call_id":"c","name":"f","arguments":"{\"a\":1}"}]);
    assert_eq!(replay(json!([call])), expected);
}

/// The item that comes in the end counts, whatever the pieces were.
#[test]
fn the_whole_item_is_authoritative() {
    let other =
        json!({"type":"function_call","id":"fc_1","call_id":"call_9","name":"g","arguments":"{\"x\":2}"});
    let events =
        [added(call_item("in_progress", "")), delta("{\"x\":"), delta("1}"), done(other), completed()];
    let seen = responses_seen(&events);
    assert_eq!(seen.called(), [("g", "{\"x\":2}")]);
    assert_eq!(seen.calls[0].id.as_deref(), Some("call_9"));
    // An item that never began, and one without pieces: what it holds is shown when it comes.
    for events in [
        vec![done(call_item("completed", "{\"x\":1}")), completed()],
        vec![added(call_item("in_progress", "")), done(call_item("completed", "{\"x\":1}")), completed()],
    ] {
        let (seen, watched) = stream_watched(Dialect::OpenAiResponses, [sse(&events, false).as_bytes()]);
        assert_eq!((seen.called(), seen.finish), (vec![("f", "{\"x\":1}")], Finish::Complete));
        assert_eq!(watched.calls, [("call_1".into(), "f".into(), "{\"x\":1}".into(), true)]);
    }
}

#[test]
fn a_call_that_did_not_end_is_never_whole() {
    for last in [vec![], vec![completed()]] {
        let mut events = vec![added(call_item("in_progress", "")), delta("{\"x\":1")];
        events.extend(last);
        let seen = responses_seen(&events);
        assert_eq!(seen.calls.len(), 1);
        assert!(seen.calls[0].truncated);
    }
    // The call before the cut is whole.
    let next =
        json!({"type":"response.output_item.added","output_index":1,"item":call_item("in_progress", "")});
    let seen =
        responses_seen(&[added(call_item("in_progress", "")), done(call_item("completed", "{}")), next]);
    let cut: Vec<_> = seen.calls.iter().map(|call| call.truncated).collect();
    assert_eq!((cut, seen.finish), (vec![false, true], Finish::Truncated));
}

/// All arguments of a call.
fn filled() -> Json {
    json!({"type":"response.function_call_arguments.done","item_id":"fc_1","output_index":0,"arguments":"{\"x\":1}"})
}

/// Text in pieces, refused or not.
fn text_delta(kind: &str, text: &str) -> Json {
    json!({"type":format!("response.{kind}.delta"),"item_id":"m","output_index":0,"content_index":0,"delta":text})
}

fn message(status: &str, content: &Json) -> Json {
    json!({"type":"message","id":"m","role":"assistant","status":status,"content":content})
}

/// The last event, with all items.
fn completed_with(output: &Json) -> Json {
    let mut last = completed();
    last["response"]["output"] = output.clone();
    last
}

fn responses_watched(events: &[Json], options: StreamOptions) -> (Seen, Watched) {
    let text = sse(events, false);
    let (seen, watched) = stream_in(Dialect::OpenAiResponses, [text.as_bytes()], options, [256, 4096]);
    (seen.unwrap(), watched)
}

/// Whatever of a response comes more than once, and in whatever way: it is there once, and was told once.
#[test]
fn nothing_of_a_response_is_lost_or_doubled() {
    let said = message(
        "completed",
        &json!([{"type":"output_text","text":"he"},{"type":"output_text","text":"llo"}]),
    );
    let called = call_item("completed", "{\"x\":1}");
    let output = json!([said, called]);
    let number = |mut event: Json| {
        event["output_index"] = 1.into();
        event
    };
    let begins = added(message("in_progress", &json!([])));
    let [one, two] = ["he", "llo"].map(|text| text_delta("output_text", text));
    let says = [begins, one, two.clone(), done(said.clone())];
    let begun = number(added(call_item("in_progress", "")));
    let pieces = ["{\"x\"", ":1}"].map(|text| number(delta(text)));
    let (filled, ends) = (number(filled()), number(done(called.clone())));
    let calls: [&[Json]; 6] = [
        &[],
        from_ref(&ends),
        from_ref(&begun),
        &[begun.clone(), filled.clone()],
        &[begun.clone(), pieces[0].clone(), pieces[1].clone(), filled.clone()],
        &[begun.clone(), pieces[0].clone(), pieces[1].clone(), filled.clone(), ends.clone()],
    ];
    for texts in [&says[..0], &says[..1], &says[..3], &says[..4], &says[3..]] {
        for call in calls {
            let mut events = [texts, call].concat();
            events.push(completed_with(&output));
            // All that came is whole, and it is not all: an error, since what is repeated is not kept then.
            let text_is_open = matches!(texts.len(), 1 | 3) && texts[0] != says[3];
            let open = text_is_open || call == from_ref(&begun) || texts.is_empty() && call.is_empty();
            if !open && (texts.is_empty() || call.is_empty()) {
                let error = failed(Dialect::OpenAiResponses, &sse(&events, false));
                assert!(matches!(error, StreamError::Reply(ReplyError::Shape { .. })), "{error}");
                continue;
            }
            let (seen, watched) = responses_watched(&events, ALL);
            assert_eq!((seen.called(), &*seen.text), (vec![("f", "{\"x\":1}")], "hello"), "{events:?}");
            assert_eq!((seen.finish, seen.calls[0].truncated), (Finish::Complete, false));
            assert_eq!(watched.text, "hello", "{events:?}");
            assert_eq!(
                watched.calls,
                [("call_1".into(), "f".into(), "{\"x\":1}".into(), true)],
                "{events:?}"
            );
            let replay = seen.replay.unwrap();
            assert_eq!(replay.as_array().map(Vec::len), Some(2), "{replay}");
            let (seen, _) = responses_watched(&events, CALLS);
            assert_eq!((seen.called(), seen.calls[0].truncated), (vec![("f", "{\"x\":1}")], false));
        }
    }
    // Without the items in the end what came in pieces is all there is.
    let events = [text_delta("output_text", "he"), two, completed()];
    let (seen, watched) = responses_watched(&events, ALL);
    assert_eq!((&*seen.text, seen.finish, &*watched.text), ("hello", Finish::Complete, "hello"));
}

/// The connection broke: what came is there, and a call whose arguments are whole can be run.
#[test]
fn a_response_that_broke_off_keeps_its_pieces() {
    let seen = responses_seen(&[added(call_item("in_progress", "")), delta("{\"x\":1}"), filled()]);
    assert_eq!((seen.called(), seen.calls[0].truncated), (vec![("f", "{\"x\":1}")], false));
    let seen = responses_seen(&[added(call_item("in_progress", "")), delta("{\"x\":")]);
    assert_eq!((seen.called(), seen.calls[0].truncated), (vec![("f", "{\"x\":")], true));
    let seen =
        responses_seen(&[added(message("in_progress", &json!([]))), text_delta("output_text", "he\"")]);
    assert_eq!((&*seen.text, seen.finish), ("he\"", Finish::Truncated));
    let content = json!([{"type":"output_text","text":"he\""}]);
    let replay =
        json!([{"type":"message","id":"m","role":"assistant","status":"in_progress","content":content}]);
    assert_eq!(seen.replay, Some(replay));
}

/// No call of it is run, also if only calls are kept.
#[test]
fn a_refusal_of_responses_is_known_however_it_is_read() {
    let refused = message("completed", &json!([{"type":"refusal","refusal":"No."}]));
    let mut call = done(call_item("completed", "{}"));
    call["output_index"] = 1.into();
    let events = [
        added(message("in_progress", &json!([]))),
        text_delta("refusal", "No."),
        done(refused),
        call,
        completed(),
    ];
    for options in [ALL, CALLS] {
        let (seen, watched) = responses_watched(&events, options);
        assert_eq!((&*seen.text, seen.finish, &*watched.text), ("No.", Finish::Refused, "No."));
        assert!(seen.calls[0].truncated);
    }
}

#[test]
fn a_response_that_ended_early_says_why() {
    let incomplete = |details: Json| json!({"type":"response.incomplete","response":{"status":"incomplete","incomplete_details":details}});
    for (details, finish) in [
        (json!({"reason":"max_output_tokens"}), Finish::Truncated),
        (json!({"reason":"content_filter"}), Finish::Refused),
        (Json::Null, Finish::Truncated),
    ] {
        let call = done(call_item("incomplete", "{\"x\":"));
        let seen = responses_seen(&[call, incomplete(details)]);
        assert_eq!((seen.finish, seen.calls[0].truncated), (finish, true));
        assert_eq!(seen.calls[0].arguments, "{\"x\":");
    }
}

#[test]
fn errors_of_every_shape_end_a_stream_with_their_words() {
    let error = json!({"type":"error","code":"rate_limit_exceeded","message":"Slow down","param":null});
    let failed = json!({"type":"response.failed","response":{"id":"r","status":"failed",
        "error":{"code":"server_error","message":"It broke"},"output":[]}});
    let quota = json!({"error":{"code":429,"message":"Quota","status":"RESOURCE_EXHAUSTED"}});
    for (dialect, text, words) in [
        (Dialect::OpenAiResponses, sse(&[error], false), "Slow down"),
        (Dialect::OpenAiResponses, sse(&[failed], false), "It broke"),
        (Dialect::Gemini, sse(std::slice::from_ref(&quota), false), "Quota"),
        (Dialect::Gemini, json!([quota]).to_string(), "Quota"),
    ] {
        let (mut word_memory, mut bytes) = ([0; 64], [0; 1024]);
        let mut stream = Stream::new(dialect, ALL, Scratch::new(&mut word_memory, &mut bytes)).unwrap();
        let provider = Err(StreamError::Reply(ReplyError::Provider));
        assert_eq!(stream.feed(text.as_bytes(), &mut |_| {}), provider);
        assert_eq!(stream.provider_error(), Some(words));
    }
}

#[test]
fn the_response_that_is_repeated_in_the_end_takes_no_memory() {
    let mut last = completed();
    last["response"]["output"] = json!([call_item("completed", &"x".repeat(100_000))]);
    let events = [done(call_item("completed", "{}")), last];
    let (seen, _) = stream_in(Dialect::OpenAiResponses, [sse(&events, false).as_bytes()], CALLS, [16, 512]);
    assert_eq!(seen.unwrap().called(), [("f", "{}")]);
}

#[test]
fn a_whole_reply_where_a_stream_was_asked_for_is_read_in_each_dialect() {
    for dialect in [Dialect::OpenAiResponses, Dialect::Gemini] {
        let reply = example(dialect);
        let (seen, watched) = stream_watched(dialect, [reply.to_string().as_bytes()]);
        let expected = whole(dialect, &reply).unwrap();
        assert_eq!(
            (&seen.calls, &seen.text, &seen.finish),
            (&expected.calls, &expected.text, &expected.finish)
        );
        assert_eq!(seen.replay, expected.replay);
        assert_eq!(watched.text, expected.text);
        assert_eq!(watched.calls.len(), expected.calls.len());
    }
}

/// Custom tools take text; the result of such a call has a type of its own.
#[test]
fn a_call_of_a_custom_tool_has_its_text_and_its_kind_of_result() {
    let custom =
        json!({"type":"custom_tool_call","id":"ctc_1","call_id":"c1","name":"sql","input":"SELECT \"a\""});
    let function = json!({"type":"function_call","id":"fc_1","call_id":"c2","name":"f","arguments":"{}"});
    let reply = json!({"output":[custom, function]}).to_string();
    let (mut words, mut bytes) = ([0; 64], [0; 256]);
    let scratch = Scratch::new(&mut words, &mut bytes);
    let (reply, _) = parse_reply(Dialect::OpenAiResponses, reply.as_bytes(), &ALL.json, scratch).unwrap();
    let calls: Vec<_> = reply.calls().map(|call| (call.arguments, call.custom)).collect();
    assert_eq!(calls, [("SELECT \"a\"", true), ("{}", false)]);
    let mut memory = [0; 16];
    let mut result = ToolResult::new(&mut memory);
    result.text("4").unwrap();
    let results = ["c1", "c2"].map(|id| CallResult { id: Some(id), result: Some(&result) });
    let mut out = [0; 512];
    let mut sink = Sink::new(&mut out);
    render_results(Dialect::OpenAiResponses, &reply, &results, &ResultsOptions::default(), &mut sink)
        .unwrap();
    let expected = json!([
        {"type":"custom_tool_call_output","call_id":"c1","output":"4"},
        {"type":"function_call_output","call_id":"c2","output":"4"}]);
    assert_eq!(read(sink.finish().unwrap()), expected);
    // The same in Chat Completions, where both kinds have one kind of result.
    let chat = json!({"content":null,"tool_calls":[{"id":"c1","type":"custom","custom":{"name":"sql","input":"x"}}]});
    let chat = chat.to_string();
    let (mut words, mut bytes) = ([0; 64], [0; 256]);
    let scratch = Scratch::new(&mut words, &mut bytes);
    let (reply, _) = parse_reply(Dialect::OpenAiChat, chat.as_bytes(), &ALL.json, scratch).unwrap();
    assert!(reply.get(0).is_some_and(|call| call.custom && call.arguments == "x"));
}

#[test]
fn text_is_joined_and_what_is_signed_keeps_its_part() {
    let seen = gemini_seen(&[
        parts(&json!([{"text":"hm","thought":true}])),
        parts(&json!([{"text":" so","thought":true},{"text":"It "}])),
        parts(&json!([{"text":"is "},{"text":""}])),
        parts(&json!([{"text":"cold","thoughtSignature":"AAA/+=="}])),
        parts(&json!([{"text":"."},{"text":"","thoughtSignature":"QUJD"}])),
        parts(&json!([{"functionCall":{"name":"f","args":{}},"thoughtSignature":"AB=="},{"text":"!"}])),
        ends("STOP"),
    ]);
    assert_eq!(
        (&*seen.text, seen.called(), seen.finish),
        ("It is cold.!", vec![("f", "{}")], Finish::Complete)
    );
    let expected = json!([{"role":"model","parts":[
        {"text":"hm so","thought":true},
        {"text":"It is "},
        {"text":"cold","thoughtSignature":"AAA/+=="},
        {"text":"."},
        {"text":"","thoughtSignature":"QUJD"},
        {"functionCall":{"name":"f","args":{}},"thoughtSignature":"AB=="},
        {"text":"!"}]}]);
    assert_eq!(seen.replay, Some(expected));
}

#[test]
fn thoughts_are_not_text() {
    let thought =
        json!([{"text":"hm","thought":true},{"text":"!","thought":true,"thoughtSignature":"A"},{"text":"x"}]);
    let text = sse(&[parts(&thought), ends("STOP")], false);
    let (seen, watched) = stream_watched(Dialect::Gemini, [text.as_bytes()]);
    assert_eq!((&*seen.text, &*watched.text, &*watched.reasoning), ("x", "x", "hm!"));
}

#[test]
fn an_array_of_responses_is_the_same_stream() {
    let events = gemini(&example(Dialect::Gemini), 4);
    let expected = gemini_seen(&events);
    let text = Json::from(events.clone()).to_string();
    assert_eq!(stream(Dialect::Gemini, [text.as_bytes()]), expected);
    assert_eq!(stream(Dialect::Gemini, text.as_bytes().chunks(1)), expected, "byte by byte");
    assert_eq!(stream(Dialect::GeminiSchema, [text.as_bytes()]), expected);
    // As the provider lays it out; the arguments keep their blanks.
    let text = serde_json::to_string_pretty(&events).unwrap();
    let seen = stream(Dialect::Gemini, [text.as_bytes()]);
    assert_eq!(stream(Dialect::Gemini, text.as_bytes().chunks(1)), seen, "byte by byte");
    assert_eq!((&seen.text, &seen.replay), (&expected.text, &expected.replay));
    for (seen, expected) in seen.calls.iter().zip(&expected.calls) {
        assert_eq!(read(&seen.arguments), read(&expected.arguments));
    }
}

#[test]
fn a_gemini_stream_ends_for_the_reason_it_gives() {
    let call = parts(&json!([{"functionCall":{"name":"f","args":{"x":1}}}]));
    for (reason, finish, truncated) in [
        ("STOP", Finish::Complete, false),
        ("MAX_TOKENS", Finish::Truncated, true),
        ("SAFETY", Finish::Refused, true),
        ("MALFORMED_FUNCTION_CALL", Finish::Malformed, true),
        ("UNEXPECTED_TOOL_CALL", Finish::Malformed, true),
    ] {
        let seen = gemini_seen(&[call.clone(), ends(reason)]);
        assert_eq!((seen.finish, seen.calls[0].truncated), (finish, truncated), "{reason}");
    }
    // Without any the stream stopped; the call came whole.
    let seen = gemini_seen(std::slice::from_ref(&call));
    assert_eq!((seen.finish, seen.calls[0].truncated), (Finish::Truncated, false));
    let seen = gemini_seen(&[json!({"promptFeedback":{"blockReason":"OTHER","safetyRatings":[]}})]);
    assert_eq!((seen.finish, seen.replay), (Finish::Refused, Some(json!([]))));
    // Other candidates are passed over.
    let other = json!({"candidates":[{"index":1,"content":{"parts":[{"text":"no"}]},"finishReason":"SAFETY"},
        {"index":0,"content":{"parts":[{"text":"yes"}]},"finishReason":"STOP"}]});
    let seen = gemini_seen(&[other]);
    assert_eq!((&*seen.text, seen.finish), ("yes", Finish::Complete));
}

/// They come only to those who ask for `streamFunctionCallArguments`.
#[test]
fn arguments_in_pieces_are_refused_by_name() {
    for call in [
        json!({"name":"f","willContinue":true}),
        json!({"partialArgs":[{"jsonPath":"$.city","stringValue":"Os","willContinue":true}],"willContinue":true}),
        json!({"name":"f","partialArgs":[{"jsonPath":"$.n","numberValue":1}]}),
    ] {
        let event = parts(&json!([{"functionCall":call}]));
        let expected = StreamError::Reply(whole(Dialect::Gemini, &event).unwrap_err());
        let error = failed(Dialect::Gemini, &sse(&[event], false));
        assert_eq!(error, expected);
        assert!(error.to_string().contains("streamFunctionCallArguments"), "{error}");
    }
}
