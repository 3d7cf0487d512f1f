//! Which tool the model is to call, as far as the provider has words for it.

use super::super::Facts;
use super::{Note, NoteKind, RenderErrorKind, ToolsOptions};
use crate::registry::{Hook, Registry, ToolInfo};

/// Which tool the model calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choice<'a> {
    /// As it likes.
    Auto,
    /// None.
    None,
    /// At least one, whichever it likes.
    Required,
    /// This one.
    Tool(&'a str),
    /// One of these. A provider without a word for it is told of no other tool.
    Allowed {
        /// Their registered names.
        names: &'a [&'a str],
        /// At least one must be called.
        required: bool,
    },
}

impl Choice<'_> {
    /// Whether a tool may be called.
    pub(super) fn allows(self, name: &str) -> bool {
        match self {
            Choice::Allowed { names, .. } => names.contains(&name),
            _ => true,
        }
    }

    /// The names that it gives.
    fn names(&self) -> &[&str] {
        match self {
            Choice::Tool(name) => core::slice::from_ref(name),
            Choice::Allowed { names, .. } => names,
            _ => &[],
        }
    }
}

/// Refuses a choice of tools that are not there.
pub(super) fn check_choice<H, K: Hook>(
    registry: &Registry<'_, H, K>,
    options: &ToolsOptions<'_>,
    of_category: &dyn Fn(&ToolInfo<'_>) -> bool,
) -> Result<(), RenderErrorKind> {
    let Some(choice) = options.choice else { return Ok(()) };
    let there = |name: &str| registry.get(name).is_some_and(|tool| of_category(&tool.info));
    let known = choice.names().iter().all(|name| there(name));
    let must = matches!(choice, Choice::Required | Choice::Allowed { .. });
    let any = match choice {
        Choice::Allowed { names, .. } => !names.is_empty(),
        _ => !options.native.is_empty() || registry.infos().any(|info| of_category(&info)),
    };
    if known && (any || !must) { Ok(()) } else { Err(RenderErrorKind::UnknownChoice) }
}

/// The choice as far as the dialect has words for it.
pub(super) fn expressible<'a>(
    facts: &Facts,
    options: &ToolsOptions<'a>,
    notes: &mut dyn FnMut(Note<'_>),
) -> Result<Option<Choice<'a>>, RenderErrorKind> {
    let words = &facts.choice;
    let choice = match options.choice {
        // Fewer tools are told of.
        Some(Choice::Allowed { required, .. }) if !words.allowed => {
            Some(if required { Choice::Required } else { Choice::Auto })
        }
        choice => choice,
    };
    let said = match choice {
        None => true,
        Some(Choice::Auto) => true,
        Some(Choice::None) => words.none || words.none_is_no_tool,
        Some(Choice::Required) => words.required,
        Some(Choice::Tool(_)) => words.tool,
        Some(Choice::Allowed { .. }) => words.allowed,
    };
    if !said || options.parallel.is_some() && !words.parallel {
        if options.refuse_dropped {
            return Err(RenderErrorKind::Choice);
        }
        notes(Note { tool: "", kind: NoteKind::ChoiceDropped });
    }
    Ok(choice.filter(|_| said && words.auto))
}
