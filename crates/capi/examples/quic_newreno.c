/* The congestion controller of a QUIC stack, run in fullpipe's simulator.
 *
 *   python -m fullpipe.algorithms.header > fullpipe_congestion.h
 *   cc -O2 -Wall -shared -fPIC -o libquic.so quic_newreno.c
 *   fullpipe run my.toml --set 'flows.0.cca="library:libquic.so:newreno"' --allow-code
 *
 * The first half is the stack's own code: NewReno of RFC 9002 section 7, in bytes, independent of fullpipe. The second
 * half is the adapter that you write: a table of functions that pass the simulator's events to the stack's code. */
#include "fullpipe_congestion.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Code of the stack. ---- */

struct newreno {
    uint64_t window;      /* bytes */
    uint64_t threshold;   /* bytes */
    uint64_t acked;       /* bytes since the window last grew in congestion avoidance */
    uint64_t datagram;    /* bytes of the largest datagram */
    double reduction;     /* kLossReductionFactor, RFC 9002 appendix B.1 */
    int in_recovery;
};

static void newreno_start(struct newreno* cc, uint64_t datagram)
{
    uint64_t initial = 10 * datagram; /* RFC 9002 section 7.2 */
    uint64_t bound = 2 * datagram > 14720 ? 2 * datagram : 14720;
    cc->datagram = datagram;
    cc->window = initial < bound ? initial : bound;
    cc->threshold = UINT64_MAX;
}

/* RFC 9002 sections 7.3.1 and 7.3.3. A window that the flow does not fill does not grow (section 7.8). */
static void newreno_acked(struct newreno* cc, uint64_t bytes, int is_limited)
{
    if (cc->in_recovery || !is_limited)
        return;
    if (cc->window < cc->threshold) {
        cc->window += bytes;
        return;
    }
    cc->acked += bytes;
    while (cc->acked >= cc->window) {
        cc->acked -= cc->window;
        cc->window += cc->datagram;
    }
}

/* RFC 9002 section 7.3.2. The caller excludes losses and marks of packets that were sent before recovery began. */
static void newreno_congested(struct newreno* cc)
{
    uint64_t least = 2 * cc->datagram; /* kMinimumWindow */
    uint64_t reduced = (uint64_t)(cc->reduction * (double)cc->window);
    cc->threshold = reduced > least ? reduced : least;
    cc->window = cc->threshold;
    cc->acked = 0;
    cc->in_recovery = 1;
}

/* RFC 9002 section 7.6: persistent congestion. */
static void newreno_persistent(struct newreno* cc)
{
    newreno_congested(cc);
    cc->window = 2 * cc->datagram;
    cc->in_recovery = 0;
}

/* ---- The adapter: functions of the table, and the table. ---- */

struct fullpipe_algorithm {
    struct newreno cc;
};

static struct newreno* of(fullpipe_algorithm* algorithm)
{
    return &algorithm->cc;
}

/* Parameters are a JSON object. This algorithm has one parameter, a number, so it needs no JSON parser. */
static int read_reduction(const char* params, double* reduction)
{
    char end = 0;
    if (strcmp(params, "{}") == 0)
        return 1;
    return sscanf(params, " { \"reduction\" : %lf %c", reduction, &end) == 2 && end == '}' && *reduction > 0 &&
           *reduction < 1;
}

static fullpipe_algorithm* create(const char* name, const char* params, uint64_t seed, char* error, size_t size)
{
    double reduction = 0.5;
    (void)seed; /* NewReno uses no random numbers */
    if (strcmp(name, "newreno") != 0) {
        snprintf(error, size, "unknown algorithm %s; this library has newreno", name);
        return NULL;
    }
    if (!read_reduction(params, &reduction)) {
        snprintf(error, size, "expected { reduction = a number between 0 and 1 }, got %s", params);
        return NULL;
    }
    fullpipe_algorithm* made = calloc(1, sizeof *made);
    if (made) {
        made->cc.reduction = reduction;
        newreno_start(&made->cc, 1448); /* until `established` passes the MSS */
    }
    return made;
}

