/* Traces of the kernel's sender: a random path and a random receiver play against one connection. */
#define _GNU_SOURCE
#include "moments.h"
#include "traces.h"

#include <errno.h>
#include <linux/sockios.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#define MAX_EVENTS 8192
#define MAX_ACKS 400
#define LONGEST_US 20000000
#define PHASE_US (PHASE_NS / 1000)
#define SEND_BUFFER 4000000

enum kind { WRITE, ARRIVAL, LATE_ACK, READING, ACK };

struct event {
	int64_t at; /* microseconds since the trace began */
	enum kind kind;
	struct packet packet;
	struct answer answer;
};

static struct event events[MAX_EVENTS];
static int event_count;

static FILE *out;
static struct path path;
static int64_t begin_ns, free_us, last_arrival_us, last_ack_us;
static int sender, acks, open_number, written;
static uint64_t state;

/* SplitMix64. A seed gives the same numbers on every machine. */
static uint64_t drawn(void)
{
	uint64_t z = state += 0x9e3779b97f4a7c15ULL;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
	return z ^ (z >> 31);
}

static int64_t draw(int64_t least, int64_t most)
{
	return least + drawn() % (most - least + 1);
}

static int happens(int64_t per_million)
{
	return draw(0, 999999) < per_million;
}

/* A number from `unit` to 2^doublings * 2 * unit, small ones more often, and no round one. */
static int64_t draw_scale(int64_t unit, int doublings)
{
	return (unit << draw(0, doublings)) + draw(0, unit);
}

static int64_t now_us(void)
{
	return (clock_ns() - begin_ns) / 1000;
}

/* Plan an event. No two events have the same time, so that the order of the trace is the order of the kernel. */
static void plan_event(struct event event)
{
	int n;

	if (event_count == MAX_EVENTS)
		fail("a trace has more than %d events at a time", MAX_EVENTS);
	for (n = 0; n < event_count && events[n].at <= event.at; n++)
		event.at += events[n].at == event.at;
	memmove(events + n + 1, events + n, (event_count++ - n) * sizeof(event));
	events[n] = event;
}

static int is_within(int64_t at, int64_t begin, int64_t length)
{
	return begin <= at && at < begin + length;
}

/* Let a packet of the sender pass the path: a bottleneck with a queue, losses, marks, stalls and reordering. */
static void pass(const struct packet *packet)
{
	struct event event = {.kind = ARRIVAL, .packet = *packet};
	int64_t now = now_us(), queued;

	free_us = free_us > now ? free_us : now;
	if (is_within(free_us, path.stall_us, path.stall_length_us))
		free_us = path.stall_us + path.stall_length_us;
	queued = (free_us - now) / path.spacing_us;
	if (path.queue && queued >= path.queue && !is_within(now, path.stall_us, path.stall_length_us))
		return;
	free_us += packet->end > packet->start ? path.spacing_us : 1;
	if (happens(path.loss) || is_within(now, path.blackout_us, path.blackout_length_us))
		return;
	if (packet->ect && (happens(path.marks) || (path.threshold && queued >= path.threshold)))
		event.packet.mark = 1;
	event.at = free_us + path.rtt_us / 2;
	if (happens(path.reordered))
		event.at += draw(1, path.reordering_us);
	else if (event.at <= last_arrival_us)
		event.at = last_arrival_us + 1;
	if (event.at > last_arrival_us && !path.reordered)
		last_arrival_us = event.at;
	plan_event(event);
}

/* Let an ACK of the receiver travel back to the sender. */
void answer(const struct answer *given)
{
	struct event event = {.kind = ACK, .answer = *given};
	int64_t now = now_us();

	if (happens(path.ack_loss) || (path.blackout_both && is_within(now, path.blackout_us, path.blackout_length_us)))
		return;
	event.at = now + path.rtt_us / 2 + draw(0, path.noise_us);
	if (happens(path.ack_reordered))
		event.at += draw(1, path.reordering_us);
	else if (event.at <= last_ack_us)
		event.at = last_ack_us + 1;
	if (!path.ack_reordered)
		last_ack_us = event.at;
	plan_event(event);
}

void acknowledge_later(int64_t delay_us, int number)
{
	plan_event((struct event){.at = now_us() + delay_us, .kind = LATE_ACK, .packet.start = number});
}

