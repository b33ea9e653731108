//! Verdicts on scripts.

use serde::Serialize;
use std::fmt;

/// Result of a script.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// All that the script expects of this TCP was seen.
    Passed,
    /// The TCP did something else than the script expects.
    Failed,
    /// The script passes, but checks only what is fixed, such as the first packets of a handshake.
    SaysNothing,
    /// The script needs something that the model lacks.
    NotApplicable,
    /// The text is no packetdrill script.
    Malformed,
}

/// The first difference between a script and a TCP.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Difference {
    /// Number of the expected packet in the script, from 1; `None` for an assertion.
    pub packet: Option<usize>,
    /// Time in the script, seconds.
    pub time_s: f64,
    /// Packet or assertion that the script expects.
    pub expected: String,
    /// Packet or values seen.
    pub seen: String,
}

/// The verdict on a script, and its cause.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Outcome {
    /// The verdict.
    pub verdict: Verdict,
    /// Line at which the script ended early, from 1; `None` if it was played to its end.
    pub line: Option<usize>,
    /// What the model lacks, or the error in the text.
    pub reason: Option<String>,
    /// The first difference of a script that failed.
    pub difference: Option<Difference>,
    /// Packets of this TCP that were compared, without the fixed packets of a handshake.
    pub packets: usize,
    /// Assertions that were compared.
    pub assertions: usize,
    /// Names in assertions that the model cannot read. These assertions were passed over.
    pub unread: Vec<String>,
}

/// Reason for which a script ends early.
#[derive(Debug, PartialEq)]
pub(crate) enum Stop {
    /// The TCP did something else than the script expects.
    Failed(Difference),
    /// The model lacks something.
    NotApplicable(String),
}

impl Stop {
    /// A part of a script that the model lacks.
    pub fn lacks<T>(what: impl Into<String>) -> Result<T, Stop> {
        Err(Stop::NotApplicable(what.into()))
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Verdict::Passed => "passed",
            Verdict::Failed => "failed",
            Verdict::SaysNothing => "says nothing",
            Verdict::NotApplicable => "not applicable",
            Verdict::Malformed => "malformed",
        })
    }
}
