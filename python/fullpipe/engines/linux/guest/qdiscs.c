/* Counters of queue disciplines. */
#define _GNU_SOURCE
#include "guest.h"

#include <linux/gen_stats.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>

#define MAX_WATCHED 20000
#define MAX_OWN 4096

static struct {
	int link, netlink, device;
} watched[MAX_WATCHED];
static int watched_count, now_watched;
static FILE *file;

/* watch LINK NAMESPACE DEVICE: record the counters of a device. The lines for the devices of one namespace must be
 * consecutive. */
void watch(char **words)
{
	if (watched_count == MAX_WATCHED)
		fail("more than %d devices are watched", MAX_WATCHED);
	watched[watched_count].link = whole(words[0]);
	watched[watched_count].netlink = enter(words[1]);
	watched[watched_count++].device = if_nametoindex(words[2]);
}

static void write_counters(int device, const char *kind, unsigned handle, const void *stats, int size)
{
	struct gnet_stats_basic basic = {0};
	struct gnet_stats_queue queue = {0};
	const unsigned char *own = 0;
	int own_size = 0, i;

	for (i = now_watched; i < watched_count && watched[i].netlink == watched[now_watched].netlink; i++)
		if (watched[i].device == device)
			break;
	if (i == watched_count || watched[i].device != device || watched[i].netlink != watched[now_watched].netlink)
		return;
	for (const struct rtattr *a = stats; RTA_OK(a, size); a = RTA_NEXT(a, size)) {
		if (a->rta_type == TCA_STATS_BASIC)
			memcpy(&basic, RTA_DATA(a), 12);
		if (a->rta_type == TCA_STATS_QUEUE)
			memcpy(&queue, RTA_DATA(a), sizeof(queue));
		if (a->rta_type == TCA_STATS_APP) {
			own = RTA_DATA(a);
			own_size = RTA_PAYLOAD(a) < MAX_OWN ? RTA_PAYLOAD(a) : MAX_OWN;
		}
	}
	fprintf(file, "%d,%lld,%s,%x,%llu,%u,%u,%u,%u,", watched[i].link, (long long)run_ns(), kind, handle >> 16,
		(unsigned long long)basic.bytes, basic.packets, queue.drops, queue.qlen, queue.backlog);
	for (int at = 0; at < own_size; at++)
		fprintf(file, "%02x", own[at]);
	fputc('\n', file);
}

/* Write a line for every queue discipline of the watched devices: link, time, kind, handle, counters, and the
 * statistics of the discipline in hexadecimal. */
void sample_links(FILE *out)
{
	file = out;
	for (now_watched = 0; now_watched < watched_count;) {
		int netlink = watched[now_watched].netlink;

		list_qdiscs(netlink, write_counters);
		while (now_watched < watched_count && watched[now_watched].netlink == netlink)
			now_watched++;
	}
}
