// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * Radios on one channel, simulated in the virtual time of this kernel. mac80211 of the kernel runs above this driver. The
 * driver replaces the hardware and the air.
 *
 * The model is 802.11n in 20 MHz with one spatial stream and one access category. All radios hear each other, and frames
 * are lost only in collisions. Radios contend by EDCA (IEEE 802.11-2020, 10.23.2), send A-MPDUs if mac80211 has agreed on a
 * block ACK, and retransmit frames that collide. mac80211 decides which frames are sent, in which order and at which rate:
 * its queues, airtime fairness, airtime queue limits and Minstrel are the code of the kernel.
 *
 * Section and table numbers without a title refer to IEEE 802.11-2020.
 *
 * Parameters:
 *   radios   number of radios; default 0
 *   mcs      MCS of the frames between each radio and radio 0, in the order of radios; -1: the rate control chooses
 *   ampdu    maximum MPDUs of an aggregate
 *   ppdu_us  maximum duration of a PPDU in us; drivers use 4000 (ath9k) or 5484 (the maximum of the standard)
 *   beacons  maximum number of beacons of each radio; -1: no limit
 *   aql      whether airtime queue limits apply
 */
#include <linux/etherdevice.h>
#include <linux/hrtimer.h>
#include <linux/module.h>
#include <linux/random.h>
#include <net/mac80211.h>

#define MAX_RADIOS 16
#define FREQUENCY_MHZ 5180
#define FCS 4
#define DELIMITER 4
#define MAX_AMPDU_BYTES 65535 /* maximum A-MPDU of HT: 9.4.2.55.3 */
#define WINDOW 64	      /* default window of a block ACK, in MPDUs: 10.25 */
#define MAX_TRIES 11

/* Times of the OFDM PHY (17.4.4), and contention windows of best effort (9.4.2.28). */
#define SLOT_NS 9000
#define SIFS_NS 16000
#define AIFS_NS (SIFS_NS + 3 * SLOT_NS)
#define CW_MIN 15
#define CW_MAX 1023

static int radios;
module_param(radios, int, 0444);
static int mcs[MAX_RADIOS] = {[0 ... MAX_RADIOS - 1] = 7};
module_param_array(mcs, int, NULL, 0444);
static int ampdu = WINDOW;
module_param(ampdu, int, 0444);
static int ppdu_us = 5484; /* aPPDUMaxTime, 19.4.4 */
module_param(ppdu_us, int, 0444);
static int beacons = -1;
module_param(beacons, int, 0444);
static bool aql = true;
module_param(aql, bool, 0444);

struct radio {
	struct ieee80211_hw *hw;
	struct ieee80211_vif *vif;
	int index;
	struct hrtimer beacon;
	int beacons_left;
	struct sk_buff_head direct; /* management frames, which are in no queue of mac80211 */
	struct sk_buff_head again;  /* frames that collided and will be retransmitted */
	struct sk_buff_head air;    /* frames in transmission */
	bool aggregate, answered;
	int rate; /* index of the MCS of the frames in transmission; -1: 6 Mbit/s without MCS */
	struct ieee80211_tx_rate chain[IEEE80211_TX_MAX_RATES]; /* rates and tries that the rate control chose for these frames */
	u64 ppdu_ns;
	bool wants;
	ktime_t since; /* time at which the radio began to contend for the channel */
	int slots, cw, tries;
};

enum phase { IDLE, AIR, ANSWER };

static struct {
	spinlock_t lock;
	struct hrtimer timer;
	enum phase phase;
	ktime_t idle_since, ends;
	bool collided;
	int sending; /* number of radios that transmit */
} medium;

static struct radio *all[MAX_RADIOS];

static const int bits_of_symbol[] = {26, 52, 78, 104, 156, 208, 234, 260}; /* by MCS: Table 19-27 */

/* Duration of an OFDM frame in ns (TXTIME, 17.4.3): preamble and SIGNAL, then symbols of 4 us. */
static u64 legacy_ns(int bytes, int bits)
{
	return 20000 + 4000ULL * DIV_ROUND_UP(16 + 8 * bytes + 6, bits);
}

/* Duration of a PPDU in HT-mixed format with a guard interval of 800 ns, in ns (TXTIME, 19.4.3). */
static u64 ht_ns(int bytes, int index)
{
	return 36000 + 4000ULL * DIV_ROUND_UP(16 + 8 * bytes + 6, bits_of_symbol[index]);
}

