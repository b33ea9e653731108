/* Netlink messages to the kernel, one at a time: a header, a body and attributes. */
#ifndef NETLINK_H
#define NETLINK_H

#include <linux/rtnetlink.h>
#include <stdint.h>

#define MAX_MESSAGE 16384

/* The message that is being written. */
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
/* Send the message. Returns 0, or the error number with which the kernel refused the message. */
int send_message(int socket);
/* Send the message. If the kernel refuses the message, the guest fails with an error that names `what`. */
void ask(int socket, const char *what);

#endif
