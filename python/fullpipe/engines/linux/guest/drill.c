/* Plays packetdrill scripts, which the host has translated into steps, and records what the kernel does. */
#define _GNU_SOURCE
#include "drill.h"
#include "moments.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_STEP 65536 /* MOST_BYTES in plan.rs is less */
#define PATIENCE_US 60000000LL

static FILE *out;
static int64_t begin_ns;
static int script_count, has_problem;

/* The event that is played. Times count microseconds from the beginning of the script. */
static struct {
	int position, is_relative, is_any;
	int64_t from_us, until_us;
	/* Whether the event has begun, and whether the last event injected a packet, at which time of the script. */
	int has_begun, injected;
	int64_t moment_us, last_us;
} event;

int64_t script_ns(void)
{
	return clock_ns() - begin_ns;
}

FILE *recording(void)
{
	return out;
}

void add_problem(const char *format, ...)
{
	va_list list;

	va_start(list, format);
	fputs("problem ", out);
	vfprintf(out, format, list);
	fputs("\n", out);
	va_end(list);
	has_problem = 1;
}

/* Record what the kernel has sent, and the calls that have returned. */
static void record_all(void)
{
	record_packets();
	note_returns();
}

static void rest(int64_t ns)
{
	rest_until(ns, tap(), calls_ready());
	record_all();
}

static void reach(int64_t us)
{
	wait_until(clock_at(begin_ns, us), tap(), calls_ready(), record_all);
	record_all();
}

/* Let the kernel send all packets of this moment. */
static void settle(void)
{
	int64_t end = clock_ns() + 4 * MOMENT_NS;

	while (clock_ns() < end)
		rest(clock_ns() + MOMENT_NS);
}

static void begin_event(char **words)
{
	event.position = whole(words[0]);
	event.is_relative = !strcmp(words[1], "relative");
	event.is_any = !strcmp(words[1], "any");
	event.from_us = whole(words[2]);
	event.until_us = whole(words[3]);
	event.has_begun = 0;
}

/* Compute the times of the event. Packets injected one after the other keep the distance of the script. */
static void compute_times(int injects)
{
	int64_t base = injects && event.injected ? event.last_us : event.moment_us;

	if (event.is_any)
		event.from_us = event.until_us = base;
	else if (event.is_relative)
		event.from_us += base, event.until_us += base;
	event.has_begun = 1;
}

/* Wait for the time of the event before its first step. */
static void reach_event(int injects)
{
	if (event.has_begun)
		return;
	compute_times(injects);
	event.moment_us = event.from_us > event.moment_us ? event.from_us : event.moment_us;
	reach(event.moment_us);
	event.last_us = event.from_us;
	event.injected = injects;
	fprintf(out, "event %d %lld\n", event.position, (long long)event.moment_us * 1000);
}

static int continues(const struct sent *before, const struct sent *after)
{
	return before->length && after->length && before->seq + before->length == after->seq;
}

/* expect LENGTH TIMESTAMP|-: wait for packets with so many bytes. False if they do not come. */
static int expect(char **words)
{
	uint32_t length = whole(words[0]), first = 0;
	struct sent sent, before = {0};
	int64_t deadline;
	int count = 0;

	compute_times(0);
	fprintf(out, "event %d %lld\n", event.position, (long long)event.moment_us * 1000);
	deadline = clock_at(begin_ns, event.until_us + PATIENCE_US);
	for (;; before = sent) {
		record_packets();
		while (!take_sent(&sent)) {
			if (clock_ns() >= deadline)
				return 0;
			rest(deadline);
		}
		first = count++ ? first : sent.length ? sent.seq : 0;
		if ((sent.length ? sent.seq + sent.length : 0) - first >= length || (count > 1 && !continues(&before, &sent)))
			break;
	}
	if (sent.at_ns / 1000 > event.moment_us)
		event.moment_us = sent.at_ns / 1000;
	event.last_us = event.moment_us;
	event.injected = 0;
	if (*words[1] != '-' && sent.has_stamp)
		note_stamp(strtoul(words[1], 0, 10), sent.stamp);
	return 1;
}

static void set_path(char *namespace, const char *mtu)
{
	char advmss[24];
	char *route[] = {namespace, THERE, "lo", HERE, "mtu", (char *)mtu, "advmss", advmss};

	snprintf(advmss, sizeof(advmss), "%lld", (long long)whole(mtu) - 40);
	set_route(route, 8);
}

