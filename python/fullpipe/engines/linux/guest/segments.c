/* IPv4 and TCP headers of packets that the guest's program sends and receives itself. */
#include "segments.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>

uint32_t read_32(const unsigned char *at)
{
	return (uint32_t)at[0] << 24 | at[1] << 16 | at[2] << 8 | at[3];
}

unsigned char *put_16(unsigned char *at, unsigned value)
{
	at[0] = value >> 8;
	at[1] = value;
	return at + 2;
}

unsigned char *put_24(unsigned char *at, uint32_t value)
{
	at[0] = value >> 16;
	return put_16(at + 1, value & 0xffff);
}

unsigned char *put_32(unsigned char *at, uint32_t value)
{
	return put_16(put_16(at, value >> 16), value & 0xffff);
}

const unsigned char *option(const unsigned char *options, int size, int kind)
{
	for (int i = 0; i + 1 < size && options[i];) {
		if (options[i] == kind)
			return options + i + 2;
		i += options[i] == 1 ? 1 : options[i + 1] > 1 ? options[i + 1] : 2;
	}
	return 0;
}

static unsigned sum(const unsigned char *bytes, int size, unsigned sum)
{
	for (int i = 0; i < size; i++)
		sum += i % 2 ? bytes[i] : bytes[i] << 8;
	return sum;
}

static unsigned folded(unsigned sum)
{
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return ~sum & 0xffff;
}

int write_headers(unsigned char *frame, const struct segment *segment)
{
	unsigned char *ip = frame + ETH_HLEN, *tcp = ip + 20, *at = ip;
	int header = 20 + segment->options, length = header + segment->payload;

	memset(frame, 0, ETH_HLEN);
	put_16(frame + 12, ETH_P_IP);
	at = put_16(put_16(put_16(at, 0x4500 | segment->ecn), 20 + length), 0);
	at = put_16(put_16(put_16(at, 0x4000), 64 << 8 | IPPROTO_TCP), 0);
	inet_pton(AF_INET, segment->from, at);
	inet_pton(AF_INET, segment->to, at + 4);
	put_16(ip + 10, folded(sum(ip, 20, 0)));
	at = put_16(put_16(tcp, segment->from_port), segment->to_port);
	at = put_32(put_32(at, segment->sequence), segment->ack);
	at = put_16(put_16(at, (header / 4) << 12 | segment->flags), segment->window);
	put_32(at, 0);
	if (segment->gso)
		put_16(tcp + 16, ~folded(sum(ip + 12, 8, IPPROTO_TCP + length)));
	else
		put_16(tcp + 16, folded(sum(tcp, length, sum(ip + 12, 8, IPPROTO_TCP + length))));
	return ETH_HLEN + 20 + length;
}