/* Record and pass on all packets that the kernel has sent. */
static int read_packets(void)
{
	struct packet packet;
	int count = 0;

	for (; receive_packet(&packet); count++) {
		if (packet.syn)
			continue;
		fprintf(out, "O %lld %u %u %d\n", (long long)now_us(), packet.start, packet.end, packet.cwr);
		pass(&packet);
	}
	return count;
}

/* Read until the kernel sends nothing more at this moment. */
static void settle(void)
{
	for (int quiet = 0; quiet < 2; quiet = read_packets() ? 0 : quiet + 1)
		rest_until(clock_ns() + MOMENT_NS, tap_socket(), -1);
}

static void read_all(void)
{
	read_packets();
}

static void reach(int64_t us)
{
	wait_until(clock_at(begin_ns, us), tap_socket(), -1, read_all);
}

/* Read all packets of this moment, then write the counters. A packet that the kernel sends meanwhile comes first. */
static void write_counters(void)
{
	struct tcp_info info = {0};
	socklen_t size = sizeof(info);

	do {
		settle();
		if (getsockopt(sender, IPPROTO_TCP, TCP_INFO, &info, &size))
			fail("state of a traced sender: %s", strerror(errno));
	} while (read_packets());
	fprintf(out, "C %u %u %u %u %u %u %u %u\n", info.tcpi_snd_cwnd, info.tcpi_snd_ssthresh, info.tcpi_ca_state,
		info.tcpi_unacked, info.tcpi_sacked, info.tcpi_lost, info.tcpi_retrans, info.tcpi_reordering);
}

static void inject(const struct answer *given)
{
	fprintf(out, "I %lld %u %d %u %u %d", (long long)now_us(), given->ack, given->echo, given->window << 8,
		given->marks, given->ece);
	for (int i = 0; i < given->block_count; i++)
		fprintf(out, " %u:%u", given->blocks[i].start, given->blocks[i].end);
	fputs("\n", out);
	send_answer(given);
	write_counters();
	acks++;
}

static void write_bytes(int size)
{
	static char bytes[SEND_BUFFER];

	fprintf(out, "W %lld %d\n", (long long)now_us(), size);
	if (send(sender, bytes, size, MSG_NOSIGNAL) != size)
		fail("a traced sender accepts less than %d bytes", size);
	written += size;
	settle();
}

static void act(const struct event *event)
{
	if (event->kind == WRITE)
		write_bytes(event->packet.end);
	else if (event->kind == ARRIVAL)
		take_packet(&event->packet);
	else if (event->kind == LATE_ACK)
		acknowledge_if_due(event->packet.start);
	else if (event->kind == ACK)
		inject(&event->answer);
	else if (!read_data(written) || event_count)
		plan_event((struct event){.at = now_us() + draw_scale(path.reading_us, 6), .kind = READING});
}

/* Draw the path, the receiver and the writes. Features are words of the script. */
static void draw_path(char **features)
{
	int has_small = 0, has_idle = 0;

	path = (struct path){.rtt_us = draw_scale(5000, 3), .spacing_us = draw_scale(23, 5)};
	path.mss = (int[]){1000, 1200, 1448}[draw(0, 2)];
	path.timestamps = draw(0, 3) > 0;
	path.ack_every = draw(1, 2);
	path.queue = draw(0, 1) ? draw_scale(8, 3) : 0;
	path.noise_us = draw_scale(40, 4);
	path.reordering_us = draw_scale(path.rtt_us / 16, 4);
	for (; *features; features++) {
		if (!strcmp(*features, "loss"))
			path.loss = draw_scale(4000, 3);
		else if (!strcmp(*features, "reordering"))
			path.reordered = draw_scale(10000, 5);
		else if (!strcmp(*features, "ack-loss"))
			path.ack_loss = draw_scale(20000, 3);
		else if (!strcmp(*features, "ack-reordering"))
			path.ack_reordered = draw_scale(20000, 4);
		else if (!strcmp(*features, "blackout"))
			path.blackout_us = draw_scale(path.rtt_us, 2), path.blackout_length_us = draw_scale(150000, 3),
			path.blackout_both = draw(0, 1);
		else if (!strcmp(*features, "stall"))
			path.stall_us = draw_scale(path.rtt_us, 2), path.stall_length_us = draw_scale(60000, 3);
		else if (!strcmp(*features, "idle"))
			has_idle = 1;
		else if (!strcmp(*features, "small"))
			has_small = 1;
		else if (!strcmp(*features, "window"))
			path.buffer = draw_scale(8 * path.mss, 3), path.reading_us = draw_scale(3000, 4);
		else if (!strcmp(*features, "gro"))
			path.ack_every = draw(3, 24);
		else if (!strcmp(*features, "marks"))
			path.marks = draw_scale(5000, 4), path.threshold = draw_scale(4, 3);
		else if (!strcmp(*features, "ecn"))
			path.ecn = CLASSIC;
		else if (!strcmp(*features, "dctcp"))
			path.ecn = EVERY_MARK;
		else if (!strcmp(*features, "accecn"))
			path.ecn = ACCURATE;
		else
			fail("unknown feature of a trace: %s", *features);
	}
	path.parts = has_small ? draw(15, 60) : has_idle ? draw(3, 6) : draw(1, 2);
	path.part = has_small ? 0 : draw_scale(32, 3) * path.mss / path.parts;
	path.pause_us = has_idle ? draw_scale(120000, 3) : draw_scale(20000, 4);
}

