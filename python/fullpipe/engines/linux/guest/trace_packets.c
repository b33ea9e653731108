/* The packets of a trace: a packet socket and the kernel's listener on the loopback device.
 *
 * This device releases every packet at once. On a pair of virtual Ethernet devices, packets would count as queued until
 * the kernel has processed their arrival, so that small queues (`tcp_small_queue_check`) would cut bursts in two. */
#define _GNU_SOURCE
#include "segments.h"
#include "traces.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_packet.h>
#include <linux/tcp.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define HERE "192.168.0.1"
#define THERE "192.0.2.1"
#define PORT 5002
#define PEER_PORT 40000
#define FIRST 7000 /* the peer's initial sequence number */
#define BUFFER (8 << 20)
#define SHIFT 8 /* window scale */

static struct {
	const struct path *path;
	int tap;
	uint32_t initial, first_stamp;
	int opening_ecn;
} peer;

int tap_socket(void)
{
	return peer.tap;
}

static void set(const char *namespace, const char *key, const char *value)
{
	char path[64];
	char *words[] = {(char *)namespace, path, (char *)value};

	snprintf(path, sizeof(path), "net/ipv4/%s", key);
	set_sysctl(words, 3, 0);
}

/* Prepare a namespace for one trace. Returns the listener. */
int prepare_trace(const char *namespace, const char *cca, const struct path *path)
{
	char *name = (char *)namespace;
	char *address[] = {name, "lo", HERE}, *route[] = {name, THERE, "lo", HERE};
	struct sockaddr_in here = {.sin_family = AF_INET, .sin_port = htons(PORT)};
	struct sockaddr_ll end = {.sll_family = AF_PACKET, .sll_protocol = htons(ETH_P_IP)};
	int listener, size = BUFFER;

	make_namespace(namespace);
	raise_device(namespace, "lo");
	set_address(address);
	set_route(route, 4);
	set(namespace, "tcp_no_metrics_save", "1");
	set(namespace, "tcp_ecn", path->ecn == ACCURATE ? "3" : path->ecn ? "1" : "0");
	if (path->ecn == ACCURATE)
		set(namespace, "tcp_ecn_option", "0"); /* the sender needs no room for an option of its own */
	peer.path = path;
	peer.initial = 0;
	begin_receiver(path);
	peer.tap = socket(AF_PACKET, SOCK_RAW | SOCK_NONBLOCK | SOCK_CLOEXEC, htons(ETH_P_IP));
	end.sll_ifindex = device("lo");
	listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	inet_pton(AF_INET, HERE, &here.sin_addr);
	if (peer.tap < 0 || setsockopt(peer.tap, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof(size)) ||
	    bind(peer.tap, (void *)&end, sizeof(end)) ||
	    setsockopt(listener, IPPROTO_TCP, TCP_CONGESTION, cca, strlen(cca)) || bind(listener, (void *)&here, sizeof(here)) ||
	    listen(listener, 1))
		fail("sockets of a trace: %s", strerror(errno));
	return listener;
}

void end_trace(void)
{
	close(peer.tap);
}

static uint32_t stamp_of(const unsigned char *options, int size)
{
	const unsigned char *stamps = option(options, size, 8);

	return stamps ? read_32(stamps) : 0;
}

/* Read the next packet that the kernel has sent. False if there is none. */
int receive_packet(struct packet *packet)
{
	static unsigned char frame[2048];
	const unsigned char *ip = frame + ETH_HLEN, *tcp = ip + 20;

	for (;;) {
		struct sockaddr_ll from;
		socklen_t from_size = sizeof(from);
		ssize_t size = recvfrom(peer.tap, frame, sizeof(frame), 0, (void *)&from, &from_size);
		int flags, header, length;

		if (size < 0)
			return 0;
		if (from.sll_pkttype == PACKET_OUTGOING || size < HEADERS || (tcp[0] << 8 | tcp[1]) != PORT)
			continue;
		header = (tcp[12] >> 4) * 4;
		flags = (tcp[12] & 1) << 8 | tcp[13];
		length = (ip[2] << 8 | ip[3]) - 20 - header;
		*packet = (struct packet){.syn = flags & SYN, .ect = (ip[1] & 3) != 0, .cwr = (flags & CWR) != 0};
		if (peer.path->ecn == ACCURATE)
			packet->cwr = 0; /* a bit of the counter */
		packet->stamp = stamp_of(tcp + 20, header - 20);
		if (packet->syn) {
			peer.initial = read_32(tcp + 4);
			peer.first_stamp = packet->stamp;
			peer.opening_ecn = ip[1] & 3;
		}
		packet->stamp -= peer.first_stamp;
		packet->start = read_32(tcp + 4) - peer.initial - 1;
		packet->end = packet->start + length;
		return 1;
	}
}

