/*
 * Process 1 of the guest: reads /script, builds the network, runs the flows, records the kernel's data about the
 * flows, and powers off. Time is virtual: computation of this program takes no time.
 *
 * A line of the script is a word and its arguments. A line that begins with "at NANOSECONDS" is executed at that
 * time of the run. All other lines are executed before the run begins. The last line is "ready". Results go to the
 * root directory, which is a folder of the host.
 */
#define _GNU_SOURCE
#include "guest.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/reboot.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#define MAX_LINE 16384
#define MAX_EVENTS 64
#define WHOLE_BUFFER (1 << 20)
#define TICK 1000000LL
/* Grain in ticks of timers of 33 to 262 s, of which the grains of shorter timers are divisors (kernel/time/timer.c). */
#define GRAIN 4096
/* Ticks from the kernel's count at boot to a multiple of GRAIN. */
#define UNTIL_ZERO (GRAIN - 300000 % GRAIN)

enum what { DO_LINE, DO_START, DO_STOP, DO_MARK };

static struct item {
	int64_t at;
	enum what what;
	int number;
	char *line;
} *agenda;
static int agenda_size, agenda_at;

static int64_t begins, ends = SECOND, every = SECOND, links_every = SECOND, told_every = SECOND;
static FILE *flow_file, *link_file, *mark_file;

static void power_off(void)
{
	fflush(0);
	sync();
	reboot(RB_POWER_OFF);
}

void fail(const char *format, ...)
{
	FILE *out = fopen("/failed", "w");
	va_list list;

	va_start(list, format);
	if (out) {
		vfprintf(out, format, list);
		fclose(out);
	}
	va_end(list);
	power_off();
	for (;;)
		pause();
}

int64_t clock_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * SECOND + now.tv_nsec;
}

/* Nanoseconds since the run began. Reading the clock takes a nanosecond of virtual time, so the result is slightly
 * later than the event that caused the call. */
int64_t run_ns(void)
{
	return clock_ns() - begins;
}

int64_t whole(const char *text)
{
	char *end;
	int64_t value = text ? strtoll(text, &end, 10) : 0;

	if (!text || end == text || *end)
		fail("%s is no whole number", text ? text : "nothing");
	return value;
}

FILE *result(const char *name)
{
	FILE *file = fopen(name, "w");

	if (!file)
		fail("%s: %s", name, strerror(errno));
	setvbuf(file, malloc(WHOLE_BUFFER), _IOFBF, WHOLE_BUFFER);
	return file;
}

void end_result(FILE *file, const char *name)
{
	int failed = ferror(file);

	if (fclose(file) || failed)
		fail("%s: could not be written in full; is the disk full?", name);
}

static void plan(int64_t at, enum what what, int number, const char *line)
{
	if (agenda_size % 256 == 0)
		agenda = realloc(agenda, (agenda_size + 256) * sizeof(*agenda));
	agenda[agenda_size++] = (struct item){at, what, number, line ? strdup(line) : 0};
}

/* Compare two items by time. At equal times changes of the network come before flows, and items of equal kind keep
 * the order of the script. */
static int earlier(const void *left, const void *right)
{
	const struct item *a = left, *b = right;

	if (a->at != b->at)
		return a->at < b->at ? -1 : 1;
	if (a->what != b->what)
		return a->what < b->what ? -1 : 1;
	return a->number < b->number ? -1 : a->number > b->number;
}

int split(char *line, char **words, int most)
{
	int count = 0;
	char *rest = line;

	while (count < most && (words[count] = strtok_r(rest, " \n", &rest)))
		count++;
	for (int i = count; i < most; i++)
		words[i] = 0;
	return count;
}

static void obey(char *line)
{
	char *words[MAX_WORDS];
	int count = split(line, words, MAX_WORDS);
	char **arguments = words + 1;

	if (!count || *words[0] == '#')
		return;
	if (!strcmp(words[0], "namespace"))
		make_namespace(arguments[0]);
	else if (!strcmp(words[0], "link"))
		make_link(arguments);
	else if (!strcmp(words[0], "radio"))
		make_radio(arguments);
	else if (!strcmp(words[0], "address"))
		set_address(arguments);
	else if (!strcmp(words[0], "route"))
		set_route(arguments, count - 1);
	else if (!strcmp(words[0], "qdisc"))
		set_qdisc(arguments);
	else if (!strcmp(words[0], "class"))
		set_class(arguments);
	else if (!strcmp(words[0], "filter"))
		set_filter(arguments);
	else if (!strcmp(words[0], "bursts"))
		set_bursts(arguments);
	else if (!strcmp(words[0], "frames"))
		send_frames(arguments);
	else if (!strcmp(words[0], "sysctl") || !strcmp(words[0], "sysctl?"))
		set_sysctl(arguments, count - 1, words[0][6] == '?');
	else if (!strcmp(words[0], "watch"))
		watch(arguments);
	else if (!strcmp(words[0], "capture"))
		capture(arguments);
	else if (!strcmp(words[0], "flow"))
		make_flow(arguments, count - 1);
	else if (!strcmp(words[0], "pace"))
		make_pace(arguments);
	else if (!strcmp(words[0], "datagrams"))
		make_datagrams(arguments);
	else if (!strcmp(words[0], "end"))
		ends = whole(arguments[0]);
	else if (!strcmp(words[0], "sample"))
		every = whole(arguments[0]), links_every = whole(arguments[1]), told_every = whole(arguments[2]);
	else if (!strcmp(words[0], "probe"))
		probe();
	else if (!strcmp(words[0], "try"))
		try_to_do(arguments);
	else if (!strcmp(words[0], "trace"))
		record_trace(arguments);
	else if (!strcmp(words[0], "scripts"))
		play_scripts();
	else
		fail("unknown word in the script: %s", words[0]);
}

