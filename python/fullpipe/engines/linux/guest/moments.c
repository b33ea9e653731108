/* Virtual time of a connection that is played packet by packet. */
#define _GNU_SOURCE
#include "moments.h"
#include "guest.h"

#include <poll.h>
#include <sys/timerfd.h>

int64_t next_phase(void)
{
	return (clock_ns() / PHASE_NS + 2) * PHASE_NS;
}

int64_t clock_at(int64_t begin_ns, int64_t us)
{
	return begin_ns + us * 1000 + 500;
}

/* A timeout of poll would be late by 0.1 %. */
void rest_until(int64_t ns, int file, int other)
{
	static int alarm = -1;
	struct itimerspec due = {.it_value = {ns / SECOND, ns % SECOND}};
	struct pollfd watched[] = {{.fd = file, .events = POLLIN}, {.fd = other, .events = POLLIN}, {.events = POLLIN}};

	if (alarm < 0)
		alarm = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
	timerfd_settime(alarm, TFD_TIMER_ABSTIME, &due, 0);
	watched[2].fd = alarm;
	poll(watched, 3, -1);
}

void wait_until(int64_t ns, int file, int other, void (*read_all)(void))
{
	while (clock_ns() < ns) {
		read_all();
		rest_until(ns, file, other);
	}
}
