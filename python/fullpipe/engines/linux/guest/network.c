/* Namespaces, virtual Ethernet, addresses, routes and queue disciplines, all set through rtnetlink. */
#define _GNU_SOURCE
#include "guest.h"
#include "netlink.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/ethtool.h>
#include <linux/if_ether.h>
#include <linux/if_link.h>
#include <linux/if_packet.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>
#include <linux/sockios.h>
#include <linux/veth.h>
#include <net/if.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#define MAX_NAMESPACES 100000
#define MAX_DUMP 65536
#define MAX_FEATURES 256
#define MAX_FRAME 65536
#define FRAMES_MEMORY (64 << 20)
/* Devices that the kernel activates per second: MAX_DO_DEV_PER_LOOP of net/core/link_watch.c, whose loop runs at
 * least once per second. */
#define ACTIVATED_PER_SECOND 100

static struct {
	char *name;
	int file, netlink;
} namespaces[MAX_NAMESPACES];
static int namespace_count, current = -1, device_count;

/* The namespace in which the guest has started. */
static int home = -1;

void make_namespace(const char *name)
{
	if (namespace_count == MAX_NAMESPACES)
		fail("more than %d namespaces", MAX_NAMESPACES);
	if (home < 0)
		home = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
	if (unshare(CLONE_NEWNET))
		fail("namespace %s: %s", name, strerror(errno));
	current = namespace_count++;
	namespaces[current].name = strdup(name);
	namespaces[current].file = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
	if (namespaces[current].file < 0)
		fail("namespace %s: %s", name, strerror(errno));
	namespaces[current].netlink = netlink_socket(NETLINK_ROUTE);
}

static int find(const char *name)
{
	/* Most lines of a script refer to the same namespace as the line before, or to a recently created one. */
	if (current >= 0 && !strcmp(namespaces[current].name, name))
		return current;
	for (int i = namespace_count - 1; i >= 0; i--)
		if (!strcmp(namespaces[i].name, name))
			return i;
	fail("no namespace %s", name);
}

/* Enter a namespace and return its netlink socket. "-" is the namespace in which the guest has started. */
int enter(const char *name)
{
	int wanted = strcmp(name, "-") ? find(name) : -1;

	if (wanted < 0 && current >= 0)
		fail("lines for namespace - must come before the first line for another namespace");
	if (wanted < 0)
		return -1;

	if (wanted != current && setns(namespaces[wanted].file, CLONE_NEWNET))
		fail("namespace %s: %s", name, strerror(errno));
	current = wanted;
	return namespaces[wanted].netlink;
}

/* Return to the namespace in which the guest has started. Returns the file of `namespace`, to move devices there. */
int leave_for(const char *namespace)
{
	int wanted = find(namespace);

	if (setns(home, CLONE_NEWNET))
		fail("the first namespace: %s", strerror(errno));
	current = -1;
	return namespaces[wanted].file;
}

int device(const char *name)
{
	int index = if_nametoindex(name);

	if (!index)
		fail("no device %s in %s", name, namespaces[current].name);
	return index;
}

/* Pass a command of ethtool to a device in the current namespace. */
static void ethtool(const char *name, void *command)
{
	struct ifreq request = {.ifr_data = command};
	int s = socket(AF_INET, SOCK_DGRAM, 0);

	snprintf(request.ifr_name, sizeof(request.ifr_name), "%s", name);
	if (ioctl(s, SIOCETHTOOL, &request))
		fail("command %x of ethtool for %s: %s", *(unsigned *)command, name, strerror(errno));
	close(s);
}

static void offload(const char *name, int command)
{
	struct ethtool_value off = {.cmd = command};

	ethtool(name, &off);
}

