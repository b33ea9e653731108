/* Capture of packets at hosts: one packet socket per host, and one pcap file of headers per capture point. */
#define _GNU_SOURCE
#include "guest.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#define MAX_HOSTS 4000
#define MAX_POINTS 2
#define SNAP 128 /* enough for all headers of Ethernet, IPv4 and TCP */
#define BUFFER (64 << 20)
#define ETHERNET 1

static struct point {
	char name[32], path[64];
	FILE *file;
} points[MAX_POINTS];
static int point_count;

static struct {
	int socket;
	struct point *point;
} taps[MAX_HOSTS];
static int tap_count;

static int64_t captured, most;

/* Begin a pcap file with nanosecond timestamps since the beginning of the run: draft-ietf-opsawg-pcap, section 4. */
static void begin_file(struct point *point)
{
	struct {
		uint32_t magic;
		uint16_t major, minor;
		uint32_t reserved[2], snap, link_type;
	} header = {0xa1b23c4d, 2, 4, {0}, SNAP, ETHERNET};

	point->file = result(point->path);
	fwrite(&header, sizeof(header), 1, point->file);
}

static struct point *find_point(const char *name)
{
	for (int i = 0; i < point_count; i++)
		if (!strcmp(points[i].name, name))
			return &points[i];
	if (point_count == MAX_POINTS)
		fail("more than %d capture points", MAX_POINTS);
	snprintf(points[point_count].name, sizeof(points[point_count].name), "%s", name);
	snprintf(points[point_count].path, sizeof(points[point_count].path), "/packets.%s", name);
	begin_file(&points[point_count]);
	return &points[point_count++];
}

/*
 * capture POINT NAMESPACE MOST: capture the packets that a host sends and receives. The guest fails if all hosts
 * together capture more than MOST packets.
 *
 * The host's devices have no queue and do not split larger packets, so every packet is captured once, as it leaves.
 */
void capture(char **words)
{
	struct epoll_event wanted = {.events = EPOLLIN, .data.u64 = (uint64_t)TAP << 32 | tap_count};
	int size = BUFFER, s;

	if (tap_count == MAX_HOSTS)
		fail("packets are captured at more than %d hosts", MAX_HOSTS);
	taps[tap_count].point = find_point(words[0]);
	most = whole(words[2]);
	enter(words[1]);
	s = socket(AF_PACKET, SOCK_RAW | SOCK_NONBLOCK, htons(ETH_P_ALL));
	if (s < 0 || setsockopt(s, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof(size)) ||
	    epoll_ctl(poll_set, EPOLL_CTL_ADD, s, &wanted))
		fail("capture at %s: %s", words[1], strerror(errno));
	taps[tap_count++].socket = s;
}

/* In this guest only reading the clock takes virtual time, so a packet is read at the time at which it passes the
 * socket. */
void on_packets(uint64_t what)
{
	static unsigned char packet[SNAP];
	struct point *point = taps[(uint32_t)what].point;
	int64_t now = run_ns();
	ssize_t size;

	while ((size = recv(taps[(uint32_t)what].socket, packet, sizeof(packet), MSG_TRUNC)) >= 0) {
		uint32_t kept = size < SNAP ? size : SNAP;
		uint32_t header[] = {now / SECOND, now % SECOND, kept, size};

		if ((packet[12] << 8 | packet[13]) != ETH_P_IP)
			continue;
		if (++captured > most)
			fail("record.packets: more than %lld packets were captured by %.3f s; shorten the run, or capture at "
			     "fewer points", (long long)most, now / (double)SECOND);
		fwrite(header, sizeof(header), 1, point->file);
		fwrite(packet, kept, 1, point->file);
	}
	if (ferror(point->file))
		end_result(point->file, point->path);
}

/* Write all packets to the files. Fail if the kernel dropped any packet before it was read. */
void end_capture(void)
{
	for (int i = 0; i < tap_count; i++) {
		struct tpacket_stats stats = {0};
		socklen_t size = sizeof(stats);

		on_packets(i);
		if (getsockopt(taps[i].socket, SOL_PACKET, PACKET_STATISTICS, &stats, &size) || stats.tp_drops)
			fail("the kernel dropped %u packets before they were captured", stats.tp_drops);
	}
	for (int i = 0; i < point_count; i++)
		end_result(points[i].file, points[i].path);
}
