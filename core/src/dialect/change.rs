//! What the events of a stream change: the words in which a dialect tells it.
//!
//! A stream is put together as a text in the dialect's own whole form, so that one reader reads both. A
//! [`Shape`] says what that text looks like, and each event is read into [`Change`]s to it.

use super::ReplyError;
use crate::json::{Reader, Value};

/// A stream's whole form, and what of its events is read.
///
/// The text is `head`, members such as `,"content":"…"`, `list`, items joined by commas, `tail`, the reason
/// why the reply ended (`null` until it is known), and `end`.
#[derive(Debug)]
pub(crate) struct Shape {
    /// What comes before the first member.
    pub(crate) head: &'static str,
    /// What comes between the last member and the first item.
    pub(crate) list: &'static str,
    /// What comes between the last item and the reason.
    pub(crate) tail: &'static str,
    /// What comes after the reason.
    pub(crate) end: &'static str,
    /// The members of an event that are read; all others are passed over without being kept or checked.
    pub(crate) members: &'static [Member],
    /// What is read if only calls are kept; text may be among it, for those who watch.
    pub(crate) call_members: &'static [Member],
    /// The parts of the text that grow; the changes name them by their place here.
    pub(crate) fields: &'static [Field],
    /// What an item with nothing in it looks like, for calls that come in pieces.
    pub(crate) empty_call: &'static str,
    /// Reads an item, or a piece of one; `None` if it is no call for the client to run.
    pub(crate) call: for<'v> fn(&mut Reader<'v>) -> Result<Option<CallParts<'v>>, ReplyError>,
    /// Gives the pieces of a whole item that are told to those who watch, and their fields, if none of them was
    /// told before: for [`Change::Replace`] and [`Change::Repeat`].
    pub(crate) shown: for<'v> fn(Value<'v>, &mut dyn FnMut(u8, Value<'v>)),
    /// The members that are read instead as long as no item has come or one is not whole, if that makes a
    /// difference: what the end of the stream repeats.
    pub(crate) open_members: Option<OpenMembers>,
}

/// Members for a stream whose items are not whole.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OpenMembers {
    /// In place of [`Shape::members`].
    pub(crate) all: &'static [Member],
    /// In place of [`Shape::call_members`].
    pub(crate) calls: &'static [Member],
}

impl Shape {
    /// For dialects whose items never come whole after pieces of them.
    pub(crate) const fn shows_nothing<'v>(_: Value<'v>, _: &mut dyn FnMut(u8, Value<'v>)) {}

    /// The parts of an item that is a call, or of a piece of one.
    pub(crate) fn call<'v>(&self, item: Value<'v>) -> Option<CallParts<'v>> {
        (self.call)(&mut item.reader()).ok().flatten()
    }
}

/// A member of an event.
#[derive(Debug)]
pub(crate) struct Member {
    /// Its key.
    pub(crate) key: &'static str,
    /// If it is an object, or an array of them: what is read of it, or empty for all of it.
    pub(crate) inner: &'static [Member],
}

impl Member {
    /// A member that is read whole.
    pub(crate) const fn whole(key: &'static str) -> Self {
        Member { key, inner: &[] }
    }
}

/// A part of the text that grows: a string to whose end pieces are added, or an array.
#[derive(Debug)]
pub(crate) struct Field {
    /// Where it stands in an item, as a JSON Pointer; for a member its key.
    pub(crate) path: &'static str,
    /// What it is to somebody who watches the stream.
    pub(crate) show: Show,
    /// The item to begin when there is none yet, for providers that do not say when one begins. Empty: that
    /// is an error.
    pub(crate) empty: &'static str,
}

/// What a field is to somebody who watches the stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Show {
    /// Text for the user.
    Text,
    /// The words of a refusal: text for the user, and kept even if only calls are, since no call of such a reply
    /// is executed.
    Refusal,
    /// What the model thinks.
    Reasoning,
    /// The arguments of a call: text that is JSON when it is whole.
    Arguments,
    /// Nothing: it is kept for the provider.
    Nothing,
}

