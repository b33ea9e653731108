//! Settings that shell commands of a script make: sysctls of TCP, and the queueing discipline.

use std::collections::BTreeMap;

/// Commands of the shell.
#[derive(Debug, PartialEq, Eq)]
pub struct Shell {
    /// Whether `defaults.sh` of the kernel's tests runs.
    pub runs_defaults: bool,
    /// Sysctls in their order, without `net.ipv4.`.
    pub sysctls: Vec<(String, String)>,
    /// The queueing discipline that is added.
    pub qdisc: Option<Qdisc>,
    /// Other commands.
    pub others: Vec<String>,
}

/// A queueing discipline of the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Qdisc {
    /// `fq`, which paces.
    Fq,
    /// A queue of no packets.
    DropsAll,
    /// Any other.
    Other,
}

impl Shell {
    /// Read the commands of a shell script.
    pub fn parse(text: &str) -> Shell {
        let mut shell = Shell { runs_defaults: false, sysctls: Vec::new(), qdisc: None, others: Vec::new() };
        let text = text.replace("\\\n", " ");
        let lines = text.lines().map(|line| line.split('#').next().unwrap_or(""));
        for command in lines.flat_map(|line| line.split(';')) {
            let assigned = if command.contains("sysctl") { assignments(command) } else { Vec::new() };
            if command.contains("defaults.sh") {
                shell.runs_defaults = true;
            } else if !command.contains("tc qdisc") && assigned.is_empty() && !command.trim().is_empty() {
                shell.others.push(command.trim().to_owned());
            }
            shell.sysctls.extend(assigned);
            if command.contains("tc qdisc") && !command.contains("del") {
                let words: Vec<&str> = command.split_whitespace().collect();
                shell.qdisc = Some(match () {
                    () if words.contains(&"fq") => Qdisc::Fq,
                    () if command.contains("limit 0") => Qdisc::DropsAll,
                    () => Qdisc::Other,
                });
            }
        }
        shell
    }
}

/// Assignments in a command such as `sysctl -q net.ipv4.tcp_rmem="4096 131072 $((32*1024))"`.
fn assignments(command: &str) -> Vec<(String, String)> {
    let (mut found, mut rest) = (Vec::new(), command);
    while let Some((before, after)) = rest.split_once('=') {
        let name = before.rsplit([' ', '\t']).next().unwrap_or(before);
        let name = name.trim_start_matches("/proc/sys/").replace('/', ".");
        let name = name.trim_start_matches("net.ipv4.").to_owned();
        let (value, left) = match after.strip_prefix('"') {
            Some(quoted) => quoted.split_once('"').unwrap_or((quoted, "")),
            None => after.split_at(after.find([' ', '\t']).unwrap_or(after.len())),
        };
        found.push((name, value.to_owned()));
        rest = left;
    }
    found
}

/// The settings of the host under test.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    sysctls: BTreeMap<String, String>,
    /// Whether `fq` paces every connection.
    pub fq: bool,
    /// Whether a queue of no packets drops all that is sent.
    pub drops_all: bool,
}

impl Settings {
    /// Apply commands; `defaults`: the text of `defaults.sh`.
    pub fn apply(&mut self, shell: &Shell, defaults: &str) {
        if shell.runs_defaults {
            self.change(&Shell::parse(defaults));
        }
        self.change(shell);
    }

    fn change(&mut self, shell: &Shell) {
        self.sysctls.extend(shell.sysctls.iter().cloned());
        if let Some(qdisc) = shell.qdisc {
            (self.fq, self.drops_all) = (qdisc == Qdisc::Fq, qdisc == Qdisc::DropsAll);
        }
    }

    /// Whether commands set a sysctl to another value than it has.
    pub fn differ(&self, shell: &Shell) -> bool {
        shell.sysctls.iter().any(|(name, value)| self.text(name) != Some(value))
    }

    /// The value of a sysctl.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.sysctls.get(name).map(String::as_str)
    }

    /// The value of a sysctl with one number.
    pub fn number(&self, name: &str) -> Option<u64> {
        self.numbers(name).first().copied()
    }

    /// The numbers in the value of a sysctl.
    pub fn numbers(&self, name: &str) -> Vec<u64> {
        self.text(name).unwrap_or("").split_whitespace().filter_map(product).collect()
    }

    /// The words of a value with their products calculated.
    pub fn plain(value: &str) -> String {
        let plain = |word: &str| product(word).map_or_else(|| word.to_owned(), |number| number.to_string());
        value.split_whitespace().map(plain).collect::<Vec<_>>().join(" ")
    }

    /// Whether a sysctl has another value than 0, which it has if nothing sets it.
    pub fn is_on(&self, name: &str) -> bool {
        self.number(name) != Some(0)
    }
}

/// A number, or a product such as `$((32*1024*1024))`.
fn product(text: &str) -> Option<u64> {
    let factors = text.trim_start_matches("$((").trim_end_matches("))").split('*');
    factors
        .map(|factor| factor.trim().parse::<u64>().ok())
        .try_fold(1, |all: u64, factor| all.checked_mul(factor?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sysctls_come_from_every_kind_of_command() {
        let text = "./defaults.sh\nsysctl -q net.ipv4.tcp_rmem=\"4096 131072 $((32*1024))\" net.ipv4.tcp_ecn=3 # why\n\
                    ./set_sysctls.py /proc/sys/net/ipv4/tcp_timestamps=0 \\\n /proc/sys/net/ipv4/tcp_frto=2";
        let mut settings = Settings::default();
        settings.apply(&Shell::parse(text), "sysctl -q net.ipv4.tcp_ecn=0\nsysctl -q net.ipv4.tcp_sack=1");
        assert_eq!(settings.numbers("tcp_rmem"), [4_096, 131_072, 32_768]);
        assert_eq!(
            ["tcp_ecn", "tcp_sack", "tcp_frto"].map(|name| settings.number(name)),
            [3, 1, 2].map(Some)
        );
        assert!(!settings.is_on("tcp_timestamps") && settings.is_on("tcp_dsack"));
    }

    #[test]
    fn the_last_queueing_discipline_counts() {
        let mut settings = Settings::default();
        settings.apply(&Shell::parse("tc qdisc replace dev tun0 root fq"), "");
        assert!(settings.fq);
        let drops = "tc qdisc delete dev tun0 root 2>/dev/null ; tc qdisc add dev tun0 root pfifo limit 0";
        settings.apply(&Shell::parse(drops), "");
        assert!(!settings.fq && settings.drops_all);
    }
}
