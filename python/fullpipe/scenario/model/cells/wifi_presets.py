"""Presets of Wi-Fi cells: values of other keys of a cell. Keys set explicitly override a preset."""

from collections.abc import Mapping

PRESETS: Mapping[str, Mapping[str, object]] = {
    # A current router and laptop, with Linux's queues.
    "home-ax": {
        "standard": "802.11ax",
        "band": "5 GHz",
        "width": "80 MHz",
        "streams": 2,
        "guard_interval": "800 ns",
        "queue": "mac80211",
    },
    # 144.4 Mbit/s behind a drop-tail queue of 1,000 packets, as in firmware of ath10k before its queues were
    # limited (1,056 to 1,424 descriptors, drivers/net/wireless/ath/ath10k/hw.h).
    "old-11n": {
        "standard": "802.11n",
        "band": "2.4 GHz",
        "width": "20 MHz",
        "streams": 2,
        "guard_interval": "400 ns",
        "queue": {"kind": "drop_tail", "packets": 1_000},
    },
    # The defaults of ns-3.44: WifiHelper, HeConfiguration, WifiMacQueue, QosTxop and BE_MaxAmpduSize. Packets
    # are delivered one by one (PhyEntity::EndOfMpdu), and retries of aggregates are not counted
    # (IncrementRetryCountUnderBa).
    "ns3": {
        "standard": "802.11ax",
        "band": "5 GHz",
        "width": "80 MHz",
        "streams": 1,
        "guard_interval": "3200 ns",
        "max_ampdu": "65535 B",
        "bar": True,
        "release_each": True,
        "retries": 0,
        "queue": {"kind": "drop_tail", "packets": 500},
    },
    # The wireless host of public Flent files of BBR-n+: one stream of 802.11n in 20 MHz. A queue below the
    # sender that held 7 to 10 MB without a drop.
    "p4-host": {
        "standard": "802.11n",
        "band": "2.4 GHz",
        "width": "20 MHz",
        "streams": 1,
        "guard_interval": "800 ns",
        "queue": {"kind": "drop_tail", "bytes": "10 MB"},
    },
}
