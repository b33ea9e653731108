/* Flows of datagrams: UDP and pings that leave at given times, whether or not earlier datagrams arrived. */
#define _GNU_SOURCE
#include "guest.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/ip_icmp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#define MAX_STREAMS 2000
#define PORT 5002
#define MOST_BYTES 10000
#define IP_HEADER(packet) (4 * ((packet)[0] & 15))

struct stream {
	int id, near, far, pings, echo, size;
	int64_t *departures, *arrivals, *returns;
	int64_t count, next;
};

static struct stream streams[MAX_STREAMS];
static int stream_count;

static int open_end(struct stream *stream, const char *namespace, enum end end, int service)
{
	int kind = stream->pings ? SOCK_RAW : SOCK_DGRAM, s;
	struct epoll_event wanted = {.events = EPOLLIN, .data.u64 = (uint64_t)end << 32 | (stream - streams)};

	enter(namespace);
	s = socket(AF_INET, kind | SOCK_NONBLOCK, stream->pings ? IPPROTO_ICMP : IPPROTO_UDP);
	if (s < 0 || epoll_ctl(poll_set, EPOLL_CTL_ADD, s, &wanted))
		fail("datagrams %d: %s", stream->id, strerror(errno));
	if (service && setsockopt(s, IPPROTO_IP, IP_TOS, &service, sizeof(service)))
		fail("service of datagrams %d: %s", stream->id, strerror(errno));
	return s;
}

/* Read departure times from a file of whole nanoseconds in the byte order of this machine. */
static void read_departures(struct stream *stream, const char *path)
{
	FILE *file = fopen(path, "r");
	long size;

	if (!file || fseek(file, 0, SEEK_END) || (size = ftell(file)) < 0)
		fail("%s: %s", path, strerror(errno));
	rewind(file);
	stream->count = size / sizeof(int64_t);
	stream->departures = malloc(size + 1);
	stream->arrivals = malloc(size + 1);
	stream->returns = malloc(size + 1);
	if (fread(stream->departures, 1, size, file) != (size_t)size)
		fail("%s: %s", path, strerror(errno));
	memset(stream->arrivals, 0xff, size);
	memset(stream->returns, 0xff, size);
	fclose(file);
}

/* datagrams ID FROM TO ADDRESS udp|icmp BYTES ECHO TOS FILE */
void make_datagrams(char **words)
{
	struct stream *stream = &streams[stream_count];
	struct sockaddr_in here = {.sin_family = AF_INET, .sin_port = htons(PORT)}, there = here;

	if (stream_count++ == MAX_STREAMS)
		fail("more than %d flows of datagrams", MAX_STREAMS);
	stream->id = whole(words[0]);
	stream->pings = !strcmp(words[4], "icmp");
	stream->size = whole(words[5]);
	stream->echo = whole(words[6]);
	read_departures(stream, words[8]);
	stream->far = open_end(stream, words[2], FAR_END, whole(words[7]));
	inet_pton(AF_INET, words[3], &there.sin_addr);
	here.sin_addr = there.sin_addr;
	if (bind(stream->far, (void *)&here, sizeof(here)))
		fail("datagrams %d: %s", stream->id, strerror(errno));
	stream->near = open_end(stream, words[1], NEAR_END, whole(words[7]));
	if (connect(stream->near, (void *)&there, sizeof(there)))
		fail("datagrams %d: %s", stream->id, strerror(errno));
}

int64_t next_datagram(void)
{
	int64_t first = NEVER;

	for (int i = 0; i < stream_count; i++)
		if (streams[i].next < streams[i].count && streams[i].departures[streams[i].next] < first)
			first = streams[i].departures[streams[i].next];
	return first;
}

static uint16_t checksum(const unsigned char *bytes, int size)
{
	uint32_t sum = 0;

	for (int i = 0; i < size; i++)
		sum += (uint32_t)bytes[i] << (i % 2 ? 0 : 8);
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return htons(~sum);
}

static void send_one(struct stream *stream, int64_t number)
{
	static unsigned char packet[MOST_BYTES];
	struct icmphdr *header = (void *)packet;
	int before = stream->pings ? sizeof(*header) : 0;

	memset(packet, 0, before + stream->size);
	memcpy(packet + before, &number, sizeof(number));
	if (stream->pings) {
		header->type = ICMP_ECHO;
		header->un.echo.sequence = htons(number);
		header->checksum = checksum(packet, before + stream->size);
	}
	/* If the host has no free buffer, the datagram is lost, and the table shows the loss. */
	if (send(stream->near, packet, before + stream->size, 0) < 0 && errno != ENOBUFS && errno != EAGAIN)
		fail("datagrams %d: %s", stream->id, strerror(errno));
}

void send_datagrams(int64_t now)
{
	for (int i = 0; i < stream_count; i++)
		while (streams[i].next < streams[i].count && streams[i].departures[streams[i].next] <= now)
			send_one(&streams[i], streams[i].next++);
}

/* Number of the datagram that a packet carries or answers; -1 if the packet does not belong to the stream. */
static int64_t number_of(const struct stream *stream, const unsigned char *packet, ssize_t size, int wanted)
{
	int64_t number = -1;
	int before = stream->pings ? IP_HEADER(packet) + (int)sizeof(struct icmphdr) : 0;

	if (size < before + (ssize_t)sizeof(number) || (stream->pings && packet[IP_HEADER(packet)] != wanted))
		return -1;
	memcpy(&number, packet + before, sizeof(number));
	return number >= 0 && number < stream->count ? number : -1;
}

void on_datagram(uint64_t what)
{
	static unsigned char packet[MOST_BYTES];
	struct stream *stream = &streams[(uint32_t)what];
	int far = what >> 32 == FAR_END;
	struct sockaddr_in from;
	socklen_t from_size = sizeof(from);
	ssize_t size;

	while ((size = recvfrom(far ? stream->far : stream->near, packet, sizeof(packet), 0, (void *)&from, &from_size)) >= 0) {
		int64_t number = number_of(stream, packet, size, far ? ICMP_ECHO : ICMP_ECHOREPLY);
		int64_t *seen = far ? stream->arrivals : stream->returns;

		if (number < 0)
			continue;
		if (seen[number] < 0)
			seen[number] = run_ns();
		/* The kernel itself answers pings. */
		if (far && stream->echo && !stream->pings)
			sendto(stream->far, packet, size, 0, (void *)&from, from_size);
	}
}

/* Write a line for every datagram that has left: flow, departure time, arrival time and time of the reply. A time of
 * -1 means that the event has not happened. */
void report_datagrams(FILE *out)
{
	for (int i = 0; i < stream_count; i++)
		for (int64_t n = 0; n < streams[i].next; n++)
			fprintf(out, "%d,%lld,%lld,%lld\n", streams[i].id, (long long)streams[i].departures[n],
				(long long)streams[i].arrivals[n], (long long)streams[i].returns[n]);
}
