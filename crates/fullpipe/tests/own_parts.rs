//! Parts that a user defines behave like registered parts, and errors describe mistakes in their use.

use fullpipe::congestion;
use fullpipe::network::{medium, queue};
use fullpipe::units::{Bytes, Duration, Rate, Time};
use fullpipe::{
    Application, Experiment, Flow, FlowResult, Job, Link, LinkRow, Network, SampleRecorder, SeriesRow,
    Sockets, json,
};
use std::sync::{Arc, Mutex};

fn bottleneck() -> Link {
    Link::new(Rate::from_bits_per_sec(10_000_000), Duration::from_millis(10))
        .queue("codel", json!({ "target_ms": 5 }))
}

fn experiment(link: Link, flow: Flow) -> Experiment {
    Experiment::new(Network::dumbbell(1, link, Duration::from_millis(5)), Duration::from_secs(3)).flow(flow)
}

fn flow() -> Flow {
    Flow::new("a", "sender 0", "receiver 0")
}

fn numbers(flow: FlowResult<'_>) -> [f64; 3] {
    ["goodput_bps", "rtt_mean_s", "sent_packets"].map(|column| flow.number(column))
}

#[test]
fn a_queue_of_ones_own_runs_like_that_of_the_registry() {
    let own = bottleneck().own_queue(|seed| queue::build("codel", &json!({ "target_ms": 5 }), seed).unwrap());
    let own = experiment(own, flow()).run(1).unwrap();
    let named = experiment(bottleneck(), flow()).run(1).unwrap();
    assert_eq!(numbers(own.flow("a")), numbers(named.flow("a")));
    assert!(own.flow("a").goodput() > Rate::from_bits_per_sec(8_000_000));
}

#[test]
fn an_algorithm_of_ones_own_runs_like_that_of_the_registry() {
    let own = flow().own_algorithm(|seed| congestion::build("bbr1", &json!({}), seed).unwrap());
    let own = experiment(bottleneck(), own).run(1).unwrap();
    let named = experiment(bottleneck(), flow().algorithm("bbr1", json!({}))).run(1).unwrap();
    assert_eq!(numbers(own.flow("a")), numbers(named.flow("a")));
}

/// An application with a single transfer.
struct Once(Time);

impl Application for Once {
    fn next(&self) -> Time {
        self.0
    }

    fn run(&mut self, _: Time, sockets: &mut Sockets) {
        let connection = sockets.open(false);
        sockets.transfer(connection, Job::unasked(123_456));
        self.0 = Time::NEVER;
    }
}

#[test]
fn an_application_of_ones_own_transfers_what_it_says() {
    let run =
        experiment(bottleneck(), flow().own_application(|start, _| Box::new(Once(start)))).run(1).unwrap();
    assert_eq!(run.table("transfers").numbers("bytes"), [123_456.0]);
    assert_eq!(run.flow("a").delivered(), Bytes::new(123_456));
}

#[test]
fn a_medium_of_ones_own_runs_like_that_of_the_registry() {
    let params = json!({ "rate_bps": 10_000_000, "delay_ns": 1_000_000 });
    let ports = || [("a", "hub", bottleneck()), ("b", "hub", bottleneck())];
    let rest = || Network::new().duplex("hub", "sink", Link::new(Rate::UNLIMITED, Duration::from_millis(5)));
    let back = |network: Network| {
        let back = || Link::new(Rate::UNLIMITED, Duration::from_millis(5));
        network.link("hub", "a", back()).link("hub", "b", back())
    };
    let run = |network: Network| {
        let flows = ["a", "b"].map(|node| Flow::new(node, node, "sink"));
        let [one, other] = flows;
        Experiment::new(back(network), Duration::from_secs(3)).flow(one).flow(other).run(1).unwrap()
    };
    let named = run(rest().medium("air", "shared", params.clone(), &ports()));
    let own = run(rest().own_medium("air", &ports(), move |queues, times, seed| {
        medium::build("shared", &params, queues, times, seed).unwrap()
    }));
    assert_eq!(numbers(own.flow("b")), numbers(named.flow("b")));
}

/// A recorder of the times of samples.
#[derive(Clone, Default)]
struct Notes(Arc<Mutex<[Vec<Time>; 2]>>);

impl SampleRecorder for Notes {
    fn flow(&mut self, sample: &SeriesRow) {
        self.0.lock().unwrap()[0].push(sample.time_s);
    }

    fn link(&mut self, sample: &LinkRow) {
        self.0.lock().unwrap()[1].push(sample.time_s);
    }
}

#[test]
fn a_recorder_is_told_of_every_sample() {
    let experiment = experiment(bottleneck(), flow()).sample_every(Duration::from_millis(500));
    let notes = Notes::default();
    let run = experiment.run_recording(1, notes.clone()).unwrap();
    let [flows, links] = std::mem::take(&mut *notes.0.lock().unwrap());
    let seconds = |times: &[Time]| times.iter().map(|time| time.as_secs_f64()).collect::<Vec<_>>();
    assert_eq!(seconds(&flows), run.table("series").numbers("time_s"));
    assert_eq!(seconds(&links), run.table("links").numbers("time_s"));
    assert_eq!(flows.len(), 6);
}

#[test]
fn a_recorder_needs_an_interval() {
    let error = experiment(bottleneck(), flow()).run_recording(1, Notes::default()).err().unwrap();
    assert_eq!(error.path, "record.interval_ns");
}

#[test]
fn a_flow_to_nowhere_is_refused_with_its_path() {
    let error = experiment(bottleneck(), Flow::new("b", "sender 0", "mars")).run(1).err().unwrap();
    assert_eq!(error.path, "flows[0].forward");
    assert!(error.message.contains("no route leads from \"sender 0\" to \"mars\""), "{error}");
}

#[test]
fn what_a_plan_refuses_a_builder_refuses() {
    let error = experiment(bottleneck().queue("codell", json!({})), flow()).plan().unwrap_err();
    assert_eq!(error.path, "links[0].queue");
}

#[test]
fn a_plan_goes_out_as_json_and_comes_back() {
    let plan = experiment(bottleneck(), flow()).plan().unwrap();
    assert_eq!(fullpipe::Plan::from_json(&plan.to_json()).unwrap(), plan);
}

#[test]
#[should_panic(expected = "unknown column \"goodput\"; known: flow, cca")]
fn a_misspelt_column_is_refused() {
    experiment(bottleneck(), flow()).run(1).unwrap().flow("a").number("goodput");
}

#[test]
#[should_panic(expected = "unknown flow \"b\"; known: a")]
fn a_misspelt_flow_is_refused() {
    experiment(bottleneck(), flow()).run(1).unwrap().flow("b");
}
