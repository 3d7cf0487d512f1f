//! The part of a prompt that is chosen: blocks of context under a token budget.

use core::ffi::{c_char, c_void};
use core::ptr;

use toolcore_core::context::{
    BlockFlags, BlockReport, BlockState, ContextBlock, DropReason, Format, Order, Outcome, Policy,
    RenderError, RenderOptions, Show, render,
};

use crate::abi::{Caller, Span, sized_struct, toolcore_str_t};
use crate::callback::HostCounter;
use crate::guard::{FULL, Fail, NO_SPACE, NOT_FOUND, guard, read, unknown};
use crate::object::{Live, Memory, Object};
use crate::status::{toolcore_detail_t, toolcore_status_t};

/// Blocks of context that compete for room. One thread at a time.
pub struct toolcore_context_t {
    _opaque: [u8; 0],
}

/// How large a context is. NULL, or all zero but struct_size, for the defaults.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct toolcore_context_opts_t {
    /// sizeof(toolcore_context_opts_t)
    pub struct_size: usize,
    /// The most blocks; 0 for 32.
    pub max_blocks: usize,
}

/// toolcore_block_t.flags: it must be there, or the render fails.
pub const TOOLCORE_BLOCK_PINNED: u32 = 1;
/// toolcore_block_t.flags: never cut, whatever the other flags say.
pub const TOOLCORE_BLOCK_WHOLE: u32 = 2;
/// toolcore_block_t.flags: the end may be left out.
pub const TOOLCORE_BLOCK_CUT_TAIL: u32 = 4;
/// toolcore_block_t.flags: the beginning may be left out.
pub const TOOLCORE_BLOCK_CUT_HEAD: u32 = 8;
/// toolcore_block_t.flags: the middle may be left out.
pub const TOOLCORE_BLOCK_CUT_MIDDLE: u32 = 16;

/// A piece of context. Without a CUT flag it is kept whole or dropped.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct toolcore_block_t {
    /// sizeof(toolcore_block_t)
    pub struct_size: usize,
    /// What kind of context it is, such as "memory".
    pub category: toolcore_str_t,
    /// A name for people and models.
    pub label: toolcore_str_t,
    /// Where it came from: a file, an address, a sensor.
    pub source: toolcore_str_t,
    /// The text itself.
    pub content: toolcore_str_t,
    /// The higher, the sooner it is chosen.
    pub priority: i32,
    /// A cut leaves at least so many tokens of the content.
    pub min_tokens: u32,
    /// TOOLCORE_BLOCK_ flags.
    pub flags: u32,
    /// Must be 0.
    pub reserved: u32,
}

/// toolcore_context_render_opts_t.format: the content as it is.
pub const TOOLCORE_FORMAT_PLAIN: u32 = 0;
/// toolcore_context_render_opts_t.format: XML-like tags, the content escaped; for text that is not trusted.
pub const TOOLCORE_FORMAT_XML: u32 = 1;
/// toolcore_context_render_opts_t.format: a Markdown heading for each block.
pub const TOOLCORE_FORMAT_MARKDOWN: u32 = 2;

/// toolcore_context_render_opts_t.order: by descending priority.
pub const TOOLCORE_ORDER_PRIORITY: u32 = 0;
/// toolcore_context_render_opts_t.order: as the blocks were pushed, which keeps a provider's cache warm.
pub const TOOLCORE_ORDER_INPUT: u32 = 1;

/// toolcore_context_render_opts_t.policy: after a block that does not fit, a smaller one may still.
pub const TOOLCORE_POLICY_GREEDY: u32 = 0;
/// toolcore_context_render_opts_t.policy: no block passes one of higher priority that was dropped.
pub const TOOLCORE_POLICY_STRICT: u32 = 1;

/// toolcore_context_render_opts_t.show: the category of each block.
pub const TOOLCORE_SHOW_CATEGORY: u32 = 1;
/// toolcore_context_render_opts_t.show: the label of each block.
pub const TOOLCORE_SHOW_LABEL: u32 = 2;
/// toolcore_context_render_opts_t.show: the source of each block.
pub const TOOLCORE_SHOW_SOURCE: u32 = 4;

