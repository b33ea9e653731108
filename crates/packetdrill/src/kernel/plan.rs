//! Scripts as lines for the program in the guest, one step a line. A step of an event begins with the position of the
//! event; the first one waits for the time of the event.

use super::calls;
use crate::script::{Action, Event, Packet, Qdisc, Script, Settings, Shell, Statement, When};
use crate::wire;

/// Commands of the shell without effect on the kernel, and those that check its counters.
const WITHOUT_EFFECT: [&str; 8] =
    ["ip tcp_metrics", "nstat", "grep", "/bin/rm", "/bin/dd", "/tmp/sysctl_restore", "#!", "true"];
/// The network device of packetdrill.
const DEVICE: &str = "tun0";

/// Words and bytes of a step that the program reads (`MAX_STEP_WORDS` and `MAX_STEP` in the guest's drill.h).
const MOST_WORDS: usize = 150;
const MOST_BYTES: usize = 65_000;

type Problem = (usize, String);

/// Translate a script. The error is a line of the script and what the program lacks.
pub(super) fn translate(script: &Script, defaults: &str) -> Result<String, Problem> {
    if script.options.get("ip_version").is_some_and(|version| version == "ipv6") {
        return Err((1, "IPv6".into()));
    }
    let mut lines: Vec<String> = script.option("mss").iter().map(|mss| format!("mss {mss}")).collect();
    for (position, event) in script.events.iter().enumerate() {
        let steps = steps(event, defaults).map_err(|reason| (event.line, reason))?;
        steps.iter().try_for_each(|step| readable(step)).map_err(|reason| (event.line, reason))?;
        lines.push(format!("event {position} {}", time(event.when)));
        lines.extend(steps);
    }
    lines.push("end\n".into());
    Ok(lines.join("\n"))
}

/// Check that the program can read a step.
fn readable(step: &str) -> Result<(), String> {
    if step.split_whitespace().count() > MOST_WORDS || step.len() > MOST_BYTES {
        return Err(format!("a step of so many words: {step:.40}"));
    }
    if !step.is_ascii() {
        return Err(format!("text that is not ASCII: {step:.60}"));
    }
    Ok(())
}

fn time(when: When) -> String {
    match when {
        When::Absolute(from, until) => format!("absolute {from} {until}"),
        When::Relative(from, until) => format!("relative {from} {until}"),
        When::Any => "any 0 0".into(),
    }
}

fn steps(event: &Event, defaults: &str) -> Result<Vec<String>, String> {
    Ok(match &event.action {
        Action::Inject(packet) => vec![inject(packet)?],
        Action::Expect(packet) => {
            check(packet)?;
            let stamp = packet.timestamps().map_or("-".into(), |(value, _)| value.to_string());
            vec![format!("expect {} {stamp}", packet.len())]
        }
        Action::Call(call) => {
            let blocks = if event.returns.is_some() { "blocking " } else { "" };
            vec![format!("{blocks}{}", calls::translate(call)?)]
        }
        Action::Shell(shell) => shell_steps(shell, defaults)?,
        Action::Code(statements) => {
            let unknown = statements.iter().find_map(|statement| match statement {
                Statement::Unknown(reason) => Some(reason.clone()),
                _ => None,
            });
            unknown.map_or_else(|| Ok(vec!["info".into()]), Err)?
        }
    })
}

/// Check that the recording can be compared with a packet.
fn check(packet: &Packet) -> Result<(), String> {
    let is_symbol = |option: &String| option.starts_with("FO ") && wire::option(option).is_err();
    if packet.options.iter().any(is_symbol) {
        return Err("symbols that only the kernel's runner of scripts defines".into());
    }
    if packet.is_syn() && packet.bytes.0 != 0 {
        return Err("initial sequence numbers other than 0".into());
    }
    Ok(())
}