/* Switch a feature of a device in the current namespace off, if the kernel has the feature. */
void end_feature(const char *name, const char *feature)
{
	static struct {
		struct ethtool_gstrings header;
		char names[MAX_FEATURES][ETH_GSTRING_LEN];
	} strings;
	static struct {
		struct ethtool_sfeatures header;
		struct ethtool_set_features_block blocks[MAX_FEATURES / 32];
	} features;
	struct {
		struct ethtool_sset_info header;
		uint32_t count;
	} set = {.header = {.cmd = ETHTOOL_GSSET_INFO, .sset_mask = 1ULL << ETH_SS_FEATURES}};

	ethtool(name, &set);
	if (set.count > MAX_FEATURES)
		fail("more than %d features of %s", MAX_FEATURES, name);
	strings.header = (struct ethtool_gstrings){ETHTOOL_GSTRINGS, ETH_SS_FEATURES, set.count};
	ethtool(name, &strings);
	for (uint32_t i = 0; i < set.count; i++)
		if (!strcmp(strings.names[i], feature)) {
			memset(&features, 0, sizeof(features));
			features.header = (struct ethtool_sfeatures){ETHTOOL_SFEATURES, (set.count + 31) / 32};
			features.blocks[i / 32].valid = 1U << i % 32;
			ethtool(name, &features);
		}
}

/* Set a device up (IFF_UP) with the offloads that it has. */
void set_up(const char *namespace, const char *name)
{
	struct ifinfomsg info = {.ifi_flags = IFF_UP | IFF_NOARP, .ifi_change = IFF_UP | IFF_NOARP};
	int s = enter(namespace);

	info.ifi_index = device(name);
	begin(RTM_NEWLINK, 0, &info, sizeof(info));
	ask(s, name);
}

/* Switch all offloads of a device in the current namespace off. */
void end_offloads(const char *name)
{
	offload(name, ETHTOOL_STSO);
	offload(name, ETHTOOL_SGSO);
	offload(name, ETHTOOL_SGRO);
}

/* Set a device up (IFF_UP) without offloads. Both ends of a link have the same MAC address and no ARP, so a route
 * only needs a device. Without offloads, packets cross the link one by one. TCP still passes packets to the device
 * in bursts. */
void raise_device(const char *namespace, const char *name)
{
	set_up(namespace, name);
	end_offloads(name);
}

/* link NAMESPACE DEVICE NAMESPACE DEVICE MTU */
void make_link(char **words)
{
	static const unsigned char address[6] = {2, 0, 0, 0, 0, 1};
	struct ifinfomsg info = {0};
	struct rtattr *link, *data, *peer;
	int other = namespaces[find(words[2])].file, s = enter(words[0]);
	uint32_t mtu = whole(words[4]);

	begin(RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL, &info, sizeof(info));
	text(IFLA_IFNAME, words[1]);
	attribute(IFLA_ADDRESS, address, sizeof(address));
	number(IFLA_MTU, mtu);
	link = attribute(IFLA_LINKINFO, 0, 0);
	text(IFLA_INFO_KIND, "veth");
	data = attribute(IFLA_INFO_DATA, 0, 0);
	peer = attribute(VETH_INFO_PEER, &info, sizeof(info));
	text(IFLA_IFNAME, words[3]);
	attribute(IFLA_ADDRESS, address, sizeof(address));
	number(IFLA_MTU, mtu);
	number(IFLA_NET_NS_FD, other);
	close_attribute(peer);
	close_attribute(data);
	close_attribute(link);
	ask(s, words[1]);
	raise_device(words[0], words[1]);
	raise_device(words[2], words[3]);
	device_count += 2;
}

/* Seconds that linkwatch takes to activate all devices. If the other end of a device was set up later, the device
 * drops packets until it is activated. */
int64_t activation_s(void)
{
	return device_count / ACTIVATED_PER_SECOND;
}

static uint32_t ip(const char *written)
{
	struct in_addr address;

	if (inet_pton(AF_INET, written, &address) != 1)
		fail("%s is no address", written);
	return address.s_addr;
}

/* address NAMESPACE DEVICE ADDRESS */
void set_address(char **words)
{
	struct ifaddrmsg info = {.ifa_family = AF_INET, .ifa_prefixlen = 32};
	int s = enter(words[0]);

	info.ifa_index = device(words[1]);
	begin(RTM_NEWADDR, NLM_F_CREATE, &info, sizeof(info));
	number(IFA_LOCAL, ip(words[2]));
	number(IFA_ADDRESS, ip(words[2]));
	ask(s, words[2]);
}

static int metric(const char *name)
{
	if (!strcmp(name, "initcwnd"))
		return RTAX_INITCWND;
	if (!strcmp(name, "mtu"))
		return RTAX_MTU;
	return strcmp(name, "advmss") ? RTAX_QUICKACK : RTAX_ADVMSS;
}

