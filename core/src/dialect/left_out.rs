//! The refusal of a dialect that this build leaves out.

use super::Dialect;

/// The dialect is not built in; the text names the feature that it needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror_no_std::Error)]
#[error("this build leaves the dialect {} out: build with feature {}", .0.name(), .0.feature())]
pub struct LeftOut(pub Dialect);
impl core::error::Error for LeftOut {}
