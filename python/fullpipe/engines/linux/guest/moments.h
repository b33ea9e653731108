/* Virtual time of a connection that is played packet by packet: scripts (drill.c) and traces (traces.c). */
#ifndef MOMENTS_H
#define MOMENTS_H

#include <stdint.h>

#define MOMENT_NS 50 /* longer than the kernel takes to send all packets of one moment */
#define PHASE_NS 4096000000LL /* a multiple of 512 ms, the coarsest unit of the kernel's timers below 32 s */

/* The first time of the clock at which a play may begin, in the same phase of the kernel's timers for every play. */
int64_t next_phase(void);
/* The clock at the middle of a microsecond since `begin_ns`, so that rounding never matters. */
int64_t clock_at(int64_t begin_ns, int64_t us);
/* Sleeps until a time of the clock, or until one of the files can be read. A file below 0 never can. */
void rest_until(int64_t ns, int file, int other);
/* Sleeps until a time of the clock, and reads all that comes before. */
void wait_until(int64_t ns, int file, int other, void (*read_all)(void));

#endif