/* route NAMESPACE ADDRESS|default DEVICE SOURCE|- [METRIC N]...: set a route, which replaces an existing route. The
 * metrics are initcwnd, quickack, mtu and advmss. */
void set_route(char **words, int count)
{
	struct rtmsg info = {
		.rtm_family = AF_INET,
		.rtm_table = RT_TABLE_MAIN,
		.rtm_protocol = RTPROT_STATIC,
		.rtm_scope = RT_SCOPE_LINK,
		.rtm_type = RTN_UNICAST,
	};
	int s = enter(words[0]), everywhere = !strcmp(words[1], "default");
	struct rtattr *metrics;

	info.rtm_dst_len = everywhere ? 0 : 32;
	begin(RTM_NEWROUTE, NLM_F_CREATE | NLM_F_REPLACE, &info, sizeof(info));
	if (!everywhere)
		number(RTA_DST, ip(words[1]));
	number(RTA_OIF, device(words[2]));
	if (strcmp(words[3], "-"))
		number(RTA_PREFSRC, ip(words[3]));
	metrics = attribute(RTA_METRICS, 0, 0);
	for (int i = 4; i + 1 < count; i += 2)
		number(metric(words[i]), whole(words[i + 1]));
	close_attribute(metrics);
	ask(s, words[1]);
}

static int from_hex(const char *hex, unsigned char *bytes, int most)
{
	int size = strlen(hex) / 2;

	if (size > most)
		fail("attributes of %d bytes", size);
	for (int i = 0; i < size; i++)
		if (sscanf(hex + 2 * i, "%2hhx", &bytes[i]) != 1)
			fail("%s is not hexadecimal", hex);
	return size;
}

static int try_to_set(int type, char **words)
{
	static unsigned char options[MAX_MESSAGE];
	/* For a filter, this field has its priority among filters and the protocol of the packets that it handles. */
	struct tcmsg info = {.tcm_family = AF_UNSPEC, .tcm_info = type == RTM_NEWTFILTER ? 1 << 16 | htons(ETH_P_ALL) : 0};
	int s = enter(words[0]), adds = !strcmp(words[2], "add");
	int size = words[6] ? from_hex(words[6], options, sizeof(options)) : 0;

	info.tcm_ifindex = device(words[1]);
	info.tcm_parent = strtoul(words[3], 0, 16);
	info.tcm_handle = strtoul(words[4], 0, 16);
	begin(type, adds ? NLM_F_CREATE | NLM_F_REPLACE : 0, &info, sizeof(info));
	text(TCA_KIND, words[5]);
	if (message.header.nlmsg_len + size > sizeof(message))
		fail("a message of more than %d bytes", MAX_MESSAGE);
	memcpy(message.bytes + message.header.nlmsg_len, options, size);
	message.header.nlmsg_len += size;
	return send_message(s);
}

/* qdisc NAMESPACE DEVICE add|change PARENT HANDLE KIND [ATTRIBUTES]; PARENT, HANDLE and ATTRIBUTES are hexadecimal */
void set_qdisc(char **words)
{
	int error = try_to_set(RTM_NEWQDISC, words);

	if (error)
		fail("qdisc %s of %s in %s: %s", words[5], words[1], words[0], strerror(error));
}

/* class NAMESPACE DEVICE add|change PARENT HANDLE KIND [ATTRIBUTES] */
void set_class(char **words)
{
	int adds = !strcmp(words[2], "add"), error = try_to_set(RTM_NEWTCLASS, words);

	if (error)
		fail("%s class of %s in %s: %s", adds ? "new" : "changed", words[1], words[0], strerror(error));
}

/* filter NAMESPACE DEVICE add PARENT HANDLE KIND [ATTRIBUTES] */
void set_filter(char **words)
{
	int error = try_to_set(RTM_NEWTFILTER, words);

	if (error)
		fail("filter of %s in %s: %s", words[1], words[0], strerror(error));
}

/* qdisc|filter NAMESPACE DEVICE add PARENT HANDLE KIND [ATTRIBUTES] */
int can_set(char **words)
{
	return !try_to_set(strcmp(words[0], "filter") ? RTM_NEWQDISC : RTM_NEWTFILTER, words + 1);
}

