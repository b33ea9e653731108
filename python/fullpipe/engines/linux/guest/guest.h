/* The guest: the only program that runs in the kernel under test, as process 1. */
#ifndef GUEST_H
#define GUEST_H

#include <stdint.h>
#include <stdio.h>

#define SECOND 1000000000LL
#define NEVER INT64_MAX
#define MAX_WORDS 40

/* Kinds of sockets for which events are reported. */
enum end { LISTENER, SENDER, RECEIVER, FAR_END, NEAR_END, TAP };

/* Ends the guest with an error message, which the host reads from the file "failed". */
void fail(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));

/* Nanoseconds since the guest booted, and nanoseconds since the run began. */
int64_t clock_ns(void);
int64_t run_ns(void);
/* `result` opens a result file for the host. `end_result` closes the file, and fails if it could not be written in
 * full. */
FILE *result(const char *name);
void end_result(FILE *file, const char *name);
int64_t whole(const char *text);
/* Splits a line into at most `most` words. The words behind the last one are 0. */
int split(char *line, char **words, int most);

/* network.c: namespaces, devices, addresses, routes and queue disciplines, from the words of a line of the script */
int enter(const char *namespace);
int leave_for(const char *namespace);
int device(const char *name);
void make_namespace(const char *name);
void make_link(char **words);
void set_up(const char *namespace, const char *name);
void end_offloads(const char *name);
void end_feature(const char *name, const char *feature);
void raise_device(const char *namespace, const char *name);
int64_t activation_s(void);
void set_address(char **words);
void set_route(char **words, int count);
void set_qdisc(char **words);
void set_class(char **words);
void set_filter(char **words);
int can_set(char **words);
void set_bursts(char **words);
void send_frames(char **words);
void set_sysctl(char **words, int count, int optional);
void list_qdiscs(int socket, void (*each)(int device, const char *kind, unsigned handle, const void *stats, int size));

/* radios.c: radios, if the kernel has any, which join one ad hoc network */
void make_radio(char **words);
int has_radios(void);

/* flows.c: senders and receivers */
void make_flow(char **words, int count);
void make_pace(char **words);
int64_t next_tick(void);
void tick_flows(int64_t now);
void start_flow(int number);
void stop_flow(int number);
void on_event(uint64_t what, unsigned events);
int flow_count(void);
void sample_flow(FILE *out, int number);
void report_flow(FILE *out, int number);
void report_marks(FILE *out, int number);
int64_t flow_start(int number);
int64_t flow_stop(int number);
extern int poll_set;

/* datagrams.c: UDP and pings */
void make_datagrams(char **words);
int64_t next_datagram(void);
void send_datagrams(int64_t now);
void on_datagram(uint64_t what);
void report_datagrams(FILE *out);

/* capture.c: packets at hosts */
void capture(char **words);
void on_packets(uint64_t what);
void end_capture(void);

/* traces.c: traces of the kernel's sender */
void record_trace(char **words);

/* drill.c: packetdrill scripts */
void play_scripts(void);

/* qdiscs.c: counters of queue disciplines */
void watch(char **words);
void sample_links(FILE *out);

/* counters.c: counters of the kernel, and its properties */
long long marked_packets(void);
long long thrown_away(void);
void probe(void);
void try_to_do(char **words);

#endif