/// What a render aims at. `budget` must be set; all else that is zero is the default.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct toolcore_context_render_opts_t {
    /// sizeof(toolcore_context_render_opts_t)
    pub struct_size: usize,
    /// Counts the tokens of a text, always the same for the same text. NULL for one token for every four
    /// bytes, rounded up.
    pub count: Option<unsafe extern "C" fn(user_data: *mut c_void, text: toolcore_str_t) -> u32>,
    /// Given to `count`.
    pub user_data: *mut c_void,
    /// Must be 0.
    pub reserved: usize,
    /// Tokens for context and answer together.
    pub budget: u32,
    /// Tokens of the budget that are kept free for the model's answer.
    pub reserve: u32,
    /// One of TOOLCORE_FORMAT_.
    pub format: u32,
    /// One of TOOLCORE_ORDER_.
    pub order: u32,
    /// One of TOOLCORE_POLICY_.
    pub policy: u32,
    /// TOOLCORE_SHOW_ flags.
    pub show: u32,
}

/// What a render came to; filled in by toolcore_context_render.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct toolcore_context_report_t {
    /// sizeof(toolcore_context_report_t)
    pub struct_size: usize,
    /// Blocks that are in the text, whole.
    pub kept: usize,
    /// Blocks that are in the text, cut.
    pub cut: usize,
    /// Blocks that are not in the text.
    pub dropped: usize,
    /// Tokens of the text, counted as a whole.
    pub used: u32,
    /// Tokens kept free for the answer, as asked.
    pub reserve: u32,
    /// Tokens left: the budget without the two.
    pub room: u32,
    /// 0
    pub reserved: u32,
}

/// toolcore_block_report_t.state: it is in the text, whole.
pub const TOOLCORE_BLOCK_KEPT: u32 = 1;
/// toolcore_block_report_t.state: it is in the text but for the bytes `from` to `to` of its content.
pub const TOOLCORE_BLOCK_CUT: u32 = 2;
/// toolcore_block_report_t.state: it is not in the text.
pub const TOOLCORE_BLOCK_DROPPED: u32 = 3;

/// toolcore_block_report_t.reason: its content is empty.
pub const TOOLCORE_DROP_EMPTY: u32 = 1;
/// toolcore_block_report_t.reason: there was no room for it, nor for a piece of it if it may be cut.
pub const TOOLCORE_DROP_NO_ROOM: u32 = 2;
/// toolcore_block_report_t.reason: there was room only for a piece of less than min_tokens.
pub const TOOLCORE_DROP_BELOW_MINIMUM: u32 = 3;
/// toolcore_block_report_t.reason: a block of higher priority was dropped, and the policy is strict.
pub const TOOLCORE_DROP_STOPPED: u32 = 4;

/// What became of one block; filled in by toolcore_context_block_report.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct toolcore_block_report_t {
    /// sizeof(toolcore_block_report_t)
    pub struct_size: usize,
    /// For TOOLCORE_BLOCK_CUT: the first byte of the content that is left out.
    pub from: usize,
    /// For TOOLCORE_BLOCK_CUT: the first byte after what is left out.
    pub to: usize,
    /// One of TOOLCORE_BLOCK_KEPT, TOOLCORE_BLOCK_CUT, TOOLCORE_BLOCK_DROPPED.
    pub state: u32,
    /// Tokens of the whole content, counted alone.
    pub tokens: u32,
    /// For TOOLCORE_BLOCK_CUT: tokens left out, as the notice in the text says.
    pub left_out: u32,
    /// For TOOLCORE_BLOCK_DROPPED: why, one of TOOLCORE_DROP_.
    pub reason: u32,
}

/// Bytes of memory that a context needs with these options (NULL for the defaults). 0 if they are not
/// valid, SIZE_MAX if there is no such memory.
///
/// Threads: any.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn toolcore_context_mem_size(opts: *const toolcore_context_opts_t) -> usize {
    read(0, |c| Ok(context_size(max_blocks(c, opts)?)))
}

