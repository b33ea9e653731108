//! Traces of Linux 7.2's sender, recorded by `scripts/record_traces.py`, and replayed.
//!
//! Every packet and eight counters after every ACK are compared. The number of identical traces of each family is a
//! ratchet: `recorded/identical.txt` has the least number, which only rises. Other traces are replayed with
//! `TRACES=folder cargo test -p fullpipe-tcp traces -- --nocapture`.

mod format;
mod replay;

use format::Trace;
use replay::replay;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// BBR draws the phase of its cycle at random in the kernel. Each seed of the simulated BBR draws other phases.
const SEEDS_OF_BBR: u64 = 24;

fn recorded() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/traces/recorded")
}

/// The traces of a folder by family, each with the algorithm.
fn families(folder: &Path) -> BTreeMap<String, (String, Vec<Trace>)> {
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let traces = files.filter(|path| path.extension().is_some_and(|kind| kind == "traces"));
    traces.map(|path| (path.file_stem().unwrap().to_str().unwrap().into(), format::read(&path))).collect()
}

/// The first divergence of a trace. `None`: the trace is identical.
fn divergence(trace: &Trace, algorithm: &str) -> Option<String> {
    let (name, seeds) = if algorithm == "bbr" { ("bbr1", SEEDS_OF_BBR) } else { (algorithm, 1) };
    let mut furthest: Option<replay::Divergence> = None;
    for seed in 1..=seeds {
        let found = replay(trace, name, seed)?;
        if furthest.as_ref().is_none_or(|known| known.event < found.event) {
            furthest = Some(found);
        }
    }
    furthest.map(|found| format!("{} us, {}", found.at, found.text))
}

/// The number of identical traces by family, with the number of all traces, and a line for each divergence.
fn compared(folder: &Path) -> (BTreeMap<String, (usize, usize)>, String) {
    let (mut counts, mut text) = (BTreeMap::new(), String::new());
    for (family, (algorithm, traces)) in families(folder) {
        let mut identical = 0;
        for trace in &traces {
            match divergence(trace, &algorithm) {
                None => identical += 1,
                Some(why) => writeln!(text, "{family} {}: {why}", trace.seed).unwrap(),
            }
        }
        counts.insert(family, (identical, traces.len()));
    }
    (counts, text)
}

#[test]
fn traces_of_linux_are_identical_as_often_as_before() {
    let (counts, divergences) = compared(&recorded());
    let text = std::fs::read_to_string(recorded().join("identical.txt")).unwrap();
    let least = text.lines().filter_map(|line| line.split_once(' ')).map(|(family, count)| {
        (
            family.to_owned(),
            count.trim().parse::<usize>().unwrap_or_else(|_| panic!("{line}: no count", line = count)),
        )
    });
    let least: BTreeMap<_, _> = least.collect();
    let identical: BTreeMap<_, _> = counts.iter().map(|(family, count)| (family.clone(), count.0)).collect();
    let list = |sign: fn(&usize, &usize) -> bool| {
        let differ = identical.iter().filter(|(family, count)| sign(count, least.get(*family).unwrap_or(&0)));
        differ.map(|(family, count)| format!("{family} {count}\n")).collect::<String>()
    };
    let (fewer, more) = (list(|now, then| now < then), list(|now, then| now > then));
    assert!(fewer.is_empty(), "fewer traces are identical to Linux than before:\n{fewer}\n{divergences}");
    assert!(more.is_empty(), "more traces are identical: raise these counts in identical.txt:\n{more}");
    assert!(least.keys().eq(identical.keys()), "identical.txt has other families than the folder");
}

#[test]
fn traces_of_a_folder() {
    let Some(folder) = std::env::var_os("TRACES") else { return };
    let (counts, divergences) = compared(Path::new(&folder));
    let (identical, all) = counts.values().fold((0, 0), |sum, count| (sum.0 + count.0, sum.1 + count.1));
    for (family, (identical, all)) in &counts {
        println!("{family}: {identical} of {all} traces are identical");
    }
    println!("all: {identical} of {all}\n{divergences}");
}