static void plan_writes(void)
{
	int64_t at = now_us() + 1;

	for (int n = 0; n < path.parts; n++) {
		int size = path.part ? path.part : draw_scale(60, 5);

		plan_event((struct event){.at = at, .kind = WRITE, .packet.end = size});
		at += path.part ? draw(1, 2 * path.pause_us) : draw(1, path.pause_us / 4);
	}
	if (path.buffer)
		plan_event((struct event){.at = now_us() + path.reading_us, .kind = READING});
}

static int open_connection(int listener)
{
	int buffer = SEND_BUFFER, s;
	int64_t syn_us, open_us;

	reach(10000);
	syn_us = now_us();
	send_syn();
	settle();
	reach(syn_us + path.rtt_us);
	open_us = now_us();
	send_handshake_ack();
	settle();
	s = accept4(listener, 0, 0, SOCK_NONBLOCK | SOCK_CLOEXEC);
	if (s < 0 || setsockopt(s, SOL_SOCKET, SO_SNDBUFFORCE, &buffer, sizeof(buffer)))
		fail("the connection of a trace does not open: %s", strerror(errno));
	fprintf(out, " %lld %lld %lld %d %d %d %d\n", (long long)(begin_ns / 1000 % PHASE_US), (long long)syn_us,
		(long long)open_us, path.mss, path.timestamps, path.ecn, first_window() << 8);
	return s;
}

static void play(void)
{
	int left = 1;

	for (;;) {
		struct event event;
		int64_t next = clock_ns() + SECOND;

		if (read_packets())
			continue;
		if (acks >= MAX_ACKS || now_us() > LONGEST_US || (!event_count && !ioctl(sender, SIOCOUTQ, &left) && !left))
			return;
		if (event_count)
			next = clock_at(begin_ns, events[0].at);
		if (next > clock_ns()) {
			rest_until(next, tap_socket(), -1);
			continue;
		}
		event = events[0];
		memmove(events, events + 1, --event_count * sizeof(*events));
		act(&event);
	}
}

/* trace NAME SEED CCA [FEATURE...]: record a trace of a connection in a namespace of its own.
 *
 * The trace begins at a phase of the kernel's timers that the seed chooses, so that a seed gives the same trace at any
 * place of a script. */
void record_trace(char **words)
{
	char namespace[16];
	int listener;
	struct linger now = {1, 0};

	out = out ? out : result("/traces");
	snprintf(namespace, sizeof(namespace), "t%d", open_number++);
	state = whole(words[1]) * 0x2545f4914f6cdd1dULL;
	event_count = acks = written = 0;
	free_us = last_arrival_us = last_ack_us = 0;
	draw_path(words + 3);
	listener = prepare_trace(namespace, words[2], &path);
	begin_ns = next_phase() + draw(0, PHASE_US - 1) * 1000;
	fprintf(out, "H %s %s %s", words[0], words[1], words[2]);
	sender = open_connection(listener);
	plan_writes();
	play();
	setsockopt(sender, SOL_SOCKET, SO_LINGER, &now, sizeof(now));
	close(sender);
	close(listener);
	end_trace();
	fflush(out);
}
