/* A C interface for congestion control algorithms, in two directions. A stack in C or C++ can use the algorithms
 * of fullpipe. fullpipe can run the algorithms of a stack in its simulator, as "library:PATH:NAME".
 *
 * In both cases the library with the algorithms exports one symbol, fullpipe_congestion, which returns a table of
 * functions. Each function is a method of the trait CongestionControl of the crate fullpipe-congestion. The trait
 * documents the meaning and the order of the calls. Windows and counts are in packets of one MSS, times in nanoseconds
 * since the start, rates in bits per second.
 *
 * A handle belongs to one thread at a time. No function throws or aborts: a function that fails returns FULLPIPE_FAILED,
 * after which the handle may only be destroyed.
 *
 * In a library that is written for fullpipe, these functions may be null: established, lost, recovery_exit, sent,
 * next_wakeup, wakeup, observe, restart and undo. Without restart, fullpipe calls set_cwnd instead. Without undo,
 * fullpipe calls set_cwnd to raise the window to prior_cwnd if the window is smaller than prior_cwnd. */
#ifndef FULLPIPE_CONGESTION_H
#define FULLPIPE_CONGESTION_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define FULLPIPE_ABI 2u
#define FULLPIPE_NONE UINT64_MAX /* a missing time, duration or rate */

enum fullpipe_status { FULLPIPE_OK = 0, FULLPIPE_FAILED = 1 };
enum fullpipe_state {
    FULLPIPE_OPEN = 0,
    FULLPIPE_DISORDER = 1,
    FULLPIPE_CWR = 2,
    FULLPIPE_RECOVERY = 3,
    FULLPIPE_LOSS = 4
};
enum fullpipe_episode {
    FULLPIPE_EPISODE_LOSS = 0,
    FULLPIPE_EPISODE_TAIL_LOSS = 1,
    FULLPIPE_EPISODE_ECN = 2,
    FULLPIPE_EPISODE_DELAY = 3,
    FULLPIPE_EPISODE_TIMEOUT = 4,
    FULLPIPE_EPISODE_TIMEOUT_AGAIN = 5 /* a further timeout of the same episode */
};
enum fullpipe_ecn { FULLPIPE_ECN_CLASSIC = 0, FULLPIPE_ECN_EVERY_MARK = 1, FULLPIPE_ECN_L4S = 2 };

/* Requirements of the algorithm for the stack; constant once the connection is established. */
typedef struct {
    uint32_t owns_recovery; /* if 0, the stack reduces the window to ssthresh in recovery */
    uint32_t ecn;           /* enum fullpipe_ecn */
    uint32_t needs_pacing;
    uint32_t watches_sends; /* sent() is called for every burst, not only after idle times */
    uint32_t watches_losses;
    uint32_t grows_unused;          /* the window grows even while the flow does not fill it */
    uint32_t watches_pauses;        /* the stack also checks for pauses of the application before every ACK and timer */
    uint32_t slow_start;            /* the algorithm has slow start below ssthresh, although it owns recovery */
    uint32_t buffers_three_windows; /* the send buffer holds three windows instead of two */
} fullpipe_traits;

/* State of the path and of the sender at the time of a call. */
typedef struct {
    uint64_t now;
    uint64_t srtt;    /* FULLPIPE_NONE before the first RTT sample */
    uint64_t min_rtt; /* FULLPIPE_NONE before the first RTT sample */
    uint64_t next;
    uint64_t delivered;
    uint64_t delivered_time;
    uint64_t lost;
    uint64_t marked;
    uint64_t next_departure;
    uint64_t pacing_bps;
    uint32_t mss;
    uint32_t state; /* enum fullpipe_state */
    uint32_t in_flight;
    uint32_t packets_out;
    uint32_t max_burst_bytes;
    uint32_t ecn;
    uint32_t cwnd_limited;
    uint32_t app_limited;
    uint32_t paced;
} fullpipe_path;

