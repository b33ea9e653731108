/* The recorder of traces: the path (traces.c), the receiver (trace_receiver.c) and its packets (trace_packets.c). */
#ifndef TRACES_H
#define TRACES_H

#include "guest.h"

enum { NO_ECN, CLASSIC, EVERY_MARK, ACCURATE };

/* Everything that is random in a trace, except single events. Probabilities are per million, 0: never. */
struct path {
	int64_t rtt_us, spacing_us, reordering_us, pause_us, reading_us, noise_us;
	int64_t blackout_us, blackout_length_us, stall_us, stall_length_us;
	int loss, reordered, ack_loss, ack_reordered, marks, blackout_both;
	int mss, timestamps, ack_every, ecn;
	int queue, threshold; /* packets; 0: no limit, no marks */
	int buffer;           /* bytes of the receiver's buffer; 0: the application reads at once */
	int parts, part;      /* writes, and bytes of each; 0: small writes of various sizes */
};

/* A packet of the sender. Bytes count from 0. */
struct packet {
	uint32_t start, end, stamp;
	int syn, ect, mark, cwr;
};

struct range {
	uint32_t start, end;
};

/* An ACK. `echo` counts milliseconds from the SYN-ACK; -1 without timestamps. `window` is in units of 256 B. */
struct answer {
	uint32_t ack, window, marks, marked_bytes, unmarked_bytes;
	int echo, ece, block_count;
	struct range blocks[3];
};

/* traces.c */
void answer(const struct answer *given);
void acknowledge_later(int64_t delay_us, int number);

/* trace_receiver.c */
void begin_receiver(const struct path *path);
int first_window(void);
void take_packet(const struct packet *packet);
void acknowledge_if_due(int number);
int read_data(uint32_t all);

/* trace_packets.c */
int prepare_trace(const char *namespace, const char *cca, const struct path *path);
void end_trace(void);
int tap_socket(void);
int receive_packet(struct packet *packet);
void send_syn(void);
void send_handshake_ack(void);
void send_answer(const struct answer *given);

#endif
