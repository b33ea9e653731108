/* The player of packetdrill scripts: its events (drill.c), the packets of its connection (drill_packets.c) and its
 * system calls (drill_calls.c). */
#ifndef DRILL_H
#define DRILL_H

#include "guest.h"

#define MAX_STEP_WORDS 160 /* MOST_WORDS in plan.rs is less */
#define HERE "192.168.0.1"
#define THERE "192.0.2.1"
#define PORT 8080

/* A packet that the kernel has sent. Bytes count from the SYN. */
struct sent {
	int64_t at_ns; /* since the script began */
	uint32_t seq, length, stamp;
	int has_stamp;
};

/* drill.c */
int64_t script_ns(void);
/* Opens the next line of the recording. */
FILE *recording(void);
void add_problem(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* drill_packets.c */
void open_tap(void);
void close_tap(void);
int tap(void);
void begin_connection(void);
void begin_active_connection(void);
void record_packets(void);
/* Takes the first packet that no event has looked at. False if there is none. */
int take_sent(struct sent *sent);
void note_stamp(uint32_t written, uint32_t sent);
/* Packets of which an injected segment with more bytes consists. 0: every segment is one packet. */
void set_mss(int bytes);
void inject(char **words);

/* drill_calls.c */
void begin_calls(void);
void end_calls(void);
void make_call(int position, int blocks, char **words, int count);
int calls_ready(void);
void note_returns(void);
void record_info(void);

#endif
