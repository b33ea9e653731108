/* Senders and receivers: a flow has two sockets in two namespaces. This one process is the application at both ends. */
#define _GNU_SOURCE
#include "guest.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/errqueue.h>
#include <linux/net_tstamp.h>
#include <linux/sockios.h>
#include <linux/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#define MAX_FLOWS 2000
#define MAX_PACES 64
#define PORT 5001
#define CHUNK (1 << 18)
#define UNSENT 65536
#define UNLIMITED INT64_MAX

struct pace {
	int64_t at, bits_per_second;
};

struct flow {
	int id;
	char *name, *from, *to, *cca, *answers;
	struct in_addr target;
	int64_t start, stop, size, sent, finished, segment, window;
	int always_paced, service;
	int sender, listener, receiver;
	/* `ready`: bytes that the application has produced and not yet written. `next`: time of its next packet. */
	int64_t ready, next;
	struct pace paces[MAX_PACES];
	int pace_count, pace;
	int wants_room;
};

int poll_set;
static struct flow flows[MAX_FLOWS];
static int flow_total;
static char bytes[CHUNK];

int flow_count(void) { return flow_total; }
int64_t flow_start(int number) { return flows[number].start; }
int64_t flow_stop(int number) { return flows[number].stop; }

static void listen_to(int socket, enum end end, int number, unsigned events, int operation)
{
	struct epoll_event wanted = {.events = events, .data.u64 = (uint64_t)end << 32 | number};

	if (epoll_ctl(poll_set, operation, socket, &wanted))
		fail("epoll: %s", strerror(errno));
}

static void choose_cca(int socket, const char *name)
{
	if (setsockopt(socket, IPPROTO_TCP, TCP_CONGESTION, name, strlen(name)))
		fail("congestion control %s: %s", name, strerror(errno));
}

static void mark_service(struct flow *flow, int socket)
{
	if (flow->service && setsockopt(socket, IPPROTO_IP, IP_TOS, &flow->service, sizeof(flow->service)))
		fail("service of %s: %s", flow->name, strerror(errno));
}

/* The limit of the receive window is set repeatedly, because the kernel changes it when it adapts to the memory that
 * packets take. */
static void limit_window(struct flow *flow, int socket)
{
	int window = flow->window;

	if (window && setsockopt(socket, IPPROTO_TCP, TCP_WINDOW_CLAMP, &window, sizeof(window)))
		fail("window of %s: %s", flow->name, strerror(errno));
}

static void open_receiver(struct flow *flow, int number)
{
	struct sockaddr_in here = {.sin_family = AF_INET, .sin_port = htons(PORT), .sin_addr = flow->target};

	enter(flow->to);
	flow->listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
	mark_service(flow, flow->listener);
	if (*flow->answers)
		choose_cca(flow->listener, flow->answers);
	limit_window(flow, flow->listener);
	if (bind(flow->listener, (void *)&here, sizeof(here)) || listen(flow->listener, 1))
		fail("receiver of %s: %s", flow->name, strerror(errno));
	listen_to(flow->listener, LISTENER, number, EPOLLIN, EPOLL_CTL_ADD);
}

/* Limit the unsent data in the send buffer. The kernel sends this data even after the application has stopped or
 * slowed down. */
static void keep_little_unsent(struct flow *flow)
{
	int low = UNSENT;

	setsockopt(flow->sender, IPPROTO_TCP, TCP_NOTSENT_LOWAT, &low, sizeof(low));
}

static void open_sender(struct flow *flow)
{
	int stamps = SOF_TIMESTAMPING_SOFTWARE | SOF_TIMESTAMPING_OPT_TSONLY;
	uint64_t fast = ~0ULL - 1;

	enter(flow->from);
	flow->sender = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
	mark_service(flow, flow->sender);
	choose_cca(flow->sender, flow->cca);
	/* The kernel reports when the last byte has been acknowledged. */
	if (flow->size != UNLIMITED && setsockopt(flow->sender, SOL_SOCKET, SO_TIMESTAMPING, &stamps, sizeof(stamps)))
		fail("timestamps of %s: %s", flow->name, strerror(errno));
	if (flow->stop != NEVER)
		keep_little_unsent(flow);
	if (flow->always_paced)
		setsockopt(flow->sender, SOL_SOCKET, SO_MAX_PACING_RATE, &fast, sizeof(fast));
}

