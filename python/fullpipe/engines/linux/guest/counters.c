/* Counters of the kernel, and its properties. */
#define _GNU_SOURCE
#include "guest.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MAX_TEXT 16384

/* The value in column `name` of the group `group` in a file like /proc/net/netstat, which has a line of names before
 * each line of values. */
static long long counter(const char *path, const char *group, const char *name)
{
	static char names[MAX_TEXT], values[MAX_TEXT];
	FILE *file = fopen(path, "r");
	long long found = 0;

	while (file && fgets(names, sizeof(names), file) && fgets(values, sizeof(values), file)) {
		char *rest_names = names, *rest_values = values, *word, *value;

		if (strncmp(names, group, strlen(group)))
			continue;
		while ((word = strtok_r(rest_names, " \n", &rest_names))) {
			value = strtok_r(rest_values, " \n", &rest_values);
			if (value && !strcmp(word, name))
				found = strtoll(value, 0, 10);
		}
	}
	if (file)
		fclose(file);
	return found;
}

/* Packets that the kernel dropped because its own backlog was full. A drop in this backlog is an artefact of the
 * guest and makes the run invalid. */
long long thrown_away(void)
{
	FILE *file = fopen("/proc/net/softnet_stat", "r");
	unsigned processed, dropped;
	long long all = 0;

	while (file && fscanf(file, "%x %x%*[^\n]", &processed, &dropped) == 2)
		all += dropped;
	if (file)
		fclose(file);
	return all;
}

/* Packets that have arrived in this namespace with a congestion mark. */
long long marked_packets(void)
{
	return counter("/proc/net/netstat", "IpExt:", "InCEPkts");
}

static void copy_line(FILE *out, const char *what, const char *path)
{
	char text[1024] = "";
	FILE *file = fopen(path, "r");

	if (file && fgets(text, sizeof(text), file))
		text[strcspn(text, "\n")] = 0;
	if (file)
		fclose(file);
	fprintf(out, "%s=%s\n", what, text);
}

static FILE *known;

/* probe: record the release of the kernel and the congestion control algorithms that it has */
void probe(void)
{
	FILE *ecn = fopen("/proc/sys/net/ipv4/tcp_ecn", "w");
	int accurate = ecn && fputs("3\n", ecn) >= 0 && !fflush(ecn);

	known = result("/knows");
	copy_line(known, "release", "/proc/sys/kernel/osrelease");
	copy_line(known, "ccas", "/proc/sys/net/ipv4/tcp_available_congestion_control");
	fprintf(known, "accecn=%d\nradios=%d\n", accurate, has_radios());
}

/* try NAME qdisc|filter ...: record NAME if the kernel can set this queue discipline or filter */
void try_to_do(char **words)
{
	if (can_set(words + 1))
		fprintf(known, "qdisc=%s\n", words[0]);
}
