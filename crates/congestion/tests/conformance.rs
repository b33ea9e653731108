//! Invariants and descriptions of all registered algorithms.

use congestion::kit::{Event, INVARIANTS, Script, judge, judge_registry};
use congestion::{build, descriptors};
use proptest::prelude::*;
use units::Duration;

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn nothing_that_happens_breaks_an_algorithm(bytes in prop::collection::vec(any::<u8>(), 1..1500)) {
        prop_assert_eq!(judge_registry(&bytes), Ok(()));
    }
}

#[test]
fn a_path_of_less_than_a_byte_per_second_leaves_a_pacing_rate() {
    let ack = Event::Ack {
        acked: 250,
        lost: 0,
        marked: 0,
        rtt: Some(Duration::from_secs(1000)),
        rate: Some(false),
        timed: true,
        used: true,
    };
    let script = Script { mss: 1, events: vec![ack; 40] };
    for name in descriptors().iter().map(|d| d.name) {
        assert_eq!(judge(&|| build(name, &serde_json::json!({}), 1).unwrap(), &script), Ok(()), "{name}");
    }
}

#[test]
fn every_invariant_says_what_it_is() {
    let names: std::collections::BTreeSet<&str> = INVARIANTS.iter().map(|i| i.name).collect();
    assert_eq!(names.len(), INVARIANTS.len());
}

#[test]
fn names_and_aliases_are_unique_and_described() {
    let mut names: Vec<&str> = Vec::new();
    for d in descriptors() {
        names.push(d.name);
        names.extend(d.aliases);
        assert!(!d.title.is_empty() && !d.source.is_empty(), "{} lacks a title or a source", d.name);
        for spec in (d.params)() {
            assert!(!spec.doc.is_empty(), "{}.{} is not documented", d.name, spec.name);
        }
    }
    let count = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), count);
}

#[test]
fn bad_parameters_are_refused_with_a_reason() {
    let refuse = |name: &str, params: serde_json::Value, word: &str| {
        let error = build(name, &params, 1).map(|_| ()).unwrap_err().to_string();
        assert!(error.contains(word), "{error}");
    };
    refuse("reno", serde_json::json!({"beta": 2.0}), "out of range");
    refuse("reno", serde_json::json!({"bta": 0.5}), "bta");
    refuse("cubic", serde_json::json!({"hystart": "maybe"}), "linux");
    refuse("cubik", serde_json::json!({}), "unknown algorithm");
}

#[test]
fn every_preset_can_be_built() {
    for d in descriptors() {
        for preset in d.presets {
            let built = build(d.name, &serde_json::json!({ "preset": preset.name }), 1);
            assert!(built.is_ok(), "{} {}: {}", d.name, preset.name, built.err().unwrap());
        }
    }
}
