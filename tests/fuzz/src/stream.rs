//! Bytes as a stream, in any chunks and any memory.

use std::cell::Cell;

use toolcore::answer::{AnswerOptions, answer_reply};
use toolcore::dialect::{Dialect, Reply, ReplyError};
use toolcore::json::Reason;
use toolcore::scratch::Scratch;
use toolcore::sink::Sink;
use toolcore::stream::{Stream, StreamError, StreamEvent, StreamOptions};

use super::replay::{again, turn};
use super::turn::with_tools;

/// A dialect, an option, chunk sizes and memory sizes from the first eight bytes; then the stream. In any chunks it is the
/// same reply or the same error, and those who watch are told the same; what is told joins to what the reply holds;
/// an error for want of room names more than there is, and with what it names the stream goes on; nothing that is
/// not whole is run.
pub fn stream(input: &[u8]) {
    let Some((head, bytes)) = input.split_first_chunk::<8>() else { return };
    let dialect = Dialect::ALL[usize::from(head[0]) % Dialect::ALL.len()];
    let options = StreamOptions { calls_only: head[1] % 2 == 1, ..StreamOptions::default() };
    let ample = [8 * bytes.len() + 64, 8 * bytes.len() + 1024];
    let one = run(dialect, options, [bytes].into_iter(), ample);
    let Some(one) = one else { return };
    if let Err(StreamError::Reply(ReplyError::NoSpace { .. })) = one.result {
        panic!("{ample:?} is not enough for {} bytes", bytes.len());
    }
    let sizes = [&head[2..5], &[1], &head[5..6]];
    for sizes in sizes {
        let seen = run(dialect, options, chunks(bytes, sizes).into_iter(), ample);
        assert_eq!(
            seen.as_ref(),
            Some(&one),
            "{} in chunks of {sizes:?}: {:?}",
            dialect.name(),
            String::from_utf8_lossy(bytes)
        );
    }
    let mut room = [usize::from(head[6]), 4 * usize::from(head[7])];
    for step in 0.. {
        let seen = run(dialect, options, [bytes].into_iter(), room);
        let short = match seen {
            Some(Run { result: Err(StreamError::Reply(ReplyError::NoSpace { words, bytes })), .. }) => {
                [words, bytes]
            }
            Some(seen) => {
                assert_eq!(seen, one, "{} in {room:?}", dialect.name());
                break;
            }
            None => return,
        };
        let more = [room[0].max(short[0]), room[1].max(short[1])];
        assert_ne!(more, room, "what is there is named as what is missing");
        // Every other step takes a little more, so that there are not as many as there are pieces.
        room = if step % 2 == 0 { more } else { [more[0], more[1] + more[1] / 4] };
    }
    if !options.calls_only {
        joins(dialect, &one);
    }
}

/// What became of a stream.
#[derive(Debug, PartialEq)]
struct Run {
    /// All of the reply, one thing a line.
    result: Result<String, StreamError>,
    /// Names and arguments of the calls that are whole, and the text.
    held: (Vec<[String; 2]>, String),
    /// The same of those that were told, whole or not.
    told: (Vec<[String; 2]>, String),
}

/// Pieces of these sizes in turn, of which 0 is none.
fn chunks<'b>(bytes: &'b [u8], sizes: &[u8]) -> Vec<&'b [u8]> {
    let (mut chunks, mut rest) = (Vec::new(), bytes);
    for size in sizes.iter().cycle() {
        if rest.is_empty() || sizes.iter().all(|size| *size == 0) {
            break;
        }
        let (chunk, after) = rest.split_at(rest.len().min(usize::from(*size)));
        chunks.push(chunk);
        rest = after;
    }
    chunks.push(rest);
    chunks
}

