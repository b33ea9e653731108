
/* fullpipe: with um_rngseed=N on the command line, all random bytes that the kernel reads from its host come from
 * SplitMix64 with the seed N. Kernels with the same command line then boot into the same state. */
static unsigned long long fullpipe_state;
static int fullpipe_seeded;

static int __init fullpipe_seed(char *text, int *add)
{
	fullpipe_state = strtoull(text, NULL, 10);
	fullpipe_seeded = 1;
	return 0;
}

__uml_setup("um_rngseed=", fullpipe_seed,
"um_rngseed=<number>\n"
"    Seed of everything random in the kernel.\n\n"
);

static ssize_t fullpipe_random(void *buffer, size_t length, unsigned int flags)
{
	unsigned char *bytes = buffer;
	unsigned long long z = 0;

	if (!fullpipe_seeded)
		return getrandom(buffer, length, flags);
	for (size_t i = 0; i < length; i++) {
		if (i % 8 == 0) {
			fullpipe_state += 0x9e3779b97f4a7c15ULL;
			z = (fullpipe_state ^ (fullpipe_state >> 30)) * 0xbf58476d1ce4e5b9ULL;
			z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
			z ^= z >> 31;
		}
		bytes[i] = z >> (8 * (i % 8));
	}
	return length;
}