fn inject(packet: &Packet) -> Result<String, String> {
    check(packet)?;
    if packet.flags == "icmp" {
        return Err("ICMP".into());
    }
    let flags = wire::flags(packet).ok_or_else(|| format!("the flags {}", packet.flags))?;
    let ecn = packet.ecn.as_deref().map_or(Some(0), wire::ecn_bits);
    let ecn = ecn.ok_or_else(|| format!("the bits [{}]", packet.ecn.as_deref().unwrap_or("")))?;
    let (ack, window) = (packet.ack.unwrap_or(0), packet.window.unwrap_or(0));
    let mut words =
        vec![format!("inject {flags:x} {ecn} {} {} {ack} {window}", packet.bytes.0, packet.len())];
    words.extend(wire::options(packet)?);
    Ok(words.join(" "))
}

fn shell_steps(shell: &Shell, defaults: &str) -> Result<Vec<String>, String> {
    let mut steps = vec!["shell".to_owned()];
    if shell.runs_defaults {
        // A kernel may lack some of these settings.
        let defaults = shell_steps(&Shell::parse(defaults), "")?;
        steps.extend(defaults.iter().map(|step| step.replacen("sysctl", "default", 1)));
    }
    for (name, value) in &shell.sysctls {
        let path = if name.starts_with("net.") { name.replace('.', "/") } else { format!("net/ipv4/{name}") };
        steps.push(format!("sysctl {path} {}", Settings::plain(value)));
    }
    if let Some(qdisc) = shell.qdisc {
        let kind = match qdisc {
            Qdisc::Fq => "fq",
            Qdisc::DropsAll => "nothing",
            Qdisc::Other => "pfifo",
        };
        steps.push(format!("qdisc {kind}"));
    }
    for command in &shell.others {
        steps.extend(other(command)?);
    }
    Ok(steps)
}

fn other(command: &str) -> Result<Option<String>, String> {
    let words: Vec<&str> = command.split_whitespace().collect();
    match words.as_slice() {
        ["ip", "link", "set", "dev", DEVICE, "mtu", mtu] if mtu.parse::<u16>().is_ok() => {
            Ok(Some(format!("mtu {mtu}")))
        }
        ["ethtool", "-K", DEVICE, "tso", "off", ..] => Ok(Some("offload".into())),
        _ if WITHOUT_EFFECT.iter().any(|known| command.starts_with(known)) => Ok(None),
        _ => Err(format!("the command {command}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(text: &str) -> Result<String, Problem> {
        translate(&Script::parse(text).unwrap(), "sysctl -q net.ipv4.tcp_rmem=\"4096 $((2*1024)) 9\"")
    }

    #[test]
    fn every_event_has_a_time_and_steps() {
        let text = "`./defaults.sh`\n0 < S 0:0(0) win 9 <mss 1000>\n+.1~+.2 > S. 0:0(0) ack 1 <...>\n* %{ assert 1 }%\n";
        let expected = "event 0 relative 0 0\nshell\nshell\ndefault net/ipv4/tcp_rmem 4096 2048 9\n\
                        event 1 absolute 0 0\ninject 2 0 0 0 0 9 x020403e8\n\
                        event 2 relative 100000 200000\nexpect 0 -\nevent 3 any 0 0\ninfo\nend\n";
        assert_eq!(plan(text).unwrap(), expected);
    }

    #[test]
    fn what_the_program_lacks_is_named_with_its_line() {
        assert_eq!(plan("\n0 < icmp unreachable\n"), Err((2, "ICMP".into())));
        assert_eq!(plan("`reboot now`"), Err((1, "the command reboot now".into())));
    }

    #[test]
    fn steps_that_the_program_cannot_read_are_named() {
        let pieces = "{..., 1}, ".repeat(20_000);
        let message = format!(
            "0 sendmsg(4, {{msg_name(...)=..., msg_iov(2)=[{pieces}{{..., 1}}], msg_flags=0}}, 0) = 5"
        );
        assert!(plan(&message).unwrap_err().1.starts_with("a step of so many words: sendmsg 4 0 1 1"));
        let reason = "text that is not ASCII: sysctl net/ipv4/tcp_congestion_control é";
        assert_eq!(plan("`sysctl net.ipv4.tcp_congestion_control=é`"), Err((1, reason.into())));
    }
}
