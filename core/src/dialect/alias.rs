//! Names that a provider's rule does not allow, made to fit and found again.
//!
//! A registered name that fits goes out as it is. One that does not is sent as an alias: each character
//! that is not allowed becomes `_`, the whole is shortened to fit, and `_` with eight hex digits of the
//! name's hash is appended. The digits lead back to the tool through the registry's index, so that a
//! reply's name is resolved without a table and at the same cost for any number of tools. Two tools that
//! would share one name on the wire are refused when the tools are rendered.

use heapless::String;

use crate::registry::{Hook, Registry, hash_name};
use crate::tool::NAME_MAX;

/// What a provider allows in a tool's name, beside letters, digits, `_` and `-`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NameRule {
    /// The most bytes.
    pub max: usize,
    /// Whether dots are allowed.
    pub dots: bool,
    /// Whether it has to begin with a letter or `_`.
    pub letter_first: bool,
}

/// A name as it stands on the wire.
pub type WireName = String<NAME_MAX>;

/// `_` and eight hex digits.
const SUFFIX: usize = 9;

impl NameRule {
    /// Whether the provider takes `name` as it is.
    pub fn allows(self, name: &str) -> bool {
        name.len() <= self.max
            && name.bytes().all(|byte| self.allows_byte(byte))
            && name.bytes().next().is_none_or(|byte| self.allows_first(byte))
    }

    /// The name to send for a registered `name`.
    pub fn wire_name(self, name: &str) -> WireName {
        let mut wire = WireName::new();
        if self.allows(name) {
            wire.push_str(name).ok();
            return wire;
        }
        let kept = self.max.min(NAME_MAX).saturating_sub(SUFFIX);
        for (at, byte) in name.bytes().take(kept).enumerate() {
            let fits = self.allows_byte(byte) && (at > 0 || self.allows_first(byte));
            wire.push(if fits { char::from(byte) } else { '_' }).ok();
        }
        wire.push('_').ok();
        let hash = hash_name(name);
        for shift in (0..8).rev() {
            let digit = (hash >> (shift * 4)) & 0xF;
            wire.push(char::from_digit(digit, 16).unwrap_or('0')).ok();
        }
        wire
    }

    fn allows_first(self, byte: u8) -> bool {
        !self.letter_first || byte.is_ascii_alphabetic() || byte == b'_'
    }

    fn allows_byte(self, byte: u8) -> bool {
        byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-') || (byte == b'.' && self.dots)
    }
}

/// The place of the tool that `wire` means: the tool of that name, or the one whose alias it is.
pub(crate) fn resolve<H, K: Hook>(
    registry: &Registry<'_, H, K>,
    rule: NameRule,
    wire: &str,
) -> Option<usize> {
    if let Some(position) = registry.position(wire) {
        return Some(position);
    }
    let (_, suffix) = wire.split_at_checked(wire.len().checked_sub(SUFFIX)?)?;
    let digits = suffix.strip_prefix('_')?;
    if !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    let hash = u32::from_str_radix(digits, 16).ok()?;
    registry.find_hash(hash, |name| !rule.allows(name) && rule.wire_name(name) == wire)
}

#[cfg(test)]
mod tests {
    use super::*;

    const OPENAI: NameRule = NameRule { max: 64, dots: false, letter_first: false };

    #[test]
    fn a_name_that_fits_is_sent_as_it_is() {
        assert_eq!(OPENAI.wire_name("get_weather-2"), "get_weather-2");
        assert_eq!(
            NameRule { max: 128, dots: true, letter_first: true }.wire_name("admin.tools.list"),
            "admin.tools.list"
        );
    }

    #[test]
    fn an_alias_fits_the_rule_and_differs_by_the_whole_name() {
        let long = "mcp__plugin_chrome-devtools-mcp_chrome-devtools__get_console_message";
        let alias = OPENAI.wire_name(long);
        assert_eq!(long.len(), 68);
        assert_eq!(alias.len(), 64);
        assert!(OPENAI.allows(&alias));
        assert!(alias.starts_with("mcp__plugin_chrome-devtools-mcp_chrome-devtools__get_co"));
        let other = OPENAI.wire_name("mcp__plugin_chrome-devtools-mcp_chrome-devtools__get_console_messagf");
        assert_ne!(alias, other);
        let lettered = NameRule { max: 64, dots: true, letter_first: true };
        assert!(lettered.allows("_2.fast") && !lettered.allows("2_fast") && !lettered.allows("-x"));
        assert!(lettered.wire_name("2_fast").starts_with("__fast_"));
        assert_ne!(OPENAI.wire_name("a.b"), OPENAI.wire_name("a..b"));
        assert!(OPENAI.wire_name("admin.tools.list").starts_with("admin_tools_list_"));
    }
}
