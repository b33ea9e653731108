/* System calls of a script. A call that blocks runs in a thread of its own. */
#define _GNU_SOURCE
#include "drill.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#define MAX_FILES 64
#define MAX_CALLS 16
#define MAX_BUFFERS 128
#define BUFFER (4 << 20)
#define LONGEST_S 100 /* no call blocks longer, or the guest could wait forever */
#define FILE_BYTES 65536

static char *buffer;
/* Files of the guest by descriptors of the script; -1: none. */
static int files[MAX_FILES], connected;

struct call {
	int position, blocks, count, is_done;
	char *words[MAX_STEP_WORDS];
	int64_t result, error, value, at_ns;
	int has_value, opens;
	pthread_t thread;
};
static struct call *calls[MAX_CALLS];
static int call_count, ready = -1;

int calls_ready(void)
{
	return ready;
}

void begin_calls(void)
{
	memset(files, -1, sizeof(files));
	connected = -1;
	buffer = buffer ? buffer : calloc(1, BUFFER);
	ready = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	call_count = 0;
}

void end_calls(void)
{
	struct linger now = {1, 0};

	for (int i = 0; i < MAX_FILES; i++)
		if (files[i] >= 0) {
			setsockopt(files[i], SOL_SOCKET, SO_LINGER, &now, sizeof(now));
			shutdown(files[i], SHUT_RDWR);
			close(files[i]);
		}
	for (int i = 0; i < call_count; i++)
		pthread_join(calls[i]->thread, 0);
	close(ready);
}

static int file(const char *descriptor)
{
	int64_t number = whole(descriptor);

	return number >= 0 && number < MAX_FILES ? files[number] : -1;
}

static struct sockaddr_in at(const char *address)
{
	struct sockaddr_in place = {.sin_family = AF_INET, .sin_port = htons(PORT)};

	inet_pton(AF_INET, address, &place.sin_addr);
	return place;
}

/* A buffer of the size in a word; "-" before the size means that there is none. */
static char *place(const char *word)
{
	return *word == '-' ? 0 : buffer;
}

static size_t size_of(const char *word)
{
	size_t size = whole(*word == '-' ? word + 1 : word);

	return size < BUFFER ? size : BUFFER;
}

static int limit(int socket)
{
	struct timeval longest = {.tv_sec = LONGEST_S};

	if (socket >= 0) {
		setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &longest, sizeof(longest));
		setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &longest, sizeof(longest));
	}
	return socket;
}

/* sendmsg|recvmsg FILE FLAGS SIZE... */
static int64_t pass_message(int sends, char **words)
{
	static char control[4096];
	struct iovec pieces[MAX_BUFFERS];
	struct sockaddr_in name;
	struct msghdr message = {.msg_iov = pieces};

	for (char **sizes = words + 2; *sizes && message.msg_iovlen < MAX_BUFFERS; sizes++)
		pieces[message.msg_iovlen++] = (struct iovec){buffer, size_of(*sizes)};
	if (sends)
		return sendmsg(file(words[0]), &message, whole(words[1]) | MSG_NOSIGNAL);
	message.msg_control = control;
	message.msg_controllen = sizeof(control);
	message.msg_name = &name;
	message.msg_namelen = sizeof(name);
	return recvmsg(file(words[0]), &message, whole(words[1]));
}

/* setsockopt FILE LEVEL NAME LENGTH VALUE|xBYTES */
static int64_t set_option(char **words)
{
	unsigned char bytes[256];
	int value, length = whole(words[3]), size = 0;

	if (*words[4] != 'x') {
		value = whole(words[4]);
		return setsockopt(file(words[0]), whole(words[1]), whole(words[2]), &value, length);
	}
	for (const char *hex = words[4] + 1; *hex && size < (int)sizeof(bytes); hex += 2)
		sscanf(hex, "%2hhx", &bytes[size++]);
	return setsockopt(file(words[0]), whole(words[1]), whole(words[2]), bytes, length < size ? length : size);
}

static int64_t get_option(char **words, struct call *call)
{
	int value = 0;
	socklen_t size = sizeof(value);
	int64_t result = getsockopt(file(words[0]), whole(words[1]), whole(words[2]), &value, &size);

	call->value = value;
	call->has_value = !result;
	return result;
}

static int64_t wait_for_events(char **words, struct call *call)
{
	struct epoll_event found = {0};
	int64_t result = epoll_wait(file(words[0]), &found, 1, whole(words[1]));

	call->value = found.events;
	call->has_value = 1;
	return result;
}

static int64_t control_events(char **words)
{
	struct epoll_event wanted = {.events = whole(words[3])};

	return epoll_ctl(file(words[0]), whole(words[1]), file(words[2]), &wanted);
}

static int64_t control_socket(char **words, struct call *call)
{
	int value = 0;
	int64_t result = ioctl(file(words[0]), whole(words[1]), &value);

	call->value = value;
	call->has_value = !result;
	return result;
}

static int open_file(void)
{
	int made = memfd_create("file", MFD_CLOEXEC);

	return made >= 0 && ftruncate(made, FILE_BYTES) ? -1 : made;
}

static int64_t close_file(char **words)
{
	int64_t number = whole(words[0]), result = close(file(words[0]));

	if (number >= 0 && number < MAX_FILES)
		files[number] = -1;
	return result;
}