/* bursts NAMESPACE DEVICE PACKETS: the largest burst that TCP passes to the device, in packets */
void set_bursts(char **words)
{
	struct ifinfomsg info = {0};
	int s = enter(words[0]);

	info.ifi_index = device(words[1]);
	begin(RTM_NEWLINK, 0, &info, sizeof(info));
	number(IFLA_GSO_MAX_SEGS, whole(words[2]));
	ask(s, words[1]);
}

/* frames NAMESPACE DEVICE CLASS BYTES COUNT: send packets that no program receives. CLASS, in hexadecimal, is the class
 * of a qdisc that gets them. */
void send_frames(char **words)
{
	static const unsigned char frame[MAX_FRAME];
	struct sockaddr_ll to = {.sll_family = AF_PACKET, .sll_protocol = htons(ETH_P_802_EX1), .sll_halen = ETH_ALEN};
	int class = strtoul(words[2], 0, 16), size = whole(words[3]), memory = FRAMES_MEMORY, s;

	enter(words[0]);
	to.sll_ifindex = device(words[1]);
	s = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);
	if (size > MAX_FRAME || setsockopt(s, SOL_SOCKET, SO_PRIORITY, &class, sizeof(class)) ||
	    setsockopt(s, SOL_SOCKET, SO_SNDBUFFORCE, &memory, sizeof(memory)))
		fail("frames of %d bytes by class %s: %s", size, words[2], strerror(errno));
	for (int64_t i = whole(words[4]); i > 0; i--)
		if (sendto(s, frame, size, MSG_DONTWAIT, (void *)&to, sizeof(to)) < 0)
			fail("frames at %s in %s: %s", words[1], words[0], strerror(errno));
	close(s);
}

/* sysctl NAMESPACE PATH VALUE..., or sysctl? if older kernels lack this sysctl */
void set_sysctl(char **words, int count, int optional)
{
	char path[200], value[200] = "";
	int file;

	enter(words[0]);
	snprintf(path, sizeof(path), "/proc/sys/%s", words[1]);
	for (int i = 2; i < count; i++)
		snprintf(value + strlen(value), sizeof(value) - strlen(value), "%s ", words[i]);
	file = open(path, O_WRONLY | O_CLOEXEC);
	if (file < 0 && errno == ENOENT && optional)
		return;
	if (file < 0 || write(file, value, strlen(value)) < 0)
		fail("%s = %s: %s", path, value, strerror(errno));
	close(file);
}

/* Call `each` for every queue discipline in the namespace of a netlink socket. */
void list_qdiscs(int socket, void (*each)(int, const char *, unsigned, const void *, int))
{
	static char dump[MAX_DUMP] __attribute__((aligned(8)));
	struct tcmsg info = {.tcm_family = AF_UNSPEC};

	begin(RTM_GETQDISC, NLM_F_DUMP, &info, sizeof(info));
	message.header.nlmsg_flags &= ~NLM_F_ACK;
	if (send(socket, &message, message.header.nlmsg_len, 0) < 0)
		fail("list of qdiscs: %s", strerror(errno));
	for (;;) {
		int size = recv(socket, dump, sizeof(dump), 0);

		if (size <= 0)
			fail("list of qdiscs: %s", strerror(errno));
		for (struct nlmsghdr *h = (void *)dump; NLMSG_OK(h, size); h = NLMSG_NEXT(h, size)) {
			struct tcmsg *found = NLMSG_DATA(h);
			int left = h->nlmsg_len - NLMSG_LENGTH(sizeof(*found));
			const char *kind = "";
			struct rtattr *stats = 0;

			if (h->nlmsg_type == NLMSG_DONE || h->nlmsg_type == NLMSG_ERROR)
				return;
			for (struct rtattr *a = TCA_RTA(found); RTA_OK(a, left); a = RTA_NEXT(a, left)) {
				if (a->rta_type == TCA_KIND)
					kind = RTA_DATA(a);
				if (a->rta_type == TCA_STATS2)
					stats = a;
			}
			if (stats)
				each(found->tcm_ifindex, kind, found->tcm_handle, RTA_DATA(stats), RTA_PAYLOAD(stats));
		}
	}
}