/* flow ID FROM TO ADDRESS CCA ANSWERING-CCA|- START STOP|-1 SIZE|-1 SEGMENT WINDOW ALWAYS-PACED TOS */
void make_flow(char **words, int count)
{
	struct flow *flow = &flows[flow_total];

	if (flow_total == MAX_FLOWS || count < 13)
		fail("flow %s: more than %d flows, or too few words", words[0], MAX_FLOWS);
	flow->id = whole(words[0]);
	flow->name = strdup(words[0]);
	flow->from = strdup(words[1]);
	flow->to = strdup(words[2]);
	inet_pton(AF_INET, words[3], &flow->target);
	flow->cca = strdup(words[4]);
	flow->answers = strdup(strcmp(words[5], "-") ? words[5] : "");
	flow->start = whole(words[6]);
	flow->stop = whole(words[7]) < 0 ? NEVER : whole(words[7]);
	flow->size = whole(words[8]) < 0 ? UNLIMITED : whole(words[8]);
	flow->segment = whole(words[9]);
	flow->window = whole(words[10]);
	flow->always_paced = whole(words[11]);
	flow->service = whole(words[12]);
	flow->finished = -1;
	flow->receiver = -1;
	flow->ready = UNLIMITED;
	flow->next = NEVER;
	open_receiver(flow, flow_total);
	open_sender(flow);
	flow_total++;
}

/* pace AT BITS-PER-SECOND|-1: a pace of the preceding flow, in the order of time */
void make_pace(char **words)
{
	struct flow *flow = &flows[flow_total - 1];

	if (flow->pace_count == MAX_PACES)
		fail("flow %s: more than %d paces", flow->name, MAX_PACES);
	keep_little_unsent(flow);
	flow->paces[flow->pace_count++] = (struct pace){whole(words[0]), whole(words[1])};
}

static void want_room(struct flow *flow, int wants)
{
	if (flow->wants_room != wants)
		listen_to(flow->sender, SENDER, flow - flows, wants ? EPOLLOUT : 0, EPOLL_CTL_MOD);
	flow->wants_room = wants;
}

static ssize_t hand_over(struct flow *flow, size_t size)
{
	char control[CMSG_SPACE(sizeof(uint32_t))] = {0};
	struct iovec data = {bytes, size};
	struct msghdr message = {.msg_iov = &data, .msg_iovlen = 1};
	struct cmsghdr *header;

	if (flow->size == UNLIMITED || flow->size - flow->sent > CHUNK)
		return send(flow->sender, bytes, size, MSG_NOSIGNAL);
	message.msg_control = control;
	message.msg_controllen = sizeof(control);
	header = CMSG_FIRSTHDR(&message);
	header->cmsg_level = SOL_SOCKET;
	header->cmsg_type = SO_TIMESTAMPING;
	header->cmsg_len = CMSG_LEN(sizeof(uint32_t));
	*(uint32_t *)CMSG_DATA(header) = SOF_TIMESTAMPING_TX_ACK;
	return sendmsg(flow->sender, &message, MSG_NOSIGNAL);
}

static void write_on(struct flow *flow)
{
	for (;;) {
		int64_t size = flow->size - flow->sent;

		if (size > flow->ready)
			size = flow->ready;
		if (size > CHUNK)
			size = CHUNK;
		if (size <= 0)
			return want_room(flow, 0);
		size = hand_over(flow, size);
		if (size < 0)
			return want_room(flow, 1);
		flow->sent += size;
		if (flow->ready != UNLIMITED)
			flow->ready -= size;
	}
}

void start_flow(int number)
{
	struct flow *flow = &flows[number];
	struct sockaddr_in there = {.sin_family = AF_INET, .sin_port = htons(PORT), .sin_addr = flow->target};

	if (connect(flow->sender, (void *)&there, sizeof(there)) && errno != EINPROGRESS)
		fail("flow %s: %s", flow->name, strerror(errno));
	flow->wants_room = 1;
	listen_to(flow->sender, SENDER, number, EPOLLOUT, EPOLL_CTL_ADD);
	if (flow->pace_count)
		flow->next = flow->paces[0].at > flow->start ? flow->paces[0].at : flow->start;
}

void stop_flow(int number)
{
	flows[number].size = flows[number].sent;
	flows[number].next = NEVER;
	want_room(&flows[number], 0);
}

int64_t next_tick(void)
{
	int64_t first = NEVER;

	for (int i = 0; i < flow_total; i++)
		if (flows[i].next < first)
			first = flows[i].next;
	return first;
}

/* Let each application produce the data that is due by `now`, packet by packet or without limit. Also apply the
 * changes of paces that are due. */
void tick_flows(int64_t now)
{
	for (int i = 0; i < flow_total; i++) {
		struct flow *flow = &flows[i];

		while (flow->next <= now) {
			int64_t rate, change;

			if (flow->pace < flow->pace_count && flow->paces[flow->pace].at <= flow->next)
				flow->pace++;
			else if (flow->ready != UNLIMITED)
				flow->ready += flow->segment;
			rate = flow->paces[flow->pace - 1].bits_per_second;
			change = flow->pace < flow->pace_count ? flow->paces[flow->pace].at : NEVER;
			if (change < flow->next)
				change = flow->next;
			if (rate < 0)
				flow->ready = UNLIMITED;
			else if (flow->ready == UNLIMITED)
				flow->ready = 0;
			if (rate > 0) {
				int64_t then = flow->next + flow->segment * 8 * SECOND / rate;

				flow->next = then < change ? then : change;
			} else {
				flow->next = change;
			}
		}
		if (flow->sender >= 0 && flow->start <= now && flow->pace_count)
			write_on(flow);
	}
}

