//! Why tools are not rendered.

use super::super::{LeftOut, NativeKind};
use crate::registry::{Hook, Registry};
use crate::schema::StrictProblem;
use crate::sink::{NoSpace, Sink};

/// Why the tools were not rendered. Nothing in the output may be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror_no_std::Error)]
#[error("{kind}")]
pub struct RenderError {
    /// The place of the tool in the order of registration, if it is about one.
    pub tool: Option<usize>,
    /// What is wrong.
    pub kind: RenderErrorKind,
}
impl core::error::Error for RenderError {}

impl RenderError {
    /// Appends the JSON Pointer of the place in the schema of the tool that it is about: `registry` is the one
    /// that was rendered. Nothing for its root, or if it is about no place.
    pub fn write_path<H, K: Hook>(&self, registry: &Registry<'_, H, K>, sink: &mut Sink<'_>) {
        let tool = self.tool.and_then(|position| registry.at(position));
        if let (RenderErrorKind::Strict(problem), Some(tool)) = (self.kind, tool) {
            problem.write_path(tool.info.parameters().text(), sink);
        }
    }
}

/// What is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror_no_std::Error)]
pub enum RenderErrorKind {
    /// The dialect is not built in.
    #[error("{0}")]
    LeftOut(LeftOut),
    /// The output is too small.
    #[error("{0}")]
    NoSpace(NoSpace),
    /// The provider does not allow the name, and aliases were refused.
    #[error(
        "the provider allows names of at most {max} bytes of A-Z a-z 0-9 _ -, this one has {len}; allow aliases or rename it"
    )]
    Name {
        /// The most bytes that the provider allows.
        max: usize,
        /// The bytes that the name has.
        len: usize,
    },
    /// Two tools would have the same name on the wire.
    #[error("its name on the wire is that of another tool; rename one of them")]
    AliasClash,
    /// The schema does not fit the provider's strict subset.
    #[error("strict is not possible: {0}")]
    Strict(StrictProblem),
    /// The choice names a tool that is not there.
    #[error("the choice names a tool that is not rendered")]
    UnknownChoice,
    /// The dialect has no word for the choice or for parallel calls, and nothing may be dropped.
    #[error("the dialect has no word for the choice or for parallel calls")]
    Choice,
    /// The provider has no such tool, and nothing may be dropped.
    #[error("the provider has no tool {}", .0.name())]
    Native(NativeKind),
    /// The provider has no strict mode, or takes strict for all tools or none, and nothing may be dropped.
    #[error(
        "the provider cannot be asked to hold this tool to its schema: it has no strict mode, or one for all tools"
    )]
    StrictDropped,
    /// There are more tools than the provider takes, and nothing may be sent that it refuses.
    #[error("there are {count} tools, the provider takes at most {max}; render those of a category")]
    ManyTools {
        /// How many there are.
        count: usize,
        /// How many it takes.
        max: usize,
    },
    /// The description or the schema holds a control token of the chat template.
    #[error("its description or schema holds a control token of the chat template")]
    ControlToken,
    /// The conversation holds calls, and the provider refuses it without any tool.
    #[error("no tool is rendered, but the conversation holds calls; render the tools that it names")]
    NoTools,
    /// A tool of the provider acts in the host's name, which was not allowed.
    #[error("{} acts in the host's name; allow it", .0.name())]
    NotAllowed(NativeKind),
    /// A tool of the provider is there twice, where a request holds one.
    #[error("{} is there twice; leave one out", .0.name())]
    NativeTwice(NativeKind),
    /// The configuration of a tool of the provider is no JSON object.
    #[error("the configuration of {} is no JSON object", .0.name())]
    BadConfig(NativeKind),
    /// A tool of the provider needs a configuration with this member.
    #[error("{} needs a configuration with '{member}'", .kind.name())]
    ConfigLacks {
        /// The tool.
        kind: NativeKind,
        /// The member.
        member: &'static str,
    },
}
impl core::error::Error for RenderErrorKind {}

impl From<RenderErrorKind> for RenderError {
    fn from(kind: RenderErrorKind) -> Self {
        RenderError { tool: None, kind }
    }
}