/// Makes an empty context in `mem`, which it keeps until toolcore_context_deinit.
///
/// Returns TOOLCORE_OK; ERR_NO_SPACE if mem_len is less than toolcore_context_mem_size(opts) (there is
/// no detail here that would tell it);
/// ERR_UNSUPPORTED; ERR_INVALID_ARGUMENT. Unless OK, *out is NULL.
/// Threads: touches only its arguments.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn toolcore_context_init(
    opts: *const toolcore_context_opts_t,
    mem: *mut c_void,
    mem_len: usize,
    out: *mut *mut toolcore_context_t,
) -> toolcore_status_t {
    guard(ptr::null_mut(), |c, _| {
        let out = c.out(out)?;
        out.set(ptr::null_mut());
        let max_blocks = max_blocks(c, opts)?;
        let mut memory = c.memory(mem, mem_len)?;
        if mem_len < context_size(max_blocks) {
            return Err(NO_SPACE);
        }
        let place = memory.reserve::<Live<ContextBody>>()?;
        let blocks = memory.array(max_blocks, ContextBlock::default)?;
        let states = memory.array(max_blocks, BlockState::default)?;
        out.set(place.object(ContextBody { blocks, states, len: 0, rendered: false }));
        Ok(())
    })
}

/// Ends a context. It owns nothing but its memory, which is the host's again. NULL is ignored.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn toolcore_context_deinit(context: *mut toolcore_context_t) {
    guard(ptr::null_mut(), |c, _| c.end(context, |_| ()));
}

/// Adds a block. Its strings are used, not copied: until toolcore_context_clear or toolcore_context_deinit.
///
/// Returns TOOLCORE_OK; ERR_FULL; ERR_INVALID_UTF8; ERR_UNSUPPORTED; ERR_INVALID_ARGUMENT.
/// Threads: needs the context alone, as do all that take it without const.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn toolcore_context_push(
    context: *mut toolcore_context_t,
    block: *const toolcore_block_t,
) -> toolcore_status_t {
    guard(ptr::null_mut(), |c, _| {
        let block = c.input(block)?.to_core(c)?;
        c.object_mut(context)?.push(block)
    })
}

/// Takes all blocks out again.
///
/// Returns TOOLCORE_OK; ERR_INVALID_ARGUMENT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn toolcore_context_clear(context: *mut toolcore_context_t) -> toolcore_status_t {
    guard(ptr::null_mut(), |c, _| {
        c.object_mut(context)?.clear();
        Ok(())
    })
}

/// How many blocks there are; 0 for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn toolcore_context_len(context: *const toolcore_context_t) -> usize {
    read(0, |c| Ok(c.object(context)?.len))
}

/// Chooses blocks and writes them as one text that is within the budget, notices and separators included.
/// Rendering again, with other options too, is possible at any time.
///
/// A buffer of *out_len bytes as measured with (NULL, 0) always suffices. With a `count` callback the text is
/// put together in the buffer in order to be counted, so that a smaller one may do or not.
///
/// Returns TOOLCORE_OK; ERR_BUDGET if the blocks with TOOLCORE_BLOCK_PINNED alone do not fit; ERR_NO_SPACE;
/// ERR_UNSUPPORTED; ERR_INVALID_ARGUMENT, also if a string of a block lies in the buffer. `report` may be NULL;
/// it is filled in on OK, but not when measuring.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn toolcore_context_render(
    context: *mut toolcore_context_t,
    opts: *const toolcore_context_render_opts_t,
    buf: *mut c_char,
    len: usize,
    out_len: *mut usize,
    report: *mut toolcore_context_report_t,
    why: *mut toolcore_detail_t,
) -> toolcore_status_t {
    guard(why, |c, why| {
        let shown = c.object(context).into_iter().flat_map(ContextBody::texts);
        let mut output = c.output_beside(buf, len, out_len, shown)?;
        let report = c.out_struct_or_none(report)?;
        let opts = c.input(opts)?;
        let options = options(&opts)?;
        let counter = HostCounter { count: opts.count, user_data: opts.user_data };
        let context = c.object_mut(context)?;
        match context.render(&options, &counter, output.buffer()) {
            Ok((len, done)) => {
                if let Some(report) = report.filter(|_| !output.measures()) {
                    report.set(done);
                }
                output.finish(len)
            }
            Err(RenderError::NoSpace { need }) => {
                why.need = need;
                output.finish(need)
            }
            Err(error) => Err(why.error(error)),
        }
    })
}

