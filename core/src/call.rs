//! A tool call as the model wrote it, and as a handler sees it.
//!
//! [`ToolCall`] is what a reply asked for, unchecked. [`Call`] is what a handler gets: its [`Args`] have
//! passed the tool's schema, and there is no other way to hold them. No getter panics or allocates.

use core::cell::Cell;
use core::pin::Pin;
use core::task::{Context, Poll, Waker};

use crate::arena::Arena;
use crate::json::{Kind, Number, NumberError, Str, Value};
use crate::sink::Sink;
use crate::time::{Clock, Deadline, Duration};

/// One call that a reply asks for; strings are decoded. Build one by hand to dispatch without a reply.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ToolCall<'r> {
    /// The provider's id, its exact text; `None` if the reply had none.
    pub id: Option<&'r str>,
    /// The id by which results and replay refer to the call, which no other call of the reply has: `id`; one
    /// that was minted because there is none; or one that is sent because the provider does not allow `id` or
    /// a call before it has the same. Where the provider wants no ids, a minted one is for the host alone and
    /// never sent. Empty in a call made by hand without one, and in what was rescued of a stream if there is no
    /// room for it.
    pub wire_id: &'r str,
    /// The name that the model used, an alias maybe.
    pub name: &'r str,
    /// The arguments' JSON text as it came; empty if there were none.
    pub arguments: &'r str,
    /// The set of the provider's tools that the tool is of (Anthropic's `toolset_name`), which its result says
    /// too; empty for the host's own tools.
    pub toolset: &'r str,
    /// It is never executed: the reply was cut off in or right after this call, or was refused or malformed
    /// ([`Finish`](crate::dialect::Finish)).
    pub truncated: bool,
    /// The call is of a tool that takes free text and no JSON (OpenAI's custom tools): `arguments` is that
    /// text, whole whatever its length, and the result is written as that of such a call. A registered tool
    /// takes JSON, so that dispatching the call is refused with a result that says so; a host that asks for
    /// custom tools runs their calls itself, or gives them arguments in a pre-hook.
    pub custom: bool,
}

/// Names a call that is in flight, for whoever completes it later. Each is given out once by the table that it
/// is of, so that one of an earlier call never means a later one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ticket(u64);

impl Ticket {
    /// The ticket of this number, which came from [`Ticket::as_u64`].
    pub const fn from_u64(number: u64) -> Self {
        Ticket(number)
    }

    /// Its number, never 0 for one that was given out: to keep where a `Ticket` cannot be kept.
    pub const fn as_u64(self) -> u64 {
        self.0
    }
}

/// A call whose arguments were accepted.
pub struct Call<'c> {
    /// The provider's id, or `None`.
    pub id: Option<&'c str>,
    /// The registered name of the tool.
    pub name: &'c str,
    /// The accepted arguments.
    pub args: Args<'c>,
    pub(crate) deadline: Deadline,
    pub(crate) clock: Option<&'c dyn Clock>,
    pub(crate) waiter: Waiter<'c>,
}

/// What waits for a call that does not end at once.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Waiter<'c> {
    /// Nothing.
    Nobody,
    /// A table of calls in flight.
    Table(Ticket),
    /// An async dispatch, which asks by this request to give the call up.
    Future(&'c CancelRequest),
}

impl Call<'_> {
    /// When the call must have ended.
    pub fn deadline(&self) -> Deadline {
        self.deadline
    }

    /// The ticket by which the call can be completed later, if its handler returns [`Poll::Pending`]. `None`
    /// where nothing would wait for it.
    pub fn ticket(&self) -> Option<Ticket> {
        match self.waiter {
            Waiter::Table(ticket) => Some(ticket),
            Waiter::Nobody | Waiter::Future(_) => None,
        }
    }

    /// Whether an async handler is asked to give up: the call's deadline has passed, or the host cancelled it.
    /// What the handler answers from then on is discarded. Always false where the call is not dispatched by
    /// [`dispatch_async`](crate::dispatch::dispatch_async).
    pub fn cancelled(&self) -> bool {
        self.request().is_some_and(CancelRequest::cancelled)
    }

    /// Is ready once [`Call::cancelled`]: for an async handler to wait for, beside its work.
    pub fn cancellation(&self) -> Cancellation<'_> {
        Cancellation(self.request())
    }

    fn request(&self) -> Option<&CancelRequest> {
        match self.waiter {
            Waiter::Future(request) => Some(request),
            Waiter::Nobody | Waiter::Table(_) => None,
        }
    }

    /// What is left until the deadline; `None` without one. A result after it counts as a timeout.
    pub fn time_left(&self) -> Option<Duration> {
        self.clock.and_then(|clock| self.deadline.left(clock.now()))
    }
}

