/* SPDX-License-Identifier: Apache-2.0 */
/* Printing; see stactl.h. */
#include "stactl.h"

#include <stdio.h>
#include <string.h>

#define MAX_COLUMNS 16

const char *stactl_text_of(json_object *object, const char *key)
{
	json_object *member = NULL;

	json_object_object_get_ex(object, key, &member);
	if (!member)
		return "-";
	if (json_object_is_type(member, json_type_boolean))
		return json_object_get_boolean(member) ? "yes" : "no";
	return json_object_get_string(member);
}

static void print_line(const char *const *cells, const int *widths, size_t n)
{
	size_t i;

	for (i = 0; i + 1 < n; i++)
		printf("%-*s  ", widths[i], cells[i]);
	printf("%s\n", cells[n - 1]);
}

void stactl_print_table(json_object *rows, const struct stactl_column *columns, size_t n)
{
	const char *cells[MAX_COLUMNS];
	int widths[MAX_COLUMNS];
	size_t count = json_object_array_length(rows), row, i;

	for (i = 0; i < n; i++) {
		cells[i] = columns[i].title;
		widths[i] = (int)strlen(columns[i].title);
		for (row = 0; row < count; row++) {
			json_object *o = json_object_array_get_idx(rows, row);
			int width = (int)strlen(stactl_text_of(o, columns[i].key));

			widths[i] = width > widths[i] ? width : widths[i];
		}
	}
	print_line(cells, widths, n);
	for (row = 0; row < count; row++) {
		for (i = 0; i < n; i++)
			cells[i] = stactl_text_of(json_object_array_get_idx(rows, row),
						  columns[i].key);
		print_line(cells, widths, n);
	}
}

void stactl_print_json(json_object *document)
{
	puts(json_object_to_json_string_ext(document, JSON_C_TO_STRING_PRETTY |
							      JSON_C_TO_STRING_SPACED |
							      JSON_C_TO_STRING_NOSLASHESCAPE));
}