/// What the last render did with the block at a place of the order in which they were pushed, from 0.
///
/// Returns TOOLCORE_OK; ERR_NOT_FOUND, also if there was no render that wrote a text since the last change;
/// ERR_INVALID_ARGUMENT, also for a wrong struct_size in *out.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn toolcore_context_block_report(
    context: *const toolcore_context_t,
    index: usize,
    out: *mut toolcore_block_report_t,
) -> toolcore_status_t {
    guard(ptr::null_mut(), |c, _| {
        let out = c.out_struct(out)?;
        out.set(toolcore_block_report_t::of(&c.object(context)?.report(index).ok_or(NOT_FOUND)?));
        Ok(())
    })
}

/// A state's name in snake case: "kept", "cut" or "dropped"; "unknown" for any other number. Never NULL, lives as
/// long as the program.
///
/// Threads: any.
#[unsafe(no_mangle)]
pub extern "C" fn toolcore_context_block_state_name(state: u32) -> *const c_char {
    let name = match state {
        TOOLCORE_BLOCK_KEPT => c"kept",
        TOOLCORE_BLOCK_CUT => c"cut",
        TOOLCORE_BLOCK_DROPPED => c"dropped",
        _ => c"unknown",
    };
    name.as_ptr()
}

/// A reason's name in snake case, such as "below_minimum"; "unknown" for any other number. Never NULL, lives as
/// long as the program.
///
/// Threads: any.
#[unsafe(no_mangle)]
pub extern "C" fn toolcore_context_drop_reason_name(reason: u32) -> *const c_char {
    let name = match reason {
        TOOLCORE_DROP_EMPTY => c"empty",
        TOOLCORE_DROP_NO_ROOM => c"no_room",
        TOOLCORE_DROP_BELOW_MINIMUM => c"below_minimum",
        TOOLCORE_DROP_STOPPED => c"stopped",
        _ => c"unknown",
    };
    name.as_ptr()
}

sized_struct!(toolcore_context_opts_t);
sized_struct!(toolcore_block_t);
sized_struct!(toolcore_context_render_opts_t);
sized_struct!(toolcore_context_report_t);
sized_struct!(toolcore_block_report_t);

/// The blocks, and what became of them.
pub(crate) struct ContextBody {
    blocks: &'static mut [ContextBlock<'static>],
    states: &'static mut [BlockState],
    len: usize,
    /// Whether `states` tell of these blocks.
    rendered: bool,
}

impl ContextBody {
    fn push(&mut self, block: ContextBlock<'static>) -> Result<(), Fail> {
        *self.blocks.get_mut(self.len).ok_or(FULL)? = block;
        self.len += 1;
        self.rendered = false;
        Ok(())
    }

    /// Where the strings of the blocks are.
    fn texts(&self) -> impl Iterator<Item = Span> {
        let blocks = self.blocks.iter().take(self.len);
        let texts = blocks.flat_map(|block| [block.category, block.label, block.source, block.content]);
        texts.map(|text| Span::of(text.as_bytes()))
    }

    fn clear(&mut self) {
        (self.len, self.rendered) = (0, false);
    }

    fn render(
        &mut self,
        options: &RenderOptions,
        counter: &HostCounter,
        buffer: &mut [u8],
    ) -> Result<(usize, toolcore_context_report_t), RenderError> {
        self.rendered = false;
        let blocks = self.blocks.get(..self.len).unwrap_or_default();
        let report = render(blocks, options, counter, self.states, buffer)?;
        self.rendered = true;
        let count = |of: fn(Outcome) -> bool| report.blocks().filter(|block| of(block.outcome)).count();
        let counted = toolcore_context_report_t {
            struct_size: 0,
            kept: count(|outcome| matches!(outcome, Outcome::Kept)),
            cut: count(|outcome| matches!(outcome, Outcome::Cut { .. })),
            dropped: count(|outcome| matches!(outcome, Outcome::Dropped(_))),
            used: report.used,
            reserve: report.reserve,
            room: report.room,
            reserved: 0,
        };
        Ok((report.text.len(), counted))
    }