/* Bits per symbol of the control frame that answers a data frame. The rate of the control frame is the highest of 6,
 * 12 and 24 Mbit/s that does not exceed the reference rate of the data's MCS (10.6.6.5.2, 10.6.11). */
static int answer_bits(int index)
{
	return index < 1 ? 24 : index < 3 ? 48 : 96;
}

static u64 ack_ns(int index)
{
	return legacy_ns(14, answer_bits(index));
}

static u64 block_ack_ns(int index)
{
	return legacy_ns(32, answer_bits(index));
}

static void draw(struct radio *radio)
{
	radio->slots = get_random_u32_below(radio->cw + 1);
}

static ktime_t start_of(const struct radio *radio)
{
	ktime_t counted = medium.idle_since + AIFS_NS + radio->slots * SLOT_NS;

	return max(counted, radio->since);
}

/* If the channel is idle, set the timer to the time at which the first radio begins to transmit. */
static void await_access(void)
{
	ktime_t first = KTIME_MAX;

	if (medium.phase != IDLE)
		return;
	for (int i = 0; i < radios; i++)
		if (all[i]->wants)
			first = min(first, start_of(all[i]));
	if (first != KTIME_MAX)
		hrtimer_start(&medium.timer, first, HRTIMER_MODE_ABS_SOFT);
}

static void want(struct radio *radio)
{
	spin_lock_bh(&medium.lock);
	if (!radio->wants) {
		radio->wants = true;
		radio->since = ktime_get();
		if (medium.phase != IDLE && !radio->slots) /* a frame that finds the channel busy needs a backoff: 10.23.2.2 a) */
			draw(radio);
		await_access();
	}
	spin_unlock_bh(&medium.lock);
}

static bool is_group(const struct sk_buff *skb)
{
	return is_multicast_ether_addr(((struct ieee80211_hdr *)skb->data)->addr1);
}

static int sequence(const struct sk_buff *skb)
{
	return le16_to_cpu(((struct ieee80211_hdr *)skb->data)->seq_ctrl) >> 4;
}

/* The MCS that a parameter sets for a station; -1 if the rate control chooses. */
static int fixed_rate(const struct radio *radio, const struct ieee80211_sta *sta)
{
	return sta ? mcs[max(radio->index, sta->addr[ETH_ALEN - 1] % MAX_RADIOS)] : -1;
}

/* Whether the rate control probes a rate with this frame. A frame that probes a rate is not aggregated. */
static bool tries_rate(const struct radio *radio, const struct ieee80211_sta *sta, struct sk_buff *skb)
{
	return fixed_rate(radio, sta) < 0 && (IEEE80211_SKB_CB(skb)->flags & IEEE80211_TX_CTL_RATE_CTRL_PROBE);
}

/* Choose the rates with which the frames in transmission are sent, and the number of tries at each rate. */
static void choose(struct radio *radio, struct ieee80211_sta *sta, struct sk_buff *skb)
{
	int fixed = fixed_rate(radio, sta);

	memset(radio->chain, 0, sizeof(radio->chain));
	radio->chain[0] = (struct ieee80211_tx_rate){.count = MAX_TRIES};
	radio->chain[1].idx = -1;
	if (!sta || !sta->deflink.ht_cap.ht_supported || !ieee80211_is_data_qos(((struct ieee80211_hdr *)skb->data)->frame_control))
		return;
	if (fixed < 0)
		ieee80211_get_tx_rates(radio->vif, sta, skb, radio->chain, ARRAY_SIZE(radio->chain));
	else
		radio->chain[0] = (struct ieee80211_tx_rate){.idx = fixed, .count = MAX_TRIES, .flags = IEEE80211_TX_RC_MCS};
}

/* Index of the MCS of the current try; -1 if the try uses 6 Mbit/s without MCS. */
static int rate_now(const struct radio *radio)
{
	const struct ieee80211_tx_rate *rate = radio->chain;

	for (int left = radio->tries; rate < radio->chain + IEEE80211_TX_MAX_RATES - 1 && rate[1].idx >= 0 && left >= rate->count; rate++)
		left -= rate->count;
	return rate->flags & IEEE80211_TX_RC_MCS ? rate->idx : -1;
}