/// `None` if the dialect has no streams.
fn run<'c>(
    dialect: Dialect,
    options: StreamOptions,
    chunks: impl Iterator<Item = &'c [u8]>,
    [words, bytes]: [usize; 2],
) -> Option<Run> {
    let (mut words, mut bytes) = (vec![0xA5A5_A5A5; words], vec![0xA5; bytes]);
    let mut run = Run { result: Ok(String::new()), held: Default::default(), told: Default::default() };
    let mut stream = match Stream::new(dialect, options, Scratch::new(&mut words, &mut bytes)) {
        Ok(stream) => stream,
        Err(StreamError::Unsupported) => return None,
        Err(error) => {
            run.result = Err(error);
            return Some(run);
        }
    };
    let (calls, text) = &mut run.told;
    let mut watch = |event: StreamEvent<'_>| match event {
        StreamEvent::Text(piece) => text.push_str(piece),
        StreamEvent::Reasoning(_) => {}
        StreamEvent::CallStart { index, name, .. } => {
            // A call is told when its name has come.
            calls.resize(calls.len().max(index + 1), Default::default());
            assert_eq!(calls[index], <[String; 2]>::default(), "a call began twice");
            calls[index][0] = name.into();
        }
        StreamEvent::Arguments { index, delta } => calls[index][1].push_str(delta),
        StreamEvent::CallEnd { index } => assert!(index < calls.len()),
    };
    let failed = chunks.into_iter().find_map(|chunk| stream.feed(chunk, &mut watch).err());
    let failed = failed.or_else(|| stream.end(&mut watch).err());
    assert_eq!(stream.error(), failed);
    let message = stream.provider_error().map(String::from);
    assert!(message.is_none() || failed == Some(StreamError::Reply(ReplyError::Provider)));
    let rescued = stream.rescue();
    if let Some(error) = failed {
        run.result = Err(error);
    }
    let reply = match rescued {
        Ok((reply, _)) => reply,
        Err(error) => {
            // The text itself is JSON, whatever came.
            let lone = |error: &toolcore::json::Error| error.reason == Reason::LoneSurrogate;
            assert!(
                !matches!(&error, StreamError::Reply(ReplyError::Json(error)) if !lone(error)),
                "{error}"
            );
            let short = matches!(error, StreamError::Reply(ReplyError::NoSpace { .. }));
            run.result = Err(failed.filter(|_| !short).unwrap_or(error));
            return Some(run);
        }
    };
    for call in reply.calls().filter(|call| !call.truncated) {
        run.held.0.push([call.name.into(), call.arguments.into()]);
    }
    run.held.1 = super::written(|sink| reply.write_text(sink));
    if failed.is_none() {
        run.result = Ok(all(&reply));
        again(dialect, &reply);
    }
    only_whole_calls_run(&reply);
    Some(run)
}

fn all(reply: &Reply<'_>) -> String {
    let mut all = format!("{:?}\n", reply.finish());
    reply.calls().for_each(|call| all.push_str(&format!("{call:?}\n")));
    all + &super::written(|sink| reply.write_text(sink)) + "\n" + &turn(reply).unwrap_or_default()
}

fn only_whole_calls_run(reply: &Reply<'_>) {
    with_tools(|tools, clock, ran: &Cell<usize>| {
        let (mut words, mut bytes, mut out) = (vec![0; 4096], vec![0; 65536], vec![0; 65536]);
        let mut sink = Sink::new(&mut out);
        let options = AnswerOptions { clock: Some(clock), ..AnswerOptions::default() };
        let scratch = Scratch::new(&mut words, &mut bytes);
        answer_reply(tools, reply, &options, scratch, &mut sink, &mut |_, _| {}).ok();
        let whole = reply.calls().filter(|call| !call.truncated).count();
        assert!(ran.get() <= whole, "{} of {whole} calls ran", ran.get());
    });
}

/// What was told is what the reply holds, where the provider says nothing twice.
fn joins(dialect: Dialect, run: &Run) {
    let Ok(_) = run.result else { return };
    let ((held, text), (told, said)) = (&run.held, &run.told);
    if dialect.is_text() {
        assert!(text.starts_with(said), "{text:?} was told as {said:?}");
    } else if !matches!(dialect, Dialect::OpenAiResponses) {
        assert_eq!(text, said, "{}", dialect.name());
    }
    // Arguments that are empty become an object, and some calls come without any told.
    if !matches!(dialect, Dialect::OpenAiResponses) && held.len() == told.len() {
        for (held, told) in held.iter().zip(told) {
            let same = held[1] == told[1] || told[1].is_empty();
            assert!(same, "{}: {held:?} was told as {told:?}", dialect.name());
        }
    }
}