    fn report(&self, index: usize) -> Option<BlockReport> {
        let states = self.states.get(..self.len).filter(|_| self.rendered)?;
        states.get(index)?.report()
    }
}

impl Object for toolcore_context_t {
    type Body = ContextBody;
    const MAGIC: u32 = u32::from_be_bytes(*b"TCcx");
}

impl toolcore_block_t {
    fn to_core(self, c: Caller) -> Result<ContextBlock<'static>, Fail> {
        if self.reserved != 0 {
            return Err(unknown!("reserved"));
        }
        Ok(ContextBlock {
            category: c.text(self.category)?,
            label: c.text(self.label)?,
            source: c.text(self.source)?,
            priority: self.priority,
            min_tokens: self.min_tokens,
            flags: BlockFlags::from_bits(self.flags).ok_or(unknown!("flags"))?,
            ..ContextBlock::new(c.text(self.content)?)
        })
    }
}

impl toolcore_block_report_t {
    fn of(report: &BlockReport) -> Self {
        let blank = toolcore_block_report_t {
            struct_size: 0,
            from: 0,
            to: 0,
            state: TOOLCORE_BLOCK_KEPT,
            tokens: report.tokens,
            left_out: 0,
            reason: 0,
        };
        match report.outcome {
            Outcome::Cut { from, to, left_out } => {
                toolcore_block_report_t { state: TOOLCORE_BLOCK_CUT, from, to, left_out, ..blank }
            }
            Outcome::Dropped(reason) => toolcore_block_report_t {
                state: TOOLCORE_BLOCK_DROPPED,
                reason: drop_reason(reason),
                ..blank
            },
            _ => blank,
        }
    }
}

fn drop_reason(reason: DropReason) -> u32 {
    match reason {
        DropReason::Empty => TOOLCORE_DROP_EMPTY,
        DropReason::BelowMinimum => TOOLCORE_DROP_BELOW_MINIMUM,
        DropReason::Stopped => TOOLCORE_DROP_STOPPED,
        _ => TOOLCORE_DROP_NO_ROOM,
    }
}

fn options(opts: &toolcore_context_render_opts_t) -> Result<RenderOptions, Fail> {
    if opts.show & !(TOOLCORE_SHOW_CATEGORY | TOOLCORE_SHOW_LABEL | TOOLCORE_SHOW_SOURCE) != 0 {
        return Err(unknown!("show"));
    }
    if opts.reserved != 0 {
        return Err(unknown!("reserved"));
    }
    Ok(RenderOptions {
        budget: opts.budget,
        reserve: opts.reserve,
        format: match opts.format {
            TOOLCORE_FORMAT_PLAIN => Format::Plain,
            TOOLCORE_FORMAT_XML => Format::Xml,
            TOOLCORE_FORMAT_MARKDOWN => Format::Markdown,
            _ => return Err(unknown!("format")),
        },
        order: match opts.order {
            TOOLCORE_ORDER_PRIORITY => Order::Priority,
            TOOLCORE_ORDER_INPUT => Order::Input,
            _ => return Err(unknown!("order")),
        },
        policy: match opts.policy {
            TOOLCORE_POLICY_GREEDY => Policy::Greedy,
            TOOLCORE_POLICY_STRICT => Policy::Strict,
            _ => return Err(unknown!("policy")),
        },
        show: Show {
            category: opts.show & TOOLCORE_SHOW_CATEGORY != 0,
            label: opts.show & TOOLCORE_SHOW_LABEL != 0,
            source: opts.show & TOOLCORE_SHOW_SOURCE != 0,
        },
    })
}

fn max_blocks(c: Caller, opts: *const toolcore_context_opts_t) -> Result<usize, Fail> {
    let opts = c.options(opts)?;
    Ok(if opts.max_blocks == 0 { 32 } else { opts.max_blocks })
}

fn context_size(blocks: usize) -> usize {
    Memory::room_for::<Live<ContextBody>>(1)
        .saturating_add(Memory::room_for::<ContextBlock<'static>>(blocks))
        .saturating_add(Memory::room_for::<BlockState>(blocks))
}
