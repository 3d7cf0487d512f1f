//! URI references resolved against a base (RFC 3986, section 5.2), in buffers of a fixed size.

use crate::sink::Sink;

/// The longest URI of a schema or a reference, in bytes, once it is resolved.
pub(super) const MAX_URI: usize = 512;

/// A URI without its fragment.
#[derive(Clone, Copy)]
pub(super) struct Uri {
    bytes: [u8; MAX_URI],
    length: usize,
}

impl Uri {
    /// The URI that `reference` names when it stands in a document at `base`. Nothing if it is too long.
    pub(super) fn resolve(base: &str, reference: &str) -> Option<Uri> {
        let mut uri = Uri { bytes: [0; MAX_URI], length: 0 };
        let mut sink = Sink::new(&mut uri.bytes);
        write_resolved(Parts::of(base), Parts::of(reference), &mut sink);
        uri.length = sink.finish().ok()?.len();
        Some(uri)
    }

    pub(super) fn text(&self) -> &str {
        self.bytes.get(..self.length).and_then(|bytes| core::str::from_utf8(bytes).ok()).unwrap_or_default()
    }
}

/// A hash of a URI (FNV-1a).
pub(super) fn hash(text: &str) -> u32 {
    text.bytes().fold(0x811C_9DC5, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}

/// Whether a reference names its document by itself.
pub(super) fn is_absolute(reference: &str) -> bool {
    Parts::of(reference).scheme.is_some()
}

/// Whether two URIs are the same document.
pub(super) fn same_document(a: &str, b: &str) -> bool {
    without_fragment(a) == without_fragment(b)
}

fn without_fragment(uri: &str) -> &str {
    uri.split_once('#').map_or(uri, |(document, _)| document)
}

/// The components of a URI reference (RFC 3986, appendix B), without the fragment.
#[derive(Clone, Copy)]
struct Parts<'u> {
    scheme: Option<&'u str>,
    authority: Option<&'u str>,
    path: &'u str,
    query: Option<&'u str>,
}

impl<'u> Parts<'u> {
    fn of(text: &'u str) -> Parts<'u> {
        let text = without_fragment(text);
        let (scheme, rest) = match text.find([':', '/', '?']).and_then(|at| text.split_at_checked(at)) {
            Some((scheme, rest)) if is_scheme(scheme) => match rest.strip_prefix(':') {
                Some(rest) => (Some(scheme), rest),
                None => (None, text),
            },
            _ => (None, text),
        };
        let (rest, query) = match rest.split_once('?') {
            Some((rest, query)) => (rest, Some(query)),
            None => (rest, None),
        };
        match rest.strip_prefix("//") {
            Some(rest) => {
                let end = rest.find('/').unwrap_or(rest.len());
                let (authority, path) = rest.split_at_checked(end).unwrap_or((rest, ""));
                Parts { scheme, authority: Some(authority), path, query }
            }
            None => Parts { scheme, authority: None, path: rest, query },
        }
    }
}

fn is_scheme(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.'))
}

fn write_resolved(base: Parts<'_>, reference: Parts<'_>, sink: &mut Sink<'_>) {
    let scheme = reference.scheme.or(base.scheme);
    let own = reference.scheme.is_some() || reference.authority.is_some();
    let authority = if own { reference.authority } else { base.authority };
    if let Some(scheme) = scheme {
        scheme.chars().for_each(|c| sink.put_char(c.to_ascii_lowercase()));
        sink.put_byte(b':');
    }
    if let Some(authority) = authority {
        sink.put("//");
        authority.chars().for_each(|c| sink.put_char(c.to_ascii_lowercase()));
    }
    let (before, path, query) = if own || reference.path.starts_with('/') {
        ("", reference.path, reference.query)
    } else if reference.path.is_empty() {
        ("", base.path, reference.query.or(base.query))
    } else {
        // The base up to its last slash, then the reference.
        let folder = base.path.rfind('/').and_then(|at| base.path.get(..=at));
        (folder.unwrap_or(if base.authority.is_some() { "/" } else { "" }), reference.path, reference.query)
    };
    write_path(before, path, sink);
    if let Some(query) = query {
        sink.put_byte(b'?');
        sink.put(query);
    }
}

/// Writes a path in two parts, without its dot segments.
fn write_path(before: &str, path: &str, sink: &mut Sink<'_>) {
    let start = sink.len();
    let parts = || before.split_inclusive('/').chain(path.split_inclusive('/'));
    // Where nothing starts with a slash, as in a URN, nothing is relative.
    if !before.starts_with('/') && !path.starts_with('/') {
        parts().for_each(|part| sink.put(part));
        return;
    }
    for part in parts() {
        match part {
            "./" | "." => {}
            "../" | ".." => {
                let kept = sink.text().and_then(|text| text.get(start..)).unwrap_or_default();
                let kept = kept.strip_suffix('/').unwrap_or(kept);
                let length = kept.rfind('/').map_or(0, |at| at + 1);
                sink.truncate(start + length.max(usize::from(!kept.is_empty() || length == 0)));
            }
            part => sink.put(part),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Uri;
    use std::string::{String, ToString};

    fn resolved(base: &str, reference: &str) -> String {
        Uri::resolve(base, reference).unwrap().text().to_string()
    }

    #[test]
    fn the_examples_of_rfc_3986_resolve() {
        // Section 5.4, without fragments.
        for (reference, expected) in [
            ("g:h", "g:h"),
            ("g", "http://a/b/c/g"),
            ("./g", "http://a/b/c/g"),
            ("g/", "http://a/b/c/g/"),
            ("/g", "http://a/g"),
            ("//g", "http://g"),
            ("?y", "http://a/b/c/d;p?y"),
            ("g?y", "http://a/b/c/g?y"),
            ("#s", "http://a/b/c/d;p?q"),
            (";x", "http://a/b/c/;x"),
            ("", "http://a/b/c/d;p?q"),
            (".", "http://a/b/c/"),
            ("./", "http://a/b/c/"),
            ("..", "http://a/b/"),
            ("../g", "http://a/b/g"),
            ("../..", "http://a/"),
            ("../../g", "http://a/g"),
            ("../../../g", "http://a/g"),
            ("/./g", "http://a/g"),
            ("/../g", "http://a/g"),
            ("g.", "http://a/b/c/g."),
            ("..g", "http://a/b/c/..g"),
            ("./../g", "http://a/b/g"),
            ("g/./h", "http://a/b/c/g/h"),
            ("g/../h", "http://a/b/c/h"),
        ] {
            assert_eq!(resolved("http://a/b/c/d;p?q", reference), expected, "{reference}");
        }
    }

    #[test]
    fn what_is_no_path_stays_as_it_is() {
        assert_eq!(resolved("urn:uuid:1234", "#a"), "urn:uuid:1234");
        assert_eq!(resolved("", "a.json"), "a.json");
        assert_eq!(resolved("a.json", "b.json#x"), "b.json");
        assert_eq!(resolved("http://EXAMPLE.com", "a"), "http://example.com/a");
        assert_eq!(resolved("http://a/b", "file:///c/d"), "file:///c/d");
        assert!(Uri::resolve("http://a/", &"x".repeat(600)).is_none());
    }
}