/// The parts of a call for the client to run, in an item or a reply.
#[derive(Clone, Copy, Default)]
pub(crate) struct CallParts<'v> {
    /// The id, if it is there.
    pub(crate) id: Option<Value<'v>>,
    /// The tool's name.
    pub(crate) name: Option<Value<'v>>,
    /// The arguments' JSON, or the text for a tool that takes free text.
    pub(crate) arguments: Option<Value<'v>>,
    /// Whether arguments that are a string are the JSON text that it holds, and not a string.
    pub(crate) encoded: bool,
    /// The tool takes free text.
    pub(crate) custom: bool,
    /// The set of the provider's tools that the tool is of.
    pub(crate) toolset: Option<Value<'v>>,
    /// The provider says that it did not get to the end of this call.
    pub(crate) incomplete: bool,
}

/// What an event changes. Values are of the event's text.
#[derive(Clone, Copy)]
pub(crate) enum Change<'e> {
    /// A piece of a member beside the items: of a string, or items of an array.
    Member {
        /// The member's place in [`Shape::fields`].
        field: u8,
        /// The piece; one that is neither string nor array is passed over.
        piece: Value<'e>,
    },
    /// A call or a piece of it, in the item's shape, where the provider does not say when one begins: which
    /// call it belongs to follows from index and id.
    Call {
        /// Which call, in the provider's counting.
        index: Option<u32>,
        /// Id, name and arguments as far as they are there.
        item: Value<'e>,
    },
    /// An item begins.
    Open {
        /// Which, in the provider's counting.
        key: u32,
        /// The item as it is so far.
        item: Value<'e>,
    },
    /// A piece of an item's field.
    Append {
        /// Which item, in the provider's counting.
        key: u32,
        /// The field's place in [`Shape::fields`].
        field: u8,
        /// The piece; one that is neither string nor array is passed over.
        piece: Value<'e>,
    },
    /// A piece of an item that comes once more when it is whole: it is kept until then, unless only calls are kept;
    /// then it is only told.
    Grow {
        /// Which item, in the provider's counting.
        key: u32,
        /// The field's place in [`Shape::fields`].
        field: u8,
        /// The piece; one that is no string is passed over.
        piece: Value<'e>,
    },
    /// All of an item's field, in place of what came of it, and the end of the item; one that has not begun is
    /// passed over.
    Fill {
        /// Which item, in the provider's counting.
        key: u32,
        /// The field's place in [`Shape::fields`].
        field: u8,
        /// The whole value.
        value: Value<'e>,
    },
    /// All items once more, counted from 0, at the end. One that has not come, or is not whole, is taken from here.
    Repeat {
        /// The array of them. An item with one member or none is an outline: that it has not come is an error if
        /// it should be kept.
        items: Value<'e>,
    },
    /// A piece of an item's field for those who watch, which is not kept: the item comes once more when it is
    /// whole, or the piece is of a [`Change::Whole`] that follows.
    Show {
        /// Which item, in the provider's counting; for text it need not be there.
        key: u32,
        /// The field's place in [`Shape::fields`].
        field: u8,
        /// The piece; one that is no string is passed over.
        piece: Value<'e>,
    },
    /// A piece of a field of the last item, if that was begun by such a piece; else one begins with it, as
    /// [`Field::empty`] says.
    Extend {
        /// The field's place in [`Shape::fields`].
        field: u8,
        /// The piece; one that is no string is passed over.
        piece: Value<'e>,
    },
    /// An item that comes as a whole and has no number. Those who watch are told of a call, not of text.
    Whole {
        /// The item.
        item: Value<'e>,
    },
    /// An item as it is in the end, in place of all that came of it before; it begins here if it has not.
    Replace {
        /// Which, in the provider's counting.
        key: u32,
        /// The whole item.
        item: Value<'e>,
    },
    /// An item is whole.
    Close {
        /// Which, in the provider's counting.
        key: u32,
    },
    /// Why the reply ends. Nothing of use follows.
    Finish {
        /// The reason; `null` says nothing.
        reason: Value<'e>,
    },
    /// The stream's end marker.
    End,
}

/// A number that counts items or calls, if it is one.
pub(crate) fn index(value: Option<Value<'_>>) -> Option<u32> {
    let number = value?;
    // As nearly all are written.
    if let [digit @ b'0'..=b'9'] = number.raw().as_bytes() {
        return Some(u32::from(digit - b'0'));
    }
    u32::try_from(number.as_number()?.as_u64().ok()?).ok().filter(|index| *index != u32::MAX)
}