/* Send a segment without payload whose `size` bytes of options are written behind the header already. */
static void send_segment(unsigned char *frame, int flags, uint32_t sequence, uint32_t ack, unsigned window, int size)
{
	struct segment segment = {
		.from = THERE, .to = HERE, .from_port = PEER_PORT, .to_port = PORT, .flags = flags, .window = window,
		.options = size, .sequence = sequence, .ack = ack,
	};

	if (send(peer.tap, frame, write_headers(frame, &segment), 0) < 0)
		fail("a packet of a trace: %s", strerror(errno));
}

static unsigned char *put_timestamps(unsigned char *at, uint32_t echo)
{
	at = put_32(at, 0x0101080a);
	return put_32(put_32(at, clock_ns() / 1000000 & 0x7fffffff), echo);
}

void send_syn(void)
{
	unsigned char frame[HEADERS + MAX_OPTIONS], *options = frame + HEADERS, *at = options;
	int ecn = peer.path->ecn;

	at = put_16(put_16(at, 0x0204), peer.path->mss + (peer.path->timestamps ? 12 : 0));
	at = put_32(at, 0x01010402);
	at = put_32(at, 0x01030300 | SHIFT);
	if (peer.path->timestamps)
		at = put_timestamps(at, 0);
	send_segment(frame, SYN | (ecn ? ECE | CWR : 0) | (ecn == ACCURATE ? AE : 0), FIRST, 0, 65535, at - options);
}

/* The ECN bits of the SYN-ACK, as the ACK of the handshake reports them (RFC 9768 table 4). */
static int handshake_bits(void)
{
	static const int codes[] = {2, 3, 4, 6};

	return codes[peer.opening_ecn] << 6;
}

void send_handshake_ack(void)
{
	unsigned char frame[HEADERS + MAX_OPTIONS], *options = frame + HEADERS, *at = options;
	int flags = ACK | (peer.path->ecn == ACCURATE ? handshake_bits() : 0);

	if (peer.path->timestamps)
		at = put_timestamps(at, peer.first_stamp);
	send_segment(frame, flags, FIRST + 1, peer.initial + 1, first_window(), at - options);
}

/* The counters of the AccECN option, which begin at 1, 0 and 1 (RFC 9768 section 3.2.3). */
static unsigned char *put_counters(unsigned char *at, const struct answer *given)
{
	at = put_16(at, 172 << 8 | 11);
	at = put_24(put_24(put_24(at, given->unmarked_bytes + 1), given->marked_bytes), 1);
	*at++ = 1;
	return at;
}

void send_answer(const struct answer *given)
{
	unsigned char frame[HEADERS + MAX_OPTIONS], *options = frame + HEADERS, *at = options;
	int flags = ACK | (given->ece ? ECE : 0);

	if (peer.path->timestamps)
		at = put_timestamps(at, peer.first_stamp + given->echo);
	if (peer.path->ecn == ACCURATE) {
		flags = ACK | ((given->marks + 5) & 7) << 6;
		at = put_counters(at, given);
	}
	if (given->block_count) {
		at = put_32(at, 0x01010500 | (2 + 8 * given->block_count));
		for (int i = 0; i < given->block_count; i++) {
			at = put_32(at, peer.initial + 1 + given->blocks[i].start);
			at = put_32(at, peer.initial + 1 + given->blocks[i].end);
		}
	}
	send_segment(frame, flags, FIRST + 1, peer.initial + 1 + given->ack, given->window, at - options);
}