static int subframe(const struct sk_buff *skb)
{
	return DELIMITER + ALIGN(skb->len + FCS, 4);
}

/* Whether another frame fits into the aggregate of a radio, which has `bytes` bytes. */
static bool fits(const struct radio *radio, const struct sk_buff *skb, int bytes)
{
	const struct sk_buff *first = skb_peek(&radio->air);

	if (!first)
		return true;
	return radio->aggregate && skb_queue_len(&radio->air) < ampdu && bytes + subframe(skb) <= MAX_AMPDU_BYTES &&
	       ((sequence(skb) - sequence(first)) & 0xfff) < WINDOW && ht_ns(bytes + subframe(skb), radio->rate) <= 1000 * ppdu_us;
}

static void put_on_air(struct radio *radio, struct ieee80211_sta *sta, struct sk_buff *skb, int *bytes)
{
	if (skb_queue_empty(&radio->air)) {
		if (!radio->tries)
			choose(radio, sta, skb);
		radio->rate = rate_now(radio);
		radio->aggregate = radio->rate >= 0 && ampdu > 1 && !tries_rate(radio, sta, skb) &&
				   (IEEE80211_SKB_CB(skb)->flags & IEEE80211_TX_CTL_AMPDU);
	}
	*bytes += radio->aggregate ? subframe(skb) : skb->len + FCS;
	__skb_queue_tail(&radio->air, skb);
}

/* Data of a queue of mac80211: a frame that did not fit into an aggregate and goes into the next aggregate of the
 * queue. */
struct queue {
	struct sk_buff *held;
};

static struct queue *of(struct ieee80211_txq *txq)
{
	return (struct queue *)txq->drv_priv;
}

static struct sk_buff *next_frame(struct radio *radio, struct ieee80211_txq *txq)
{
	struct sk_buff *held = of(txq)->held;

	of(txq)->held = NULL;
	return held ?: ieee80211_tx_dequeue(radio->hw, txq);
}

/* Move frames from a queue of mac80211 to the frames in transmission, as many as fit. */
static void take(struct radio *radio, struct ieee80211_txq *txq, int *bytes)
{
	struct sk_buff *skb;

	while ((skb = next_frame(radio, txq))) {
		bool joins = (IEEE80211_SKB_CB(skb)->flags & IEEE80211_TX_CTL_AMPDU) && !tries_rate(radio, txq->sta, skb);

		if ((!skb_queue_empty(&radio->air) && !joins) || !fits(radio, skb, *bytes)) {
			of(txq)->held = skb;
			return;
		}
		put_on_air(radio, txq->sta, skb, bytes);
		if (!radio->aggregate)
			return;
	}
}

static struct ieee80211_sta *receiver(struct radio *radio, struct sk_buff *skb)
{
	return ieee80211_find_sta(radio->vif, ((struct ieee80211_hdr *)skb->data)->addr1);
}

/* Fill an aggregate of retransmitted frames with new frames of the same station and traffic identifier. */
static void fill(struct radio *radio, int *bytes)
{
	struct sk_buff *first = skb_peek(&radio->air);
	struct ieee80211_sta *sta = receiver(radio, first);

	if (sta && sta->txq[first->priority & 7])
		take(radio, sta->txq[first->priority & 7], bytes);
}

/* Collect the frames that a radio sends in this access. Returns the bytes of the PSDU; 0 if there is no frame. */
static int build(struct radio *radio)
{
	struct sk_buff *skb;
	int bytes = 0;

	while ((skb = skb_peek(&radio->again)) && fits(radio, skb, bytes)) {
		__skb_unlink(skb, &radio->again);
		put_on_air(radio, receiver(radio, skb), skb, &bytes);
		if (!radio->aggregate)
			return bytes;
	}
	if (skb_queue_empty(&radio->air) && (skb = __skb_dequeue(&radio->direct)))
		put_on_air(radio, NULL, skb, &bytes);
	if (!skb_queue_empty(&radio->air)) {
		if (radio->aggregate)
			fill(radio, &bytes);
		return bytes;
	}
	for (int ac = 0; ac < IEEE80211_NUM_ACS; ac++) {
		struct ieee80211_txq *txq;

		ieee80211_txq_schedule_start(radio->hw, ac);
		while (skb_queue_empty(&radio->air) && (txq = ieee80211_next_txq(radio->hw, ac))) {
			take(radio, txq, &bytes);
			ieee80211_return_txq(radio->hw, txq, of(txq)->held);
		}
		ieee80211_txq_schedule_end(radio->hw, ac);
	}
	return bytes;
}

