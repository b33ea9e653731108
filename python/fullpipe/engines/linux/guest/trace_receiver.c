/* The receiver of a trace: cumulative and selective acknowledgements (RFC 2018, RFC 2883), delayed ACKs, timestamps
 * (RFC 7323), the three kinds of ECN feedback, and a window that closes. */
#include "traces.h"

#include <string.h>

#define MAX_BLOCKS 400
#define DELAY_US 40000
#define WHOLE_WINDOW 2048 /* times 256 B */

static struct {
	const struct path *path;
	uint32_t next, acknowledged, recent_stamp, read, edge;
	/* Ranges above `next`, the one that grew last first. */
	struct range blocks[MAX_BLOCKS];
	int block_count, waiting, number;
	uint32_t marks, marked_bytes, unmarked_bytes;
	int ece;
} receiver;

void begin_receiver(const struct path *path)
{
	memset(&receiver, 0, sizeof(receiver));
	receiver.path = path;
	receiver.edge = path->buffer;
}

/* The window of the handshake, in units of 256 B. */
int first_window(void)
{
	receiver.edge = (receiver.path->buffer + 255) >> 8 << 8;
	return receiver.path->buffer ? receiver.edge >> 8 : WHOLE_WINDOW;
}

/* Blocks that fit beside the AccECN option, which takes twelve bytes. */
static int most_blocks(void)
{
	if (receiver.path->ecn != ACCURATE)
		return 3;
	return receiver.path->timestamps ? 1 : 2;
}

static void acknowledge(const struct range *duplicate)
{
	struct answer given = {
		.ack = receiver.next,
		.echo = receiver.path->timestamps ? (int)receiver.recent_stamp : -1,
		.window = receiver.path->buffer ? (receiver.edge - receiver.next + 255) >> 8 : WHOLE_WINDOW,
		.marks = receiver.marks,
		.marked_bytes = receiver.marked_bytes,
		.unmarked_bytes = receiver.unmarked_bytes,
		.ece = receiver.ece,
	};

	if (receiver.path->buffer)
		receiver.edge = receiver.next + (given.window << 8); /* the window never shrinks */
	if (duplicate)
		given.blocks[given.block_count++] = *duplicate;
	for (int i = 0; i < receiver.block_count && given.block_count < most_blocks(); i++)
		given.blocks[given.block_count++] = receiver.blocks[i];
	receiver.waiting = 0;
	receiver.number++;
	receiver.acknowledged = receiver.next;
	answer(&given);
}

/* Merge a range into the blocks. False if the receiver had all of it. */
static int merge(struct range range)
{
	int kept = 1;

	if (range.end <= receiver.next)
		return 0;
	for (int i = 0; i < receiver.block_count; i++)
		if (receiver.blocks[i].start <= range.start && range.end <= receiver.blocks[i].end)
			return 0;
	if (receiver.block_count == MAX_BLOCKS - 1)
		fail("the receiver of a trace has more than %d blocks", MAX_BLOCKS);
	for (int i = receiver.block_count++; i > 0; i--)
		receiver.blocks[i] = receiver.blocks[i - 1];
	for (int i = 1; i < receiver.block_count; i++) {
		struct range other = receiver.blocks[i];

		if (other.start > range.end || range.start > other.end) {
			receiver.blocks[kept++] = other;
			continue;
		}
		range.start = other.start < range.start ? other.start : range.start;
		range.end = other.end > range.end ? other.end : range.end;
	}
	receiver.blocks[0] = range;
	receiver.block_count = kept;
	if (range.start <= receiver.next) {
		receiver.next = range.end;
		memmove(receiver.blocks, receiver.blocks + 1, --receiver.block_count * sizeof(range));
	}
	return 1;
}

/* Update the ECN feedback. True if the packet must be acknowledged immediately. */
static int note_mark(const struct packet *packet)
{
	int ecn = receiver.path->ecn;

	receiver.marks += packet->mark;
	if (packet->mark)
		receiver.marked_bytes += packet->end - packet->start;
	else if (packet->ect)
		receiver.unmarked_bytes += packet->end - packet->start;
	if (ecn == CLASSIC)
		receiver.ece = packet->mark || (receiver.ece && !packet->cwr);
	if (ecn == EVERY_MARK && receiver.ece != packet->mark) {
		if (receiver.waiting)
			acknowledge(0);
		receiver.ece = packet->mark;
		return 1;
	}
	return ecn == ACCURATE && packet->mark;
}

void take_packet(const struct packet *packet)
{
	struct range range = {packet->start, packet->end};
	int had_holes = receiver.block_count > 0, at_once = note_mark(packet);

	if (packet->start == packet->end)
		return acknowledge(0); /* a probe of a closed window */
	if (receiver.path->buffer && packet->end > receiver.edge)
		return acknowledge(0);
	if (packet->start <= receiver.acknowledged)
		receiver.recent_stamp = packet->stamp;
	if (!merge(range))
		return acknowledge(&range);
	receiver.waiting++;
	if (at_once || had_holes || receiver.block_count || receiver.waiting >= receiver.path->ack_every)
		return acknowledge(0);
	if (receiver.waiting == 1)
		acknowledge_later(DELAY_US, receiver.number);
}

/* The timer of a delayed ACK fires. `number` is the number of ACKs when the timer was set. */
void acknowledge_if_due(int number)
{
	if (receiver.waiting && receiver.number == number)
		acknowledge(0);
}

/* The application reads all data in order. The window opens by a segment or half the buffer at least (RFC 9293
 * section 3.8.6.2.2). True after all data. */
int read_data(uint32_t all)
{
	uint32_t edge, least = receiver.path->buffer / 2;

	receiver.read = receiver.next;
	edge = receiver.read + receiver.path->buffer;
	least = least < (uint32_t)receiver.path->mss ? least : (uint32_t)receiver.path->mss;
	if ((int32_t)(edge - receiver.edge) >= (int32_t)least) {
		receiver.edge = edge;
		acknowledge(0);
	}
	return receiver.next >= all;
}
