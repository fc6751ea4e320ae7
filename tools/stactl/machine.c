/* SPDX-License-Identifier: Apache-2.0 */
/* Paths and small files; see machine.h. */
#include "machine.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char *root = "";

void machine_set_root(const char *dir)
{
	root = dir;
}

const char *machine_path(char path[MACHINE_PATH], const char *fmt, ...)
{
	char below[MACHINE_PATH / 2];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(below, sizeof(below), fmt, ap);
	va_end(ap);
	snprintf(path, MACHINE_PATH, "%s%s", root, below);
	return path;
}

void machine_read(const char *path, char *text, size_t bytes)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	ssize_t n = fd < 0 ? 0 : read(fd, text, bytes - 1);
	size_t len;

	if (fd >= 0)
		close(fd);
	text[n > 0 ? n : 0] = '\0';
	len = strcspn(text, "\n");
	while (len && text[len - 1] == ' ')
		len--;
	text[len] = '\0';
}

void machine_add_use(struct machine_uses *uses, enum machine_use_kind kind, const char *fmt, ...)
{
	struct machine_use *use = &uses->list[uses->n];
	va_list ap;

	if (uses->n == MACHINE_MAX_USES) {
		use--;
		if (machine_worst(uses)->kind >= kind)
			return;
	} else {
		uses->n++;
	}
	use->kind = kind;
	va_start(ap, fmt);
	vsnprintf(use->text, sizeof(use->text), fmt, ap);
	va_end(ap);
}

const struct machine_use *machine_worst(const struct machine_uses *uses)
{
	const struct machine_use *worst = NULL;
	size_t i;

	for (i = 0; i < uses->n; i++)
		if (!worst || uses->list[i].kind > worst->kind)
			worst = &uses->list[i];
	return worst;
}