static void queue_discipline(char *namespace, const char *kind)
{
	/* "nothing" is a queue of no packets: the attribute has a limit of 0. The kernel refuses another kind with the
	 * handle of the present queue. */
	int drops = !strcmp(kind, "nothing");
	char *words[] = {namespace, "lo", "add", "ffffffff", strcmp(kind, "fq") ? "10000" : "20000",
			 drops ? "pfifo" : (char *)kind, drops ? "0800020000000000" : 0};

	set_qdisc(words);
}

/* sysctl PATH VALUE... A script needs the settings that it makes itself; a kernel may lack those of its defaults. */
static void write_sysctl(char **words, int count, int is_needed)
{
	char path[200], value[400] = "";
	int file, is_refused;

	snprintf(path, sizeof(path), "/proc/sys/%s", words[0]);
	for (int i = 1; i < count; i++)
		snprintf(value + strlen(value), sizeof(value) - strlen(value), i > 1 ? " %s" : "%s", words[i]);
	file = open(path, O_WRONLY | O_CLOEXEC);
	is_refused = file >= 0 && write(file, value, strlen(value)) < 0;
	if (file < 0 && is_needed)
		add_problem("the setting %s of the kernel", words[0]);
	else if (is_refused && is_needed)
		add_problem("the value %s of the setting %s", value, words[0]);
	if (file >= 0)
		close(file);
}

/* Make a step. False if the script cannot go on. */
static int make_step(char *namespace, char **words, int count)
{
	const char *word = words[0];

	if (!strcmp(word, "event")) {
		begin_event(words + 1);
		return 1;
	}
	if (!strcmp(word, "mss")) {
		set_mss(whole(words[1]));
		return 1;
	}
	if (!strcmp(word, "expect"))
		return expect(words + 1);
	reach_event(!strcmp(word, "inject"));
	if (!strcmp(word, "inject"))
		inject(words + 1);
	else if (!strcmp(word, "default"))
		write_sysctl(words + 1, count - 1, 0);
	else if (!strcmp(word, "sysctl"))
		write_sysctl(words + 1, count - 1, 1);
	else if (!strcmp(word, "qdisc"))
		queue_discipline(namespace, words[1]);
	else if (!strcmp(word, "mtu"))
		set_path(namespace, words[1]);
	else if (!strcmp(word, "offload"))
		end_offloads("lo");
	else if (!strcmp(word, "info"))
		settle(), record_info();
	else if (!strcmp(word, "blocking"))
		make_call(event.position, 1, words + 1, count - 1);
	else if (strcmp(word, "shell"))
		make_call(event.position, 0, words, count);
	record_packets();
	return !has_problem;
}

static void begin_script(char *namespace)
{
	char *address[] = {namespace, "lo", HERE};

	make_namespace(namespace);
	set_up(namespace, "lo");
	/* As for the device of packetdrill, the kernel cuts packets with AccECN before the device. */
	end_feature("lo", "tx-tcp-accecn-segmentation");
	set_address(address);
	set_path(namespace, "1500");
	memset(&event, 0, sizeof(event));
	has_problem = 0;
	begin_calls();
	open_tap();
	set_mss(0);
	begin_ns = next_phase();
}

/* scripts: play the scripts in the file "plans" and write the file "recordings". A line "script NAME" comes before the
 * steps of each script. */
void play_scripts(void)
{
	static char line[MAX_STEP];
	char *words[MAX_STEP_WORDS], namespace[16] = "";
	FILE *plans = fopen("/plans", "r");
	int plays = 0;

	if (!plans)
		fail("no plans: %s", strerror(errno));
	out = result("/recordings");
	while (fgets(line, sizeof(line), plans)) {
		int count = split(line, words, MAX_STEP_WORDS);

		if (count && !strcmp(words[0], "script")) {
			fprintf(out, "script %s\n", words[1]);
			snprintf(namespace, sizeof(namespace), "d%d", script_count++);
			begin_script(namespace);
			plays = 1;
		} else if (count && !strcmp(words[0], "end")) {
			/* A call that still blocks may return, and the kernel may send what no event expects. */
			reach(event.moment_us + PATIENCE_US);
			end_calls();
			close_tap();
		} else if (count && plays) {
			plays = make_step(namespace, words, count);
		}
	}
	fclose(plans);
	end_result(out, "/recordings");
}