static int64_t perform(struct call *call)
{
	char **words = call->words + 1;
	const char *name = call->words[0];
	struct sockaddr_in here = at(HERE), there = at(THERE);

	if (!strcmp(name, "socket"))
		return call->opens = 1, limit(socket(AF_INET, SOCK_STREAM | whole(words[1]), IPPROTO_TCP));
	if (!strcmp(name, "accept")) {
		call->opens = 2;
		return limit(accept4(file(words[0]), 0, 0, whole(words[2])));
	}
	if (!strcmp(name, "open"))
		return call->opens = 1, open_file();
	if (!strcmp(name, "epoll_create"))
		return call->opens = 1, epoll_create(1);
	if (!strcmp(name, "bind"))
		return bind(file(words[0]), (void *)&here, sizeof(here));
	if (!strcmp(name, "listen"))
		return listen(file(words[0]), whole(words[1]));
	if (!strcmp(name, "connect"))
		return connect(file(words[0]), (void *)&there, sizeof(there));
	if (!strcmp(name, "receive"))
		return recv(file(words[0]), place(words[2]), size_of(words[2]), whole(words[1]));
	if (!strcmp(name, "send"))
		return send(file(words[0]), place(words[2]), size_of(words[2]), whole(words[1]) | MSG_NOSIGNAL);
	if (!strcmp(name, "send-to"))
		return sendto(file(words[0]), place(words[2]), size_of(words[2]), whole(words[1]) | MSG_NOSIGNAL, (void *)&there,
			      sizeof(there));
	if (!strcmp(name, "sendmsg") || !strcmp(name, "recvmsg"))
		return pass_message(*name == 's', words);
	if (!strcmp(name, "setsockopt"))
		return set_option(words);
	if (!strcmp(name, "getsockopt"))
		return get_option(words, call);
	if (!strcmp(name, "fcntl"))
		return fcntl(file(words[0]), whole(words[1]), whole(words[2]));
	if (!strcmp(name, "ioctl"))
		return control_socket(words, call);
	if (!strcmp(name, "epoll_ctl"))
		return control_events(words);
	if (!strcmp(name, "epoll_wait"))
		return wait_for_events(words, call);
	if (!strcmp(name, "sendfile"))
		return sendfile(file(words[0]), file(words[1]), 0, whole(words[2]));
	if (!strcmp(name, "shutdown"))
		return shutdown(file(words[0]), whole(words[1]));
	if (!strcmp(name, "close"))
		return close_file(words);
	fail("unknown call in a plan: %s", name);
}

/* The descriptor that a call opens is the first word of "socket", "open" and "epoll_create", the second of "accept". */
static void record_return(struct call *call)
{
	FILE *out = recording();

	if (call->opens && call->result >= 0) {
		int64_t number = whole(call->words[call->opens]);

		if (number < 0 || number >= MAX_FILES)
			number = MAX_FILES - 1;
		files[number] = call->result;
		if (call->opens == 2)
			connected = call->result;
	}
	fprintf(out, "returned %d %lld %lld %lld", call->position, (long long)call->at_ns, (long long)call->result,
		(long long)call->error);
	if (call->has_value)
		fprintf(out, " %lld", (long long)call->value);
	fputs("\n", out);
}

static void *run_call(void *given)
{
	struct call *call = given;
	uint64_t one = 1;

	call->result = perform(call);
	call->error = call->result < 0 ? errno : 0;
	call->at_ns = script_ns();
	if (call->blocks) {
		__atomic_store_n(&call->is_done, 1, __ATOMIC_RELEASE);
		(void)!write(ready, &one, sizeof(one));
	}
	return 0;
}

/* Record the calls that have returned. */
void note_returns(void)
{
	uint64_t count;

	if (read(ready, &count, sizeof(count)) < 0)
		return;
	for (int i = 0; i < call_count; i++)
		if (__atomic_load_n(&calls[i]->is_done, __ATOMIC_ACQUIRE) == 1) {
			calls[i]->is_done = 2;
			record_return(calls[i]);
		}
}

void make_call(int position, int blocks, char **words, int count)
{
	static struct call single;
	struct call *call = &single;
	int is_active = !strcmp(words[0], "connect") || !strcmp(words[0], "send-to");

	if (blocks) {
		if (call_count == MAX_CALLS) {
			add_problem("more than %d calls that block", MAX_CALLS);
			return;
		}
		call = calls[call_count++] = malloc(sizeof(*call));
	}
	memset(call, 0, sizeof(*call));
	call->position = position;
	call->blocks = blocks;
	call->count = count;
	for (int i = 0; i < count; i++)
		call->words[i] = strdup(words[i]);
	if (!strcmp(words[0], "socket"))
		begin_connection();
	if (is_active)
		begin_active_connection(), connected = file(words[1]);
	if (!blocks) {
		run_call(call);
		record_return(call);
	} else if (pthread_create(&call->thread, 0, run_call, call)) {
		fail("a thread for a call that blocks: %s", strerror(errno));
	}
}

/* Record tcp_info of the connection. */
void record_info(void)
{
	unsigned char info[512] = {0};
	socklen_t size = sizeof(info);
	FILE *out = recording();

	if (getsockopt(connected, IPPROTO_TCP, TCP_INFO, info, &size)) {
		add_problem("tcp_info of a connection that is not accepted");
		return;
	}
	fputs("info ", out);
	for (socklen_t i = 0; i < size; i++)
		fprintf(out, "%02x", info[i]);
	fputs("\n", out);
}
