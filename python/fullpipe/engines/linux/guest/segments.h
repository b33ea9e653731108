/* IPv4 and TCP headers of packets that the guest's program sends and receives itself. */
#ifndef SEGMENTS_H
#define SEGMENTS_H

#include <linux/if_ether.h>
#include <stdint.h>

#define HEADERS (ETH_HLEN + 20 + 20)
#define MAX_OPTIONS 40

enum { FIN = 1, SYN = 2, ACK = 16, ECE = 64, CWR = 128, AE = 256 };

/* A segment. `options` and `payload` are sizes in bytes. */
struct segment {
	const char *from, *to;
	/* Bytes of each packet of a merged segment; 0: not merged. The kernel then computes the checksum. */
	int gso;
	int from_port, to_port, flags, ecn, window, options, payload;
	uint32_t sequence, ack;
};

uint32_t read_32(const unsigned char *at);
/* These functions return the place behind the written number. */
unsigned char *put_16(unsigned char *at, unsigned value);
unsigned char *put_24(unsigned char *at, uint32_t value);
unsigned char *put_32(unsigned char *at, uint32_t value);
/* The bytes behind the length of an option of this kind; 0 without one. */
const unsigned char *option(const unsigned char *options, int size, int kind);
/* Write the headers in front of options and payload, which begin at HEADERS. Returns the size of the frame. */
int write_headers(unsigned char *frame, const struct segment *segment);

#endif