/* One processed acknowledgement. The delivery-rate sample (rate_*) is valid if has_rate is not 0. */
typedef struct {
    uint64_t rtt;            /* FULLPIPE_NONE if the ACK gives no RTT sample */
    uint64_t one_way_delay;  /* FULLPIPE_NONE if the stack does not measure the delay */
    uint64_t una;
    uint64_t rate_interval;  /* FULLPIPE_NONE if the sample gives no bandwidth */
    uint64_t rate_prior_delivered;
    uint32_t acked;
    uint32_t cumulative;
    uint32_t lost;
    uint32_t marked;
    uint32_t delayed;
    uint32_t prior_state;
    uint32_t prior_in_flight;
    uint32_t may_grow;
    uint32_t advanced;
    uint32_t acks_probe;
    uint32_t has_rate;
    uint32_t rate_delivered;
    uint32_t rate_app_limited;
    uint32_t rate_lost;
    uint32_t rate_marked;
    uint32_t rate_tx_in_flight;
} fullpipe_ack;

/* A packet that was just marked lost. */
typedef struct {
    uint64_t number;
    uint32_t tx_in_flight;
    uint32_t lost;
    uint32_t app_limited;
} fullpipe_lost_packet;

/* Outputs of the algorithm. */
typedef struct {
    uint64_t pacing_bps; /* FULLPIPE_NONE leaves the pacing rate to the stack */
    uint32_t cwnd;       /* packets, at least 1; fullpipe reduces larger windows to 10,000,000 */
    uint32_t ssthresh;   /* UINT32_MAX if it was never set */
    uint32_t min_burst;
    uint32_t max_burst;
    uint32_t hide_samples;
    uint32_t reduce; /* not 0: requests an episode FULLPIPE_EPISODE_DELAY */
} fullpipe_control;

typedef struct fullpipe_algorithm fullpipe_algorithm;

/* Receives one internal variable: a state if `state` is not null, otherwise a number with its unit. Texts are not
 * terminated by a zero. */
typedef void (*fullpipe_see)(void* context, const char* name, size_t name_length, double value, const char* unit,
                             size_t unit_length, const char* state, size_t state_length);

typedef struct {
    uint32_t abi; /* FULLPIPE_ABI; if different, the other fields must not be read */
    /* Builds the algorithm of this name; params is a JSON object. All random numbers of the algorithm must derive from
     * the seed. Returns null if the algorithm cannot be built, and writes the reason to error, terminated by a zero and
     * truncated to error_size. */
    fullpipe_algorithm* (*create)(const char* name, const char* params, uint64_t seed, char* error, size_t error_size);
    void (*destroy)(fullpipe_algorithm*);
    int (*traits)(const fullpipe_algorithm*, fullpipe_traits*);
    int (*control)(const fullpipe_algorithm*, fullpipe_control*);
    int (*established)(fullpipe_algorithm*, const fullpipe_path*);
    int (*ack)(fullpipe_algorithm*, const fullpipe_ack*, const fullpipe_path*);
    int (*lost)(fullpipe_algorithm*, const fullpipe_lost_packet*, const fullpipe_path*);
    int (*congestion)(fullpipe_algorithm*, uint32_t episode, const fullpipe_path*);
    int (*recovery_exit)(fullpipe_algorithm*, const fullpipe_path*);
    int (*sent)(fullpipe_algorithm*, uint32_t packets, uint32_t from_idle, uint64_t gap, const fullpipe_path*);
    int (*set_cwnd)(fullpipe_algorithm*, uint32_t packets);
    uint64_t (*next_wakeup)(const fullpipe_algorithm*); /* FULLPIPE_NONE if no wake-up is due */
    int (*wakeup)(fullpipe_algorithm*, const fullpipe_path*);
    int (*observe)(const fullpipe_algorithm*, fullpipe_see, void* context);
    /* Undoes the last episode, which was spurious. prior_ssthresh is 0 if an ECN mark since the start of the episode
     * forbids restoring the slow-start threshold. */
    int (*undo)(fullpipe_algorithm*, uint32_t prior_cwnd, uint32_t prior_ssthresh, const fullpipe_path*);
    int (*restart)(fullpipe_algorithm*, uint32_t packets); /* reduces a window that was unused for an RTO or longer */
} fullpipe_congestion_api;

const fullpipe_congestion_api* fullpipe_congestion(void);

#ifdef __cplusplus
}
#endif
#endif
