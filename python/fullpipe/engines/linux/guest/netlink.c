/* Netlink messages to the kernel, one at a time: a header, a body and attributes. */
#define _GNU_SOURCE
#include "netlink.h"
#include "guest.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

union message message;

int netlink_socket(int protocol)
{
	int s = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, protocol);

	if (s < 0)
		fail("netlink: %s", strerror(errno));
	return s;
}

void begin(int type, int flags, const void *body, int size)
{
	memset(&message.header, 0, sizeof(message.header));
	message.header.nlmsg_type = type;
	message.header.nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK | flags;
	message.header.nlmsg_len = NLMSG_LENGTH(size);
	memset(NLMSG_DATA(&message.header), 0, NLMSG_ALIGN(size));
	memcpy(NLMSG_DATA(&message.header), body, size);
}

struct rtattr *attribute(int type, const void *data, int size)
{
	int at = NLMSG_ALIGN(message.header.nlmsg_len);
	struct rtattr *made = (void *)(message.bytes + at);

	if (at + RTA_SPACE(size) > (int)sizeof(message))
		fail("a message of more than %d bytes", MAX_MESSAGE);
	made->rta_type = type;
	made->rta_len = RTA_LENGTH(size);
	if (size)
		memcpy(RTA_DATA(made), data, size);
	message.header.nlmsg_len = at + RTA_ALIGN(made->rta_len);
	return made;
}

void number(int type, uint32_t value)
{
	attribute(type, &value, sizeof(value));
}

void text(int type, const char *value)
{
	attribute(type, value, strlen(value) + 1);
}

void close_attribute(struct rtattr *opened)
{
	opened->rta_len = message.bytes + message.header.nlmsg_len - (char *)opened;
}

/* Send the message. Returns 0, or the error number with which the kernel refused the message. */
int send_message(int socket)
{
	static char answer[MAX_MESSAGE] __attribute__((aligned(8)));
	struct nlmsghdr *header = (void *)answer;
	struct nlmsgerr *error = NLMSG_DATA(header);

	if (send(socket, &message, message.header.nlmsg_len, 0) < 0 || recv(socket, answer, sizeof(answer), 0) < 0)
		return errno;
	return header->nlmsg_type == NLMSG_ERROR ? -error->error : 0;
}

void ask(int socket, const char *what)
{
	int error = send_message(socket);

	if (error)
		fail("%s: %s", what, strerror(error));
}