static void read_script(void)
{
	static char line[MAX_LINE], copy[MAX_LINE];
	FILE *script = fopen("/script", "r");
	int number = 0, ready = 0;

	if (!script)
		fail("no script: %s", strerror(errno));
	while (fgets(line, sizeof(line), script)) {
		long long at;
		int used;

		ready = !strcmp(line, "ready\n");
		if (ready)
			break;
		memcpy(copy, line, sizeof(copy));
		if (sscanf(line, "at %lld %n", &at, &used) == 1)
			plan(at, !strncmp(copy + used, "mark", 4) ? DO_MARK : DO_LINE, number++, copy + used);
		else
			obey(line);
	}
	if (!ready)
		fail("the script has no end");
	fclose(script);
}

static void write_samples(int with_links)
{
	for (int i = 0; i < flow_count(); i++)
		sample_flow(flow_file, i);
	if (with_links)
		sample_links(link_file);
}

static void tell(int64_t now)
{
	FILE *file = fopen("/progress", "w");

	if (file) {
		fprintf(file, "%lld\n", (long long)now);
		fclose(file);
	}
}

static void write_marks(void)
{
	write_samples(1);
	for (int i = 0; i < flow_count(); i++)
		report_marks(mark_file, i);
}

static void perform(struct item *item)
{
	if (item->what == DO_LINE)
		obey(item->line);
	else if (item->what == DO_START)
		start_flow(item->number);
	else if (item->what == DO_STOP)
		stop_flow(item->number);
	else
		write_marks();
}

static int64_t first_of(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static void dispatch(const struct epoll_event *event)
{
	enum end end = event->data.u64 >> 32;

	if (end == TAP)
		on_packets(event->data.u64);
	else if (end >= FAR_END)
		on_datagram(event->data.u64);
	else
		on_event(event->data.u64, event->events);
}

/* The first time after `now` at which the kernel's count of ticks is a multiple of the grain of its timers, as at the
 * beginning of a run of the simulator. The count begins at -300 s (INITIAL_JIFFIES). */
static int64_t begin_after(int64_t now)
{
	int64_t ticks = now / TICK + 1 + UNTIL_ZERO;

	return ((ticks + GRAIN - 1) / GRAIN * GRAIN - UNTIL_ZERO) * TICK;
}

static void run(void)
{
	struct epoll_event events[MAX_EVENTS];
	struct itimerspec due = {0};
	int64_t sample = every, links = links_every, told = told_every, set = NEVER;
	int timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK);
	struct epoll_event alarm = {.events = EPOLLIN, .data.u64 = ~0ULL};

	epoll_ctl(poll_set, EPOLL_CTL_ADD, timer, &alarm);
	begins = begin_after(clock_ns() + (1 + activation_s()) * SECOND);
	for (;;) {
		int64_t now = run_ns(), next;
		int count, marked = 0;

		while (agenda_at < agenda_size && agenda[agenda_at].at <= now) {
			marked |= agenda[agenda_at].what == DO_MARK;
			perform(&agenda[agenda_at++]);
		}
		tick_flows(now);
		send_datagrams(now);
		if (sample <= now) {
			int with_links = links <= now;

			if (!marked)
				write_samples(with_links);
			sample += every;
			links += with_links ? links_every : 0;
		}
		if (told <= now) {
			tell(told);
			told += told_every;
		}
		if (now >= ends)
			return;
		next = first_of(first_of(sample, ends), first_of(told, next_tick()));
		next = first_of(next, next_datagram());
		if (agenda_at < agenda_size)
			next = first_of(next, agenda[agenda_at].at);
		/* The timer is set only if its time differs, as system calls take most of the time of a run. */
		if (next != set) {
			due.it_value.tv_sec = (begins + next) / SECOND;
			due.it_value.tv_nsec = (begins + next) % SECOND;
			timerfd_settime(timer, TFD_TIMER_ABSTIME, &due, 0);
			set = next;
		}
		count = epoll_wait(poll_set, events, MAX_EVENTS, -1);
		for (int i = 0; i < count; i++)
			if (events[i].data.u64 == ~0ULL)
				continue;
			else
				dispatch(&events[i]);
	}
}

static void prepare(void)
{
	FILE *out;

	prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0); /* otherwise every sleep would be 50 us too long */
	mount("proc", "/proc", "proc", 0, 0);
	/* Panic when memory runs out: without a panic, a guest without free memory would never end. */
	out = fopen("/proc/sys/vm/panic_on_oom", "w");
	if (out) {
		fputs("2\n", out);
		fclose(out);
	}
}

int main(void)
{
	FILE *out;

	prepare();
	poll_set = epoll_create1(EPOLL_CLOEXEC);
	read_script();
	for (int i = 0; i < flow_count(); i++) {
		plan(flow_start(i), DO_START, i, 0);
		if (flow_stop(i) != NEVER)
			plan(flow_stop(i), DO_STOP, i, 0);
	}
	qsort(agenda, agenda_size, sizeof(*agenda), earlier);
	flow_file = result("/flows");
	link_file = result("/links");
	mark_file = result("/marks");
	run();
	end_capture();
	out = result("/connections");
	for (int i = 0; i < flow_count(); i++)
		report_flow(out, i);
	end_result(out, "/connections");
	out = result("/datagrams");
	report_datagrams(out);
	end_result(out, "/datagrams");
	out = result("/thrown-away");
	fprintf(out, "%lld\n", thrown_away());
	end_result(out, "/thrown-away");
	end_result(flow_file, "/flows");
	end_result(link_file, "/links");
	end_result(mark_file, "/marks");
	end_result(result("/finished"), "/finished");
	power_off();
	return 0;
}
