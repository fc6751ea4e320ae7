/* SPDX-License-Identifier: Apache-2.0 */
/*
 * main() for a fuzz harness built without libFuzzer: runs it once over every file named on the
 * command line, folders included. Fails when it found no input at all.
 */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int replay_file(const char *path)
{
	FILE *f = fopen(path, "rb");
	uint8_t *data = NULL;
	size_t size = 0;
	int ret = -1;

	if (!f || fseek(f, 0, SEEK_END) < 0)
		goto out;
	size = (size_t)ftell(f);
	rewind(f);
	data = malloc(size ? size : 1);
	if (!data || fread(data, 1, size, f) != size)
		goto out;
	LLVMFuzzerTestOneInput(data, size);
	ret = 0;
out:
	if (ret < 0)
		perror(path);
	free(data);
	if (f)
		fclose(f);
	return ret;
}

/* Returns how many inputs ran, or -1. */
static int replay(const char *path)
{
	struct stat st;
	struct dirent *d;
	DIR *dir;
	int n = 0;

	if (stat(path, &st) < 0) {
		perror(path);
		return -1;
	}
	if (!S_ISDIR(st.st_mode))
		return replay_file(path) < 0 ? -1 : 1;
	dir = opendir(path);
	if (!dir) {
		perror(path);
		return -1;
	}
	while ((d = readdir(dir)) && n >= 0) {
		char name[4096];

		if (d->d_name[0] == '.')
			continue;
		snprintf(name, sizeof(name), "%s/%s", path, d->d_name);
		n = replay_file(name) < 0 ? -1 : n + 1;
	}
	closedir(dir);
	return n;
}

int main(int argc, char **argv)
{
	int total = 0;

	for (int i = 1; i < argc; i++) {
		int n = replay(argv[i]);

		if (n < 0)
			return 1;
		total += n;
	}
	printf("%d inputs\n", total);
	return total ? 0 : 1;
}