static void destroy(fullpipe_algorithm* algorithm)
{
    free(algorithm);
}

/* The algorithm owns recovery, because QUIC has no proportional rate reduction. The flow is paced (RFC 9002 section
 * 7.7). */
static int traits(const fullpipe_algorithm* algorithm, fullpipe_traits* wanted)
{
    (void)algorithm;
    *wanted = (fullpipe_traits){ .owns_recovery = 1, .ecn = FULLPIPE_ECN_CLASSIC, .needs_pacing = 1, .slow_start = 1 };
    return FULLPIPE_OK;
}

static uint32_t packets(uint64_t bytes, uint64_t datagram)
{
    return bytes == UINT64_MAX ? UINT32_MAX : (uint32_t)(bytes / datagram);
}

static int control(const fullpipe_algorithm* algorithm, fullpipe_control* allowed)
{
    const struct newreno* cc = &algorithm->cc;
    *allowed = (fullpipe_control){
        .pacing_bps = FULLPIPE_NONE, /* the transport paces by window and RTT */
        .cwnd = packets(cc->window, cc->datagram),
        .ssthresh = packets(cc->threshold, cc->datagram),
        .min_burst = 1,
        .max_burst = 10, /* RFC 9002 section 7.7: bursts are at most the initial window */
    };
    return FULLPIPE_OK;
}

static int established(fullpipe_algorithm* algorithm, const fullpipe_path* path)
{
    newreno_start(of(algorithm), path->mss);
    return FULLPIPE_OK;
}

static int ack(fullpipe_algorithm* algorithm, const fullpipe_ack* ack, const fullpipe_path* path)
{
    newreno_acked(of(algorithm), (uint64_t)ack->acked * path->mss, path->cwnd_limited != 0);
    return FULLPIPE_OK;
}

static int congestion(fullpipe_algorithm* algorithm, uint32_t episode, const fullpipe_path* path)
{
    (void)path;
    if (episode == FULLPIPE_EPISODE_TIMEOUT)
        newreno_persistent(of(algorithm));
    else if (episode != FULLPIPE_EPISODE_TIMEOUT_AGAIN)
        newreno_congested(of(algorithm));
    return FULLPIPE_OK;
}

static int recovery_exit(fullpipe_algorithm* algorithm, const fullpipe_path* path)
{
    (void)path;
    of(algorithm)->in_recovery = 0;
    return FULLPIPE_OK;
}

static int set_cwnd(fullpipe_algorithm* algorithm, uint32_t window)
{
    of(algorithm)->window = (uint64_t)window * of(algorithm)->datagram;
    return FULLPIPE_OK;
}

static int undo(fullpipe_algorithm* algorithm, uint32_t cwnd, uint32_t ssthresh, const fullpipe_path* path)
{
    struct newreno* cc = of(algorithm);
    (void)path;
    if ((uint64_t)cwnd * cc->datagram > cc->window)
        cc->window = (uint64_t)cwnd * cc->datagram;
    if (ssthresh)
        cc->threshold = ssthresh == UINT32_MAX ? UINT64_MAX : (uint64_t)ssthresh * cc->datagram;
    cc->in_recovery = 0;
    return FULLPIPE_OK;
}

static int observe(const fullpipe_algorithm* algorithm, fullpipe_see see, void* context)
{
    const char* state = algorithm->cc.in_recovery ? "Recovery" : "Open";
    see(context, "state", 5, 0, NULL, 0, state, strlen(state));
    see(context, "window", 6, (double)algorithm->cc.window, "bytes", 5, NULL, 0);
    return FULLPIPE_OK;
}

const fullpipe_congestion_api* fullpipe_congestion(void)
{
    static const fullpipe_congestion_api api = {
        .abi = FULLPIPE_ABI,
        .create = create,
        .destroy = destroy,
        .traits = traits,
        .control = control,
        .established = established,
        .ack = ack,
        .congestion = congestion,
        .recovery_exit = recovery_exit,
        .set_cwnd = set_cwnd,
        .observe = observe,
        .undo = undo,
    };
    return &api;
}