impl core::fmt::Debug for Call<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let Call { id, name, args, deadline, waiter, clock: _ } = self;
        f.debug_struct("Call")
            .field("id", id)
            .field("name", name)
            .field("args", args)
            .field("deadline", deadline)
            .field("waiter", waiter)
            .finish_non_exhaustive()
    }
}

/// A request to give a call up, made on one side and seen on the other, both in one thread.
///
/// A host that wants to give up a call of [`dispatch_async`](crate::dispatch::dispatch_async) lends it one, and
/// one for each call that runs beside it. It remembers one task to wake, the one that asked last.
#[derive(Default)]
pub struct CancelRequest {
    made: Cell<bool>,
    waker: Cell<Option<Waker>>,
}

impl CancelRequest {
    /// One that is not made yet.
    pub const fn new() -> Self {
        CancelRequest { made: Cell::new(false), waker: Cell::new(None) }
    }

    /// Makes it, and wakes the task that waits for it. It is never taken back.
    pub fn cancel(&self) {
        self.made.set(true);
        if let Some(waker) = self.waker.take() {
            waker.wake();
        }
    }

    /// Whether it was made.
    pub fn cancelled(&self) -> bool {
        self.made.get()
    }

    /// Is ready once it is made.
    pub fn cancellation(&self) -> Cancellation<'_> {
        Cancellation(Some(self))
    }
}

impl core::fmt::Debug for CancelRequest {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("CancelRequest").field("made", &self.made).finish_non_exhaustive()
    }
}

/// A future that is ready once a [`CancelRequest`] is made; never, where there is none.
#[derive(Clone, Debug)]
#[must_use = "futures do nothing unless polled"]
pub struct Cancellation<'c>(pub(crate) Option<&'c CancelRequest>);

impl Future for Cancellation<'_> {
    type Output = ();

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let Some(request) = self.0 else { return Poll::Pending };
        if request.cancelled() {
            return Poll::Ready(());
        }
        let known = request.waker.take().filter(|waker| waker.will_wake(context.waker()));
        request.waker.set(Some(known.unwrap_or_else(|| context.waker().clone())));
        Poll::Pending
    }
}

/// Arguments that passed their tool's schema: one JSON object.
///
/// A path is a JSON Pointer if it begins with `/` (`/address/city`), else one property's name taken
/// whole (`kubernetes.io/name`). A failed getter remembers the path, so that a handler that returns the
/// error tells the model which argument was meant.
#[derive(Debug)]
pub struct Args<'c> {
    value: Value<'c>,
    arena: Arena<'c>,
    failed: Cell<Option<&'c str>>,
}

impl<'c> Args<'c> {
    pub(crate) fn new(value: Value<'c>, arena: Arena<'c>) -> Self {
        Args { value, arena, failed: Cell::new(None) }
    }

