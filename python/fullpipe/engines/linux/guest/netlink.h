/* Messages to the kernel, one at a time: a header, a body, attributes. */
#ifndef NETLINK_H
#define NETLINK_H

#include <linux/rtnetlink.h>
#include <stdint.h>

#define MAX_MESSAGE 16384

/* The one that is being written. */
extern union message {
	struct nlmsghdr header;
	char bytes[MAX_MESSAGE];
} message;

int netlink_socket(int protocol);
void begin(int type, int flags, const void *body, int size);
struct rtattr *attribute(int type, const void *data, int size);
void number(int type, uint32_t value);
void text(int type, const char *value);
void close_attribute(struct rtattr *opened);
/* Send the message; returns 0 or what is wrong with it. */
int send_message(int socket);
/* Send the message; if it is refused, the guest ends and says of what it was. */
void ask(int socket, const char *what);

#endif