static bool begin(struct radio *radio)
{
	int bytes;

	radio->aggregate = false;
	bytes = build(radio);
	if (!bytes)
		return false;
	if (skb_queue_len(&radio->air) == 1) { /* a single frame has no delimiter, and is answered by an ACK */
		radio->aggregate = false;
		bytes = skb_peek(&radio->air)->len + FCS;
	}
	radio->answered = !is_group(skb_peek(&radio->air));
	radio->ppdu_ns = radio->rate >= 0 ? ht_ns(bytes, radio->rate) : legacy_ns(bytes, 24);
	return true;
}

static u64 answer_ns(const struct radio *radio)
{
	if (!radio->answered)
		return 0;
	return SIFS_NS + (radio->aggregate ? block_ack_ns(radio->rate) : ack_ns(radio->rate));
}

/* Begin the transmissions of all radios whose backoff ends by `now`. Returns whether any radio transmits. */
static bool access_channel(ktime_t now)
{
	u64 longest = 0;

	medium.sending = 0;
	for (int i = 0; i < radios; i++) {
		struct radio *radio = all[i];

		if (!radio->wants || start_of(radio) > now)
			continue;
		if (!begin(radio)) {
			radio->wants = false;
			continue;
		}
		longest = max(longest, radio->ppdu_ns);
		medium.sending++;
	}
	if (!medium.sending)
		return false;
	for (int i = 0; i < radios; i++) {
		s64 counted = ktime_sub(now, medium.idle_since) - AIFS_NS;

		/* The slot boundary at which another radio begins to transmit also counts as a slot (10.23.2.4). */
		if (skb_queue_empty(&all[i]->air) && counted >= 0)
			all[i]->slots = max_t(s64, 0, all[i]->slots - counted / SLOT_NS - 1);
	}
	medium.collided = medium.sending > 1;
	medium.ends = ktime_add_ns(now, longest);
	medium.phase = AIR;
	return true;
}

static void hand_to(struct radio *radio, const struct radio *sender, const struct sk_buff *sent)
{
	struct sk_buff *skb = skb_copy(sent, GFP_ATOMIC);
	struct ieee80211_rx_status *status;

	if (!skb)
		return;
	status = IEEE80211_SKB_RXCB(skb);
	memset(status, 0, sizeof(*status));
	status->freq = FREQUENCY_MHZ;
	status->band = NL80211_BAND_5GHZ;
	status->signal = -40;
	if (sender->rate >= 0) {
		status->encoding = RX_ENC_HT;
		status->rate_idx = sender->rate;
	}
	status->mactime = ktime_to_us(ktime_get());
	status->flag = RX_FLAG_MACTIME_END;
	ieee80211_rx(radio->hw, skb);
}

/* Charge the sender of a frame at its receiver: mac80211 also charges stations for the airtime of frames that they send. */
static void charge_received(const struct radio *sender)
{
	struct sk_buff *skb = skb_peek(&sender->air);
	struct ieee80211_hdr *header = (struct ieee80211_hdr *)skb->data;

	for (int i = 0; i < radios && sender->rate >= 0 && !is_group(skb); i++) {
		struct ieee80211_vif *vif = all[i]->vif;
		struct ieee80211_sta *sta = vif && ether_addr_equal(header->addr1, vif->addr) ? ieee80211_find_sta(vif, header->addr2) : NULL;

		if (sta)
			ieee80211_sta_register_airtime(sta, skb->priority & 7, 0, sender->ppdu_ns / 1000);
	}
}

static void deliver(struct radio *sender)
{
	struct sk_buff *skb;

	charge_received(sender);
	skb_queue_walk(&sender->air, skb) {
		const u8 *to = ((struct ieee80211_hdr *)skb->data)->addr1;

		for (int i = 0; i < radios; i++) {
			struct radio *radio = all[i];

			if (radio != sender && radio->vif && (is_group(skb) || ether_addr_equal(to, radio->vif->addr)))
				hand_to(radio, sender, skb);
		}
	}
}