    /// All of them, as a JSON object.
    pub fn value(&self) -> Value<'c> {
        self.value
    }

    /// The value at `path`, or `None`.
    pub fn get(&self, path: &str) -> Option<Value<'c>> {
        if path.starts_with('/') { self.value.pointer(path) } else { self.value.get(path) }
    }

    /// A string, decoded. One with escapes is copied into the call's scratch memory at each call.
    pub fn str(&self, path: &str) -> Result<&'c str, ArgError> {
        let text = self.typed(path, "string", Value::as_str)?;
        match text.plain() {
            Some(plain) => Ok(plain),
            None => self.keep(path, |sink| text.decode(sink)),
        }
    }

    /// A string as it stands in the JSON text, for a comparison without a copy.
    pub fn raw_str(&self, path: &str) -> Result<Str<'c>, ArgError> {
        self.typed(path, "string", Value::as_str)
    }

    /// A number, its source text kept.
    pub fn number(&self, path: &str) -> Result<Number<'c>, ArgError> {
        self.typed(path, "number", Value::as_number)
    }

    /// An integer, `5.0` and `1e2` among them.
    pub fn i64(&self, path: &str) -> Result<i64, ArgError> {
        self.number(path)?.as_i64().map_err(|error| self.fail(path, error.into()))
    }

    /// A non-negative integer.
    pub fn u64(&self, path: &str) -> Result<u64, ArgError> {
        self.number(path)?.as_u64().map_err(|error| self.fail(path, error.into()))
    }

    /// The nearest float; one beyond the range of `f64` is [`ArgError::OutOfRange`].
    pub fn f64(&self, path: &str) -> Result<f64, ArgError> {
        self.number(path)?.as_f64().map_err(|error| self.fail(path, error.into()))
    }

    /// A boolean.
    pub fn bool(&self, path: &str) -> Result<bool, ArgError> {
        self.typed(path, "boolean", Value::as_bool)
    }

    /// The JSON text of any value.
    pub fn json(&self, path: &str) -> Result<&'c str, ArgError> {
        self.get(path).map(Value::raw).ok_or_else(|| self.fail(path, ArgError::Missing))
    }

    /// The path of the last getter that failed; empty if it was too long for what scratch was left.
    pub fn failed_path(&self) -> Option<&'c str> {
        self.failed.get()
    }

    fn typed<T>(
        &self,
        path: &str,
        expected: &'static str,
        pick: impl Fn(Value<'c>) -> Option<T>,
    ) -> Result<T, ArgError> {
        let value = self.get(path).ok_or_else(|| self.fail(path, ArgError::Missing))?;
        pick(value).ok_or_else(|| self.fail(path, ArgError::WrongType { expected, got: value.kind() }))
    }

    /// Keeps what `write` writes in the call's scratch memory.
    pub(crate) fn keep(&self, path: &str, write: impl FnOnce(&mut Sink<'_>)) -> Result<&'c str, ArgError> {
        let kept = self.arena.write(write);
        kept.map_err(|error| self.fail(path, ArgError::NoSpace { need: error.need }))
    }

    pub(crate) fn fail(&self, path: &str, error: ArgError) -> ArgError {
        self.failed.set(Some(self.arena.write(|sink| sink.put(path)).unwrap_or("")));
        error
    }
}

/// Why an argument could not be had.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror_no_std::Error)]
pub enum ArgError {
    /// There is none at that path.
    #[error("it is missing")]
    Missing,
    /// It is of another type.
    #[error("expected {expected}, got {}", .got.name())]
    WrongType {
        /// What the getter reads.
        expected: &'static str,
        /// What stands there.
        got: Kind,
    },
    /// It is a fraction where an integer was asked for.
    #[error("expected an integer, got a fraction")]
    NotInteger,
    /// It does not fit the type asked for.
    #[error("the number is out of range")]
    OutOfRange,
    /// The arguments do not fit the handler's own type, though they fit the tool's schema.
    #[error("the arguments do not fit the type that the tool reads")]
    Unfit,
    /// The scratch memory has no room for the decoded string.
    #[error("no space to decode it: {need} bytes of scratch needed")]
    NoSpace {
        /// Bytes of scratch that were needed.
        need: usize,
    },
}
impl core::error::Error for ArgError {}

impl From<NumberError> for ArgError {
    fn from(error: NumberError) -> Self {
        match error {
            NumberError::OutOfRange => ArgError::OutOfRange,
            NumberError::NotInteger => ArgError::NotInteger,
        }
    }
}
