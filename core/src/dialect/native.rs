//! Tools that run at the provider: web search, code execution and their like.
//!
//! A host names what it wants ([`NativeKind`]); each dialect has a table of what its provider calls it. The
//! host's configuration, a JSON object, goes out as it is; a member of it takes the place of one of the
//! table's, so that another version of a tool can be asked for by its `type`. What the provider lacks is
//! dropped and noted. [`NativeKind::CodeExecution`] and [`NativeKind::ComputerUse`] act in the host's name
//! and have to be allowed ([`ToolsOptions::allow_acting`](super::ToolsOptions)).
//!
//! The calls of these tools in a reply are the provider's to run; they are passed over.

use crate::json::{Str, Value, Writer};

/// What a tool of the provider does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NativeKind {
    /// Searches the web.
    WebSearch,
    /// Runs code that the model writes.
    CodeExecution,
    /// Searches documents that were given to the provider.
    FileSearch,
    /// Looks at a screen and acts on it.
    ComputerUse,
    /// Makes images.
    ImageGeneration,
    /// Searches with Google.
    GoogleSearch,
    /// Looks places up in Google Maps.
    GoogleMaps,
}

impl NativeKind {
    /// All of them.
    pub const ALL: [NativeKind; 7] = [
        NativeKind::WebSearch,
        NativeKind::CodeExecution,
        NativeKind::FileSearch,
        NativeKind::ComputerUse,
        NativeKind::ImageGeneration,
        NativeKind::GoogleSearch,
        NativeKind::GoogleMaps,
    ];

    /// The name in snake case: `web_search`.
    pub const fn name(self) -> &'static str {
        match self {
            NativeKind::WebSearch => "web_search",
            NativeKind::CodeExecution => "code_execution",
            NativeKind::FileSearch => "file_search",
            NativeKind::ComputerUse => "computer_use",
            NativeKind::ImageGeneration => "image_generation",
            NativeKind::GoogleSearch => "google_search",
            NativeKind::GoogleMaps => "google_maps",
        }
    }

    /// The one of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// Whether it acts in the host's name, and so has to be allowed.
    pub const fn acts(self) -> bool {
        matches!(self, NativeKind::CodeExecution | NativeKind::ComputerUse)
    }
}

/// A tool of the provider that the model may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NativeTool<'a> {
    /// What it does.
    pub kind: NativeKind,
    /// The provider's members for it, as a JSON object, such as `{"max_uses":2}`; `None` for none.
    pub config: Option<&'a str>,
}

impl<'a> NativeTool<'a> {
    /// A tool without configuration.
    pub const fn new(kind: NativeKind) -> Self {
        NativeTool { kind, config: None }
    }
}

/// How a provider writes one of them.
pub(crate) struct NativeForm {
    pub(crate) kind: NativeKind,
    /// The member that holds it, where it is one of its own (`googleSearch`); else empty.
    pub(crate) member: &'static str,
    /// What always stands in it, as a JSON object.
    pub(crate) fixed: &'static str,
    /// A member that the host's configuration has to have; or empty.
    pub(crate) needs: &'static str,
}

impl NativeForm {
    /// Its name on the wire, where it has one as the host's tools have.
    pub(crate) fn name(&self) -> Option<Str<'static>> {
        Value::from_checked(self.fixed).get("name").and_then(Value::as_str)
    }

    /// Whether a request can hold only one of the two.
    pub(crate) fn excludes(&self, other: &NativeForm) -> bool {
        let same_name = self.name().is_some_and(|name| other.name() == Some(name));
        same_name || !self.member.is_empty() && self.member == other.member
    }
}

/// A tool with its form and its checked configuration.
#[derive(Clone, Copy)]
pub(crate) struct WireNative<'a> {
    pub(crate) form: &'static NativeForm,
    pub(crate) config: Option<Value<'a>>,
}

impl WireNative<'_> {
    /// Writes it as one object.
    pub(crate) fn write(&self, out: &mut Writer<'_, '_>) {
        if self.form.member.is_empty() {
            self.write_body(out);
        } else {
            out.object_start();
            out.key(self.form.member);
            self.write_body(out);
            out.object_end();
        }
    }

    /// Writes what the provider reads of it: what always stands there, and the configuration.
    pub(crate) fn write_body(&self, out: &mut Writer<'_, '_>) {
        out.object_start();
        self.write_members(out);
        out.object_end();
    }

    /// [`write_body`](Self::write_body) without the braces.
    pub(crate) fn write_members(&self, out: &mut Writer<'_, '_>) {
        let fixed = Value::from_checked(self.form.fixed);
        let config = self.config.unwrap_or(Value::empty_object());
        let kept = fixed.entries().filter(|(key, _)| config.entries().all(|(other, _)| other != *key));
        for (key, value) in kept.chain(config.entries()) {
            out.key_str(key);
            out.value(value);
        }
    }
}