static void note_acknowledged(struct flow *flow)
{
	char control[512], nothing[64];
	struct iovec data = {nothing, sizeof(nothing)};
	int left = -1;

	for (;;) {
		struct msghdr message = {.msg_iov = &data, .msg_iovlen = 1};

		message.msg_control = control;
		message.msg_controllen = sizeof(control);
		if (recvmsg(flow->sender, &message, MSG_ERRQUEUE | MSG_DONTWAIT) < 0)
			break;
	}
	ioctl(flow->sender, SIOCOUTQ, &left);
	if (flow->sent == flow->size && !left && flow->finished < 0)
		flow->finished = run_ns();
}

void on_event(uint64_t what, unsigned events)
{
	enum end end = what >> 32;
	struct flow *flow = &flows[(uint32_t)what];

	if (end == LISTENER) {
		flow->receiver = accept4(flow->listener, 0, 0, SOCK_NONBLOCK);
		if (flow->receiver >= 0)
			listen_to(flow->receiver, RECEIVER, flow - flows, EPOLLIN, EPOLL_CTL_ADD);
	} else if (end == RECEIVER) {
		limit_window(flow, flow->receiver);
		/* MSG_TRUNC discards the data in the kernel. The call is repeated while there is more data. */
		while (recv(flow->receiver, bytes, sizeof(bytes), MSG_TRUNC) == sizeof(bytes))
			;
	} else {
		int error = 0;
		socklen_t size = sizeof(error);

		if (events & EPOLLERR) {
			note_acknowledged(flow);
			getsockopt(flow->sender, SOL_SOCKET, SO_ERROR, &error, &size);
			if (error)
				fail("flow %s: %s", flow->name, strerror(error));
		}
		if (events & EPOLLOUT)
			write_on(flow);
	}
}

/* Write one line: flow, time, and the state of both ends of the connection. */
void sample_flow(FILE *out, int number)
{
	struct flow *flow = &flows[number];
	struct tcp_info s = {0}, r = {0};
	socklen_t size = sizeof(s);

	if (getsockopt(flow->sender, IPPROTO_TCP, TCP_INFO, &s, &size))
		fail("state of %s: %s", flow->name, strerror(errno));
	size = sizeof(r);
	if (flow->receiver >= 0)
		getsockopt(flow->receiver, IPPROTO_TCP, TCP_INFO, &r, &size);
	fprintf(out, "%d,%lld,%u,%u,%u,%u,%u,%u,%u,%llu,%llu,%u,%u,%u,%u,%u,%u,%u,%llu,%llu,%llu,%llu,%llu,%lld\n",
		flow->id, (long long)run_ns(), s.tcpi_state, s.tcpi_ca_state, s.tcpi_snd_mss, s.tcpi_snd_cwnd,
		s.tcpi_snd_ssthresh, s.tcpi_rtt, s.tcpi_min_rtt, (unsigned long long)s.tcpi_pacing_rate,
		(unsigned long long)s.tcpi_delivery_rate, s.tcpi_unacked, s.tcpi_sacked, s.tcpi_lost, s.tcpi_retrans,
		s.tcpi_total_retrans, s.tcpi_data_segs_out, s.tcpi_delivered, (unsigned long long)s.tcpi_bytes_sent,
		(unsigned long long)s.tcpi_busy_time, (unsigned long long)s.tcpi_rwnd_limited,
		(unsigned long long)s.tcpi_sndbuf_limited, (unsigned long long)r.tcpi_bytes_received,
		(long long)flow->finished);
}

/* Write one line: the requested algorithm, and the algorithm in use, as a kernel may select another algorithm. */
void report_flow(FILE *out, int number)
{
	char cca[32] = "";
	socklen_t size = sizeof(cca) - 1;

	getsockopt(flows[number].sender, IPPROTO_TCP, TCP_CONGESTION, cca, &size);
	fprintf(out, "%d,%s,%s\n", flows[number].id, flows[number].cca, cca);
}

/* Write one line: flow, time, and the number of packets that arrived at the receiver's host with a congestion mark. */
void report_marks(FILE *out, int number)
{
	enter(flows[number].to);
	fprintf(out, "%d,%lld,%lld\n", flows[number].id, (long long)run_ns(), marked_packets());
}