static void report(struct radio *radio, struct sk_buff *skb, bool first, bool arrived, int length)
{
	struct ieee80211_tx_info *info = IEEE80211_SKB_CB(skb);

	if (ieee80211_is_beacon(((struct ieee80211_hdr *)skb->data)->frame_control)) {
		dev_kfree_skb_any(skb);
		return;
	}
	ieee80211_tx_info_clear_status(info);
	for (int i = 0, left = radio->tries + 1; i < IEEE80211_TX_MAX_RATES; left -= radio->chain[i++].count) {
		info->status.rates[i] = radio->chain[i];
		if (left <= 0 || radio->chain[i].idx < 0) {
			info->status.rates[i].idx = -1;
			break;
		}
		info->status.rates[i].count = min_t(int, left, radio->chain[i].count);
	}
	if (arrived && radio->answered)
		info->flags |= IEEE80211_TX_STAT_ACK;
	if (radio->aggregate && first) {
		info->flags |= IEEE80211_TX_STAT_AMPDU;
		info->status.ampdu_len = length;
		info->status.ampdu_ack_len = arrived ? length : 0;
	}
	if (!radio->aggregate)
		info->flags &= ~IEEE80211_TX_CTL_AMPDU;
	ieee80211_tx_status_skb(radio->hw, skb);
}

static void register_airtime(struct radio *radio)
{
	struct sk_buff *skb = skb_peek(&radio->air);
	struct ieee80211_sta *sta = is_group(skb) ? NULL : receiver(radio, skb);

	if (sta && radio->rate >= 0)
		ieee80211_sta_register_airtime(sta, skb->priority & 7, radio->ppdu_ns / 1000, 0);
}

/*
 * After a collision, put the frames in transmission in front of the waiting frames. Returns false if the frames are given up,
 * as they need no answer or had MAX_TRIES tries.
 */
static bool keeps(struct radio *radio)
{
	radio->tries++;
	radio->cw = min(2 * radio->cw + 1, CW_MAX);
	if (!radio->answered || radio->tries >= MAX_TRIES)
		return false;
	skb_queue_splice_init(&radio->air, &radio->again);
	return true;
}

static void finish(struct radio *radio)
{
	int length = skb_queue_len(&radio->air);
	bool arrived = !medium.collided, first = true;
	struct sk_buff *skb;

	register_airtime(radio);
	if (arrived || !keeps(radio)) {
		if (!arrived)
			radio->tries--;
		while ((skb = __skb_dequeue(&radio->air))) {
			report(radio, skb, first, arrived, length);
			first = false;
		}
		radio->tries = 0;
		radio->cw = CW_MIN;
	}
	draw(radio);
}

static ktime_t answer_ends(void)
{
	u64 longest = medium.collided ? SIFS_NS + ack_ns(-1) : 0; /* after a collision, radios wait for EIFS: 10.3.2.3.7 */

	for (int i = 0; i < radios && !medium.collided; i++)
		if (!skb_queue_empty(&all[i]->air))
			longest = max(longest, answer_ns(all[i]));
	return ktime_add_ns(medium.ends, longest);
}

static enum hrtimer_restart tick(struct hrtimer *timer)
{
	ktime_t now = ktime_get();

	rcu_read_lock();
	if (medium.phase == AIR) {
		for (int i = 0; i < radios; i++)
			if (!medium.collided && !skb_queue_empty(&all[i]->air))
				deliver(all[i]);
		medium.ends = answer_ends();
		medium.phase = ANSWER;
	} else if (medium.phase == ANSWER) {
		for (int i = 0; i < radios; i++)
			if (!skb_queue_empty(&all[i]->air))
				finish(all[i]);
		medium.idle_since = medium.ends;
		medium.phase = IDLE;
	}
	spin_lock_bh(&medium.lock);
	if (medium.phase == IDLE && !access_channel(now))
		await_access();
	if (medium.phase != IDLE)
		hrtimer_start(&medium.timer, medium.ends, HRTIMER_MODE_ABS_SOFT);
	spin_unlock_bh(&medium.lock);
	rcu_read_unlock();
	return HRTIMER_NORESTART;
}

static void radio_tx(struct ieee80211_hw *hw, struct ieee80211_tx_control *control, struct sk_buff *skb)
{
	struct radio *radio = hw->priv;

	skb_queue_tail(&radio->direct, skb);
	want(radio);
}

