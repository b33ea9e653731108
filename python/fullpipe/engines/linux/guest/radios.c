/* Radios of the kernel. Commands of nl80211 move the radios into namespaces and join them to one ad hoc network of
 * 802.11n. */
#define _GNU_SOURCE
#include "guest.h"
#include "netlink.h"

#include <errno.h>
#include <linux/genetlink.h>
#include <linux/nl80211.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define FREQUENCY_MHZ 5180

static int family;

static void begin_command(int command)
{
	struct genlmsghdr info = {.cmd = command};

	begin(family, 0, &info, sizeof(info));
}

/* Identifier of the nl80211 family in this kernel; 0 if the kernel has no nl80211. */
static int find_family(int socket)
{
	static char answer[MAX_MESSAGE] __attribute__((aligned(8)));
	struct nlmsghdr *header = (void *)answer;
	struct genlmsghdr info = {.cmd = CTRL_CMD_GETFAMILY, .version = 1};
	struct rtattr *a;
	int left;

	begin(GENL_ID_CTRL, 0, &info, sizeof(info));
	message.header.nlmsg_flags &= ~NLM_F_ACK;
	text(CTRL_ATTR_FAMILY_NAME, NL80211_GENL_NAME);
	if (send(socket, &message, message.header.nlmsg_len, 0) < 0 || recv(socket, answer, sizeof(answer), 0) < 0 ||
	    header->nlmsg_type == NLMSG_ERROR)
		return 0;
	left = header->nlmsg_len - NLMSG_LENGTH(sizeof(info));
	for (a = (void *)((char *)NLMSG_DATA(header) + sizeof(info)); RTA_OK(a, left); a = RTA_NEXT(a, left))
		if (a->rta_type == CTRL_ATTR_FAMILY_ID)
			return *(uint16_t *)RTA_DATA(a);
	return 0;
}

int has_radios(void)
{
	int s = netlink_socket(NETLINK_GENERIC), found = find_family(s) != 0;

	close(s);
	return found;
}

static void move_radio(const char *namespace, int number_of_radio)
{
	int file = leave_for(namespace), s = netlink_socket(NETLINK_GENERIC);

	if (!family && !(family = find_family(s)))
		fail("this kernel has no radios");
	begin_command(NL80211_CMD_SET_WIPHY_NETNS);
	number(NL80211_ATTR_WIPHY, number_of_radio);
	number(NL80211_ATTR_NETNS_FD, file);
	ask(s, "a radio for a namespace");
	close(s);
}

static void raise_as(int socket, const char *old, const char *name)
{
	struct ifinfomsg info = {.ifi_index = device(old)};

	begin(RTM_NEWLINK, 0, &info, sizeof(info));
	text(IFLA_IFNAME, name);
	ask(socket, name);
	info.ifi_flags = info.ifi_change = IFF_UP;
	begin(RTM_NEWLINK, 0, &info, sizeof(info));
	ask(socket, name);
}

static void join(int socket, int index)
{
	static const unsigned char network[6] = {2, 0, 0, 0, 2, 0};

	begin_command(NL80211_CMD_JOIN_IBSS);
	number(NL80211_ATTR_IFINDEX, index);
	attribute(NL80211_ATTR_SSID, "fullpipe", strlen("fullpipe"));
	number(NL80211_ATTR_WIPHY_FREQ, FREQUENCY_MHZ);
	number(NL80211_ATTR_WIPHY_CHANNEL_TYPE, NL80211_CHAN_HT20);
	attribute(NL80211_ATTR_FREQ_FIXED, 0, 0);
	attribute(NL80211_ATTR_MAC, network, sizeof(network));
	ask(socket, "an ad hoc network");
}

/* radio NAMESPACE DEVICE NUMBER: make radio NUMBER of the kernel available as DEVICE */
void make_radio(char **words)
{
	int route, s, index = whole(words[2]);
	char old[IFNAMSIZ];

	move_radio(words[0], index);
	route = enter(words[0]);
	s = netlink_socket(NETLINK_GENERIC);
	snprintf(old, sizeof(old), "wlan%d", index);
	begin_command(NL80211_CMD_SET_INTERFACE);
	number(NL80211_ATTR_IFINDEX, device(old));
	number(NL80211_ATTR_IFTYPE, NL80211_IFTYPE_ADHOC);
	ask(s, "the type of a radio");
	raise_as(route, old, words[1]);
	join(s, device(words[1]));
	close(s);
}
