//! Wi-Fi cells compared with closed forms and with Bianchi's model, and under random traffic.

mod airtime;
mod anomaly;
mod closed_form;
mod contention;
mod deaf;
mod mac80211;
mod mistakes;
mod random;
mod rates;
mod saturated;
