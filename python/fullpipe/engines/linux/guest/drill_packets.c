/* The packets of a script: a packet socket on the loopback device, which releases every packet at once. */
#define _GNU_SOURCE
#include "drill.h"
#include "segments.h"

#include <errno.h>
#include <linux/if_packet.h>
#include <linux/virtio_net.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define FIRST_PEER_PORT 40000
#define MAX_FRAME 70000
#define BUFFER (8 << 20)
#define MAX_QUEUE 4096
#define MAX_STAMPS 4096

static int tap_file = -1, ports, mss;

/* A frame of the packet socket, behind its virtual header. */
static struct {
	struct virtio_net_hdr header;
	unsigned char frame[MAX_FRAME];
} __attribute__((packed)) packet;

/* The connection of the script. `initial` is the kernel's initial sequence number; that of the peer is 0. */
static struct {
	int port, peer_port, knows_initial;
	uint32_t initial;
} connection;

static struct sent queue[MAX_QUEUE];
static int queue_start, queue_end;

/* Timestamps as the script writes them, and as the kernel has sent them. */
static struct {
	uint32_t written, sent;
} stamps[MAX_STAMPS];
static int stamp_count;

int tap(void)
{
	return tap_file;
}

void open_tap(void)
{
	struct sockaddr_ll end = {.sll_family = AF_PACKET, .sll_protocol = htons(ETH_P_IP), .sll_ifindex = device("lo")};
	int size = BUFFER, on = 1;

	tap_file = socket(AF_PACKET, SOCK_RAW | SOCK_NONBLOCK | SOCK_CLOEXEC, htons(ETH_P_IP));
	if (tap_file < 0 || setsockopt(tap_file, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof(size)) ||
	    setsockopt(tap_file, SOL_PACKET, PACKET_QDISC_BYPASS, &on, sizeof(on)) ||
	    setsockopt(tap_file, SOL_PACKET, PACKET_VNET_HDR, &on, sizeof(on)) || bind(tap_file, (void *)&end, sizeof(end)))
		fail("the packet socket of a script: %s", strerror(errno));
	queue_start = queue_end = 0;
	begin_connection();
}

void close_tap(void)
{
	close(tap_file);
}

/* The script has made a socket. The next packets belong to its connection, and no event looks at earlier ones. */
void begin_connection(void)
{
	record_packets();
	queue_start = queue_end;
	fputs("forget\n", recording());
	connection.port = PORT;
	connection.peer_port = FIRST_PEER_PORT + ports++ % 10000;
	connection.knows_initial = 0;
	connection.initial = 0;
	stamp_count = 0;
}

/* The application opens the connection, from a port that the kernel chooses. */
void begin_active_connection(void)
{
	connection.port = 0;
	connection.peer_port = PORT;
}

void note_stamp(uint32_t written, uint32_t sent)
{
	if (stamp_count < MAX_STAMPS) {
		stamps[stamp_count].written = written;
		stamps[stamp_count++].sent = sent;
	}
}

/* The timestamp that the kernel has sent for one of the script. A value that the script has not named has the distance
 * of the script from the first one. */
static uint32_t sent_stamp(uint32_t written)
{
	for (int i = stamp_count - 1; i >= 0; i--)
		if (stamps[i].written == written)
			return stamps[i].sent;
	return stamp_count && written ? stamps[0].sent + written - stamps[0].written : written;
}

