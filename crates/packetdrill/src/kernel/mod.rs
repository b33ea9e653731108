//! A kernel as the TCP under test. The kernel plays a script by itself: [`plan`] translates the script for the program in
//! the guest, and [`judge`] compares what this program has recorded with what the script expects.

mod calls;
mod constants;
mod info;
mod plan;
mod recording;

use crate::play;
use crate::verdict::{Outcome, Verdict};
use recording::Recording;

/// Translate a script for the program in the guest; `defaults`: the text of `defaults.sh`.
///
/// # Errors
/// The verdict, if the script is malformed or has a step that the program cannot make.
pub fn plan(script: &str, defaults: &str) -> Result<String, Box<Outcome>> {
    let script = play::parsed(script)?;
    plan::translate(&script, defaults)
        .map_err(|(line, reason)| Box::new(play::outcome(Verdict::NotApplicable, Some(line), Some(reason))))
}

/// Compare a script with the recording that the program in the guest has made of it.
pub fn judge(script: &str, recording: &str) -> Outcome {
    match play::parsed(script) {
        Ok(script) => match Recording::read(recording) {
            Ok(recording) => play::judge(&script, recording),
            Err(line) => {
                let reason = format!("a recording with the line {line:?}");
                play::outcome(Verdict::NotApplicable, None, Some(reason))
            }
        },
        Err(outcome) => *outcome,
    }
}

/// Whether a name is no field of `tcp_info`, or one that Linux has.
pub(crate) fn may_read(name: &str) -> bool {
    name.strip_prefix("tcpi_").is_none_or(info::has_field)
}