static void radio_wake_tx_queue(struct ieee80211_hw *hw, struct ieee80211_txq *txq)
{
	want(hw->priv);
}

static enum hrtimer_restart send_beacon(struct hrtimer *timer)
{
	struct radio *radio = container_of(timer, struct radio, beacon);
	struct sk_buff *skb;

	if (!radio->vif || !radio->beacons_left)
		return HRTIMER_NORESTART;
	radio->beacons_left -= radio->beacons_left > 0;
	skb = ieee80211_beacon_get(radio->hw, radio->vif, 0);
	if (skb) {
		skb_queue_tail(&radio->direct, skb);
		want(radio);
	}
	hrtimer_forward_now(timer, us_to_ktime(102400));
	return HRTIMER_RESTART;
}

static int radio_start(struct ieee80211_hw *hw)
{
	return 0;
}

static void radio_stop(struct ieee80211_hw *hw, bool suspend)
{
}

static int radio_add_interface(struct ieee80211_hw *hw, struct ieee80211_vif *vif)
{
	struct radio *radio = hw->priv;

	radio->vif = vif;
	return 0;
}

static void radio_remove_interface(struct ieee80211_hw *hw, struct ieee80211_vif *vif)
{
	struct radio *radio = hw->priv;

	hrtimer_cancel(&radio->beacon);
	radio->vif = NULL;
}

static int radio_config(struct ieee80211_hw *hw, int index, u32 changed)
{
	return 0;
}

static void radio_configure_filter(struct ieee80211_hw *hw, unsigned int changed, unsigned int *total, u64 multicast)
{
	*total &= FIF_BCN_PRBRESP_PROMISC | FIF_ALLMULTI;
}

static void radio_bss_info_changed(struct ieee80211_hw *hw, struct ieee80211_vif *vif, struct ieee80211_bss_conf *info,
				   u64 changed)
{
	struct radio *radio = hw->priv;

	if (!(changed & BSS_CHANGED_BEACON_ENABLED))
		return;
	if (info->enable_beacon)
		hrtimer_start(&radio->beacon, ns_to_ktime(get_random_u32_below(102400000)), HRTIMER_MODE_REL_SOFT);
	else
		hrtimer_cancel(&radio->beacon);
}

static int radio_sta_remove(struct ieee80211_hw *hw, struct ieee80211_vif *vif, struct ieee80211_sta *sta)
{
	for (int i = 0; i < ARRAY_SIZE(sta->txq); i++)
		if (sta->txq[i] && of(sta->txq[i])->held)
			ieee80211_free_txskb(hw, next_frame(hw->priv, sta->txq[i]));
	return 0;
}

static u64 radio_get_tsf(struct ieee80211_hw *hw, struct ieee80211_vif *vif)
{
	return ktime_to_us(ktime_get());
}

static int radio_ampdu_action(struct ieee80211_hw *hw, struct ieee80211_vif *vif, struct ieee80211_ampdu_params *params)
{
	switch (params->action) {
	case IEEE80211_AMPDU_TX_START:
		return ampdu > 1 ? IEEE80211_AMPDU_TX_START_IMMEDIATE : -EOPNOTSUPP;
	case IEEE80211_AMPDU_TX_STOP_CONT:
	case IEEE80211_AMPDU_TX_STOP_FLUSH:
	case IEEE80211_AMPDU_TX_STOP_FLUSH_CONT:
		ieee80211_stop_tx_ba_cb_irqsafe(vif, params->sta->addr, params->tid);
		return 0;
	case IEEE80211_AMPDU_TX_OPERATIONAL:
	case IEEE80211_AMPDU_RX_START:
	case IEEE80211_AMPDU_RX_STOP:
		return 0;
	}
	return -EOPNOTSUPP;
}

static const struct ieee80211_ops operations = {
	.tx = radio_tx,
	.wake_tx_queue = radio_wake_tx_queue,
	.start = radio_start,
	.stop = radio_stop,
	.add_interface = radio_add_interface,
	.remove_interface = radio_remove_interface,
	.config = radio_config,
	.configure_filter = radio_configure_filter,
	.bss_info_changed = radio_bss_info_changed,
	.sta_remove = radio_sta_remove,
	.get_tsf = radio_get_tsf,
	.ampdu_action = radio_ampdu_action,
	.add_chanctx = ieee80211_emulate_add_chanctx,
	.remove_chanctx = ieee80211_emulate_remove_chanctx,
	.change_chanctx = ieee80211_emulate_change_chanctx,
	.switch_vif_chanctx = ieee80211_emulate_switch_vif_chanctx,
};