static void record_packet(const unsigned char *frame, int64_t at_ns)
{
	const unsigned char *ip = frame + ETH_HLEN, *tcp = ip + 20;
	int header = (tcp[12] >> 4) * 4, flags = (tcp[12] & 1) << 8 | tcp[13], size = header - 20;
	int port = tcp[0] << 8 | tcp[1], peer_port = tcp[2] << 8 | tcp[3];
	const unsigned char *stamp = option(tcp + 20, size, 8);
	struct sent *sent = &queue[queue_end % MAX_QUEUE];
	FILE *out;

	if (peer_port != connection.peer_port || (connection.port && port != connection.port))
		return;
	connection.port = port;
	if (flags & SYN && !connection.knows_initial) {
		connection.initial = read_32(tcp + 4);
		connection.knows_initial = 1;
	}
	*sent = (struct sent){.at_ns = at_ns, .seq = read_32(tcp + 4) - connection.initial, .has_stamp = stamp != 0};
	sent->length = (ip[2] << 8 | ip[3]) - 20 - header;
	sent->stamp = stamp ? read_32(stamp) : 0;
	queue_end++;
	out = recording();
	fprintf(out, "packet %lld %x %d %u %u %u %u -", (long long)at_ns, flags, ip[1] & 3, sent->seq, read_32(tcp + 8),
		sent->length, tcp[14] << 8 | tcp[15]);
	for (int i = 0; i < size; i++)
		fprintf(out, "%02x", tcp[20 + i]);
	fputs("\n", out);
}

/* Record the packets that the kernel has sent. */
void record_packets(void)
{
	const unsigned char *frame = packet.frame;
	const int least = sizeof(packet.header) + HEADERS;
	struct sockaddr_ll from;
	socklen_t from_size = sizeof(from);
	ssize_t size;

	while ((size = recvfrom(tap_file, &packet, sizeof(packet), 0, (void *)&from, &from_size)) >= 0) {
		uint32_t source = from.sll_pkttype == PACKET_OUTGOING || size < least ? 0 : read_32(frame + ETH_HLEN + 12);

		/* The loopback device also shows packets of the peer, and ICMP. */
		if (source == 0xc0a80001 && frame[ETH_HLEN + 9] == IPPROTO_TCP)
			record_packet(frame, script_ns());
	}
}

int take_sent(struct sent *sent)
{
	if (queue_start == queue_end)
		return 0;
	*sent = queue[queue_start++ % MAX_QUEUE];
	return 1;
}

static int write_options(unsigned char *options, char **words)
{
	unsigned char *at = options;

	for (; *words; words++) {
		uint32_t value = strtoul(*words + 1, 0, 10);

		if (at - options > MAX_OPTIONS - 4)
			return -1;
		if (**words == 'a')
			at = put_32(at, connection.initial + value);
		else if (**words == 'e')
			at = put_32(at, sent_stamp(value));
		else
			for (const char *hex = *words + 1; *hex && at - options < MAX_OPTIONS; hex += 2)
				sscanf(hex, "%2hhx", at++);
	}
	while ((at - options) % 4)
		*at++ = 1;
	return at - options;
}

void set_mss(int bytes)
{
	mss = bytes;
}

/* inject FLAGS ECN SEQUENCE LENGTH ACK WINDOW OPTIONS... */
void inject(char **words)
{
	unsigned char *frame = packet.frame;
	int flags = strtol(words[0], 0, 16), payload = whole(words[3]), size = write_options(frame + HEADERS, words + 6);
	struct segment segment = {
		.from = THERE, .to = HERE, .from_port = connection.peer_port, .to_port = connection.port, .flags = flags,
		.ecn = whole(words[1]), .sequence = whole(words[2]), .window = whole(words[5]), .options = size,
		.payload = payload, .gso = mss && payload > mss ? mss : 0,
	};

	if (size < 0 || payload < 0 || payload > MAX_FRAME - 4 - HEADERS - size) {
		add_problem("packets of this size");
		return;
	}
	if (flags & ACK)
		segment.ack = connection.initial + (uint32_t)whole(words[4]);
	memset(frame + HEADERS + size, 0, payload);
	packet.header = (struct virtio_net_hdr){0};
	if (segment.gso)
		packet.header = (struct virtio_net_hdr){
			.flags = VIRTIO_NET_HDR_F_NEEDS_CSUM, .gso_type = VIRTIO_NET_HDR_GSO_TCPV4, .hdr_len = HEADERS + size,
			.gso_size = mss, .csum_start = ETH_HLEN + 20, .csum_offset = 16,
		};
	if (send(tap_file, &packet, sizeof(packet.header) + write_headers(frame, &segment), 0) < 0)
		add_problem("a packet of this kind: %s", strerror(errno));
}