static struct ieee80211_channel channel = {
	.band = NL80211_BAND_5GHZ, .center_freq = FREQUENCY_MHZ, .hw_value = 36, .max_power = 20};

static struct ieee80211_rate bitrates[] = {{.bitrate = 60}, {.bitrate = 120}, {.bitrate = 240}};

static struct ieee80211_supported_band band = {
	.band = NL80211_BAND_5GHZ,
	.channels = &channel,
	.n_channels = 1,
	.bitrates = bitrates,
	.n_bitrates = ARRAY_SIZE(bitrates),
	.ht_cap = {
		.ht_supported = true,
		.ampdu_factor = IEEE80211_HT_MAX_AMPDU_64K,
		.ampdu_density = IEEE80211_HT_MPDU_DENSITY_NONE,
		.mcs = {.rx_mask = {0xff}, .tx_params = IEEE80211_HT_MCS_TX_DEFINED},
	},
};

/* Regulatory domain that permits the channel of the radios. Simulated radios disturb no real radio. */
static const struct ieee80211_regdomain anywhere = {
	.n_reg_rules = 1,
	.alpha2 = "99",
	.reg_rules = {REG_RULE(5150 - 10, 5350 + 10, 80, 0, 20, 0)},
};

static int __init make_radio(int index)
{
	struct ieee80211_hw *hw = ieee80211_alloc_hw(sizeof(struct radio), &operations);
	u8 address[ETH_ALEN] = {2, 0, 0, 0, 1, index};
	struct radio *radio;

	if (!hw)
		return -ENOMEM;
	radio = hw->priv;
	*radio = (struct radio){.hw = hw, .index = index, .cw = CW_MIN, .beacons_left = beacons};
	skb_queue_head_init(&radio->direct);
	skb_queue_head_init(&radio->again);
	skb_queue_head_init(&radio->air);
	hrtimer_setup(&radio->beacon, send_beacon, CLOCK_MONOTONIC, HRTIMER_MODE_REL_SOFT);
	draw(radio);
	all[index] = radio;

	SET_IEEE80211_PERM_ADDR(hw, address);
	hw->queues = IEEE80211_NUM_ACS;
	hw->txq_data_size = sizeof(struct queue);
	hw->max_rates = IEEE80211_TX_MAX_RATES;
	hw->max_rate_tries = MAX_TRIES;
	ieee80211_hw_set(hw, SIGNAL_DBM);
	ieee80211_hw_set(hw, AMPDU_AGGREGATION);
	ieee80211_hw_set(hw, REPORTS_TX_ACK_STATUS);
	ieee80211_hw_set(hw, HOST_BROADCAST_PS_BUFFERING);
	hw->wiphy->interface_modes = BIT(NL80211_IFTYPE_STATION) | BIT(NL80211_IFTYPE_ADHOC);
	hw->wiphy->bands[NL80211_BAND_5GHZ] = &band;
	hw->wiphy->regulatory_flags |= REGULATORY_CUSTOM_REG;
	wiphy_apply_custom_regulatory(hw->wiphy, &anywhere);
	wiphy_ext_feature_set(hw->wiphy, NL80211_EXT_FEATURE_AIRTIME_FAIRNESS);
	if (aql)
		wiphy_ext_feature_set(hw->wiphy, NL80211_EXT_FEATURE_AQL);
	return ieee80211_register_hw(hw);
}

static int __init make_radios(void)
{
	radios = clamp(radios, 0, MAX_RADIOS);
	spin_lock_init(&medium.lock);
	hrtimer_setup(&medium.timer, tick, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_SOFT);
	for (int i = 0; i < radios; i++) {
		int error = make_radio(i);

		if (error)
			return error;
	}
	return 0;
}

module_init(make_radios);
MODULE_DESCRIPTION("Radios on one channel, in the time of this kernel");
MODULE_LICENSE("Dual MIT/GPL");
