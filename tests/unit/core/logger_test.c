/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loggers (doca_log.h): listing, finding, and their levels. The tree of every test:
 *
 *   net            net::rx        net::rx.queue     network       (of the application)
 *   core           core.test                                      (of the libraries)
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <doca_log.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "core/limits.h"
#include "core/log.h"

static char app_text[256], sdk_text[256];
static struct doca_log_backend *app, *sdk;

static const char *const names[] = {"net", "net::rx", "net::rx.queue", "network"};
static int sources[4];
enum {
	NET,
	RX,
	QUEUE,
	NETWORK
};

struct fixture {
	struct doca_logger **list;
	uint32_t num;
};

static void drop(char *buf)
{
	(void)buf;
}

static int group_setup(void **state)
{
	(void)state;
	assert_int_equal(doca_log_backend_create_with_buf(app_text, sizeof(app_text), drop, &app),
			 DOCA_SUCCESS);
	assert_int_equal(doca_log_backend_create_with_buf_sdk(sdk_text, sizeof(sdk_text), drop,
							      &sdk),
			 DOCA_SUCCESS);
	assert_int_equal(doca_log_level_set_global_lower_limit(DOCA_LOG_LEVEL_INFO), DOCA_SUCCESS);
	assert_int_equal(doca_log_backend_set_sdk_level(sdk, DOCA_LOG_LEVEL_DEBUG), DOCA_SUCCESS);
	/* Those of the libraries exist once they have logged. */
	doca_priv_log(DOCA_LOG_LEVEL_TRACE, "core.never", "not shown");
	doca_priv_log(DOCA_LOG_LEVEL_DEBUG, "core", "shown");
	doca_priv_log(DOCA_LOG_LEVEL_DEBUG, "core.test", "shown");
	return 0;
}

static int setup(void **state)
{
	static struct fixture f;

	for (int i = 0; i < 4; i++)
		assert_int_equal(doca_log_register_source(names[i], &sources[i]), DOCA_SUCCESS);
	assert_int_equal(doca_logger_create_list(NULL, 0, &f.list, &f.num), DOCA_SUCCESS);
	*state = &f;
	return 0;
}

/* What the libraries' loggers have stays; of the application's nothing is left. */
static int teardown(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(doca_logger_destroy_list(f->list), DOCA_SUCCESS);
	for (int i = 0; i < 4; i++)
		assert_int_equal(doca_log_unregister_source(sources[i]), DOCA_SUCCESS);
	return 0;
}

static struct doca_logger *find(struct fixture *f, const char *name)
{
	struct doca_logger *logger = doca_logger_find_by_name(f->list, name);

	assert_non_null(logger);
	return logger;
}

static int level_of(struct fixture *f, const char *name)
{
	int level;

	assert_int_equal(doca_logger_get_level(find(f, name), &level), DOCA_SUCCESS);
	return level;
}

static bool app_shows(int source, uint32_t level)
{
	static int serial;
	char text[32];

	snprintf(text, sizeof(text), "number %d.", ++serial);
	assert_int_equal(doca_log(level, source, "f", 1, "g", "%s", text), DOCA_SUCCESS);
	return strstr(app_text, text);
}

static bool sdk_shows(const char *source, enum doca_log_level level)
{
	static int serial;
	char text[32];

	snprintf(text, sizeof(text), "number %d.", ++serial);
	doca_priv_log(level, source, "%s", text);
	return strstr(sdk_text, text);
}

static void assert_list(const struct doca_logger *root, uint8_t depth, const char *const *expected,
			uint32_t n)
{
	char name[DOCA_LOGGER_NAME_SIZE];
	struct doca_logger **list;
	uint32_t num;

	assert_int_equal(doca_logger_create_list(root, depth, &list, &num), DOCA_SUCCESS);
	assert_int_equal(num, n);
	for (uint32_t i = 0; i < n; i++) {
		assert_int_equal(doca_logger_get_name(list[i], name), DOCA_SUCCESS);
		assert_string_equal(name, expected[i]);
	}
	assert_null(list[n]);
	assert_int_equal(doca_logger_destroy_list(list), DOCA_SUCCESS);
}

static void listed_by_name_below_a_root_to_a_depth(void **state)
{
	static const char *const all[] = {"core",    "core.test",     "net",
					  "net::rx", "net::rx.queue", "network"};
	static const char *const tops[] = {"core", "net", "network"};
	static const char *const two[] = {"core", "core.test", "net", "net::rx", "network"};
	struct fixture *f = *state;

	assert_list(NULL, 0, all, 6);
	assert_list(NULL, 1, tops, 3);
	assert_list(NULL, 2, two, 5);
	assert_list(NULL, 255, all, 6);
	assert_list(find(f, "net"), 0, &all[3], 2);
	assert_list(find(f, "net"), 1, &all[3], 1);
	assert_list(find(f, "net::rx"), 0, &all[4], 1);
	assert_list(find(f, "network"), 0, NULL, 0);
}

static void sources_of_one_name_are_one_logger(void **state)
{
	struct fixture *f = *state;
	struct doca_logger **list;
	uint32_t num;
	int again;

	assert_int_equal(doca_log_register_source("net", &again), DOCA_SUCCESS);
	assert_int_not_equal(again, sources[NET]);
	assert_int_equal(doca_logger_create_list(NULL, 0, &list, &num), DOCA_SUCCESS);
	assert_int_equal(num, f->num);
	assert_int_equal(doca_logger_set_level(find(f, "net"), DOCA_LOG_LEVEL_CRIT, 0),
			 DOCA_SUCCESS);
	assert_false(app_shows(again, DOCA_LOG_LEVEL_ERROR));
	/* It ends with its last source. */
	assert_int_equal(doca_log_unregister_source(again), DOCA_SUCCESS);
	assert_non_null(doca_logger_find_by_name(list, "net"));
	assert_int_equal(doca_logger_destroy_list(list), DOCA_SUCCESS);
}

static void a_level_takes_the_place_of_the_global_one(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(level_of(f, "net"), DOCA_LOG_LEVEL_INFO);
	assert_false(app_shows(sources[NET], DOCA_LOG_LEVEL_DEBUG));
	assert_int_equal(doca_logger_set_level(find(f, "net"), DOCA_LOG_LEVEL_DEBUG, 0),
			 DOCA_SUCCESS);
	assert_true(app_shows(sources[NET], DOCA_LOG_LEVEL_DEBUG));
	/* Also for those below, but not for one that only begins like it. */
	assert_int_equal(level_of(f, "net::rx.queue"), DOCA_LOG_LEVEL_DEBUG);
	assert_true(app_shows(sources[QUEUE], DOCA_LOG_LEVEL_DEBUG));
	assert_int_equal(level_of(f, "network"), DOCA_LOG_LEVEL_INFO);
	assert_false(app_shows(sources[NETWORK], DOCA_LOG_LEVEL_DEBUG));
	/* A back-end's own limit counts besides. */
	assert_int_equal(doca_log_backend_set_level_lower_limit(app, DOCA_LOG_LEVEL_WARNING),
			 DOCA_SUCCESS);
	assert_false(app_shows(sources[NET], DOCA_LOG_LEVEL_INFO));
	assert_int_equal(doca_log_backend_set_level_lower_limit(app, DOCA_LOG_LEVEL_TRACE),
			 DOCA_SUCCESS);
}

static void the_nearest_level_counts_unless_propagated(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(doca_logger_set_level(find(f, "net::rx"), DOCA_LOG_LEVEL_ERROR, 0),
			 DOCA_SUCCESS);
	assert_int_equal(doca_logger_set_level(find(f, "net"), DOCA_LOG_LEVEL_TRACE, 0),
			 DOCA_SUCCESS);
	assert_int_equal(level_of(f, "net"), DOCA_LOG_LEVEL_TRACE);
	assert_int_equal(level_of(f, "net::rx"), DOCA_LOG_LEVEL_ERROR);
	assert_int_equal(level_of(f, "net::rx.queue"), DOCA_LOG_LEVEL_ERROR);
	assert_false(app_shows(sources[RX], DOCA_LOG_LEVEL_WARNING));
	assert_int_equal(doca_logger_set_level(find(f, "net"), DOCA_LOG_LEVEL_TRACE, 1),
			 DOCA_SUCCESS);
	assert_int_equal(level_of(f, "net::rx"), DOCA_LOG_LEVEL_TRACE);
	assert_true(app_shows(sources[RX], DOCA_LOG_LEVEL_TRACE));
	assert_int_equal(level_of(f, "network"), DOCA_LOG_LEVEL_INFO);
}

static void of_a_library_it_narrows(void **state)
{
	struct fixture *f = *state;

	assert_true(sdk_shows("core.test", DOCA_LOG_LEVEL_DEBUG));
	assert_int_equal(doca_logger_set_level(find(f, "core"), DOCA_LOG_LEVEL_ERROR, 0),
			 DOCA_SUCCESS);
	assert_false(sdk_shows("core.test", DOCA_LOG_LEVEL_WARNING));
	assert_true(sdk_shows("core.test", DOCA_LOG_LEVEL_ERROR));
	assert_int_equal(doca_logger_set_level(find(f, "core.test"), DOCA_LOG_LEVEL_TRACE, 0),
			 DOCA_SUCCESS);
	assert_true(sdk_shows("core.test", DOCA_LOG_LEVEL_DEBUG));
	/* The back-end does not show more for that. */
	assert_false(sdk_shows("core.test", DOCA_LOG_LEVEL_TRACE));
}

static void errors(void **state)
{
	char name[DOCA_LOGGER_NAME_SIZE];
	struct fixture *f = *state;
	struct doca_logger *gone, **list;
	uint32_t num;
	int source, level;

	assert_int_equal(doca_log_register_source("gone", &source), DOCA_SUCCESS);
	assert_int_equal(doca_logger_create_list(NULL, 0, &list, &num), DOCA_SUCCESS);
	gone = doca_logger_find_by_name(list, "gone");
	assert_non_null(gone);
	assert_int_equal(doca_log_unregister_source(source), DOCA_SUCCESS);
	assert_null(doca_logger_find_by_name(list, "gone"));
	assert_int_equal(doca_logger_destroy_list(list), DOCA_SUCCESS);

	assert_int_equal(doca_logger_create_list(gone, 0, &list, &num), DOCA_ERROR_NOT_FOUND);
	assert_int_equal(doca_logger_create_list(NULL, 0, NULL, &num), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_logger_create_list(NULL, 0, &list, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_logger_destroy_list(NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_logger_set_level(gone, DOCA_LOG_LEVEL_INFO, 0), DOCA_ERROR_NOT_FOUND);
	assert_int_equal(doca_logger_set_level(find(f, "net"), 55, 0), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_logger_set_level(find(f, "net"), -10, 0), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_logger_set_level(NULL, DOCA_LOG_LEVEL_INFO, 0),
			 DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_logger_get_level(gone, &level), DOCA_ERROR_NOT_FOUND);
	assert_int_equal(doca_logger_get_level(NULL, &level), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_logger_get_level(find(f, "net"), NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_logger_get_name(gone, name), DOCA_ERROR_NOT_FOUND);
	assert_int_equal(doca_logger_get_name(NULL, name), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_logger_get_name(find(f, "net"), NULL), DOCA_ERROR_INVALID_VALUE);
	assert_null(doca_logger_find_by_name(f->list, "ne"));
	assert_null(doca_logger_find_by_name(f->list, NULL));
	assert_null(doca_logger_find_by_name(NULL, "net"));
}

static void sources_are_bounded(void **state)
{
	static int many[CORE_MAX_LOG_SOURCES];
	char longest[DOCA_LOGGER_NAME_SIZE + 1];
	int n = 0, source;

	(void)state;
	memset(longest, 'x', sizeof(longest));
	longest[DOCA_LOGGER_NAME_SIZE] = '\0';
	assert_int_equal(doca_log_register_source(longest, &source), DOCA_ERROR_INVALID_VALUE);
	longest[DOCA_LOGGER_NAME_SIZE - 1] = '\0';
	assert_int_equal(doca_log_register_source(longest, &source), DOCA_SUCCESS);
	assert_int_equal(doca_log_unregister_source(source), DOCA_SUCCESS);
	while (n < CORE_MAX_LOG_SOURCES &&
	       doca_log_register_source("many", &many[n]) == DOCA_SUCCESS)
		n++;
	assert_int_equal(n, CORE_MAX_LOG_SOURCES - 4);
	assert_int_equal(doca_log_register_source("many", &source), DOCA_ERROR_NO_MEMORY);
	while (n)
		assert_int_equal(doca_log_unregister_source(many[--n]), DOCA_SUCCESS);
}

/* The last one: a level for all cannot be taken back. */
static void a_level_for_all(void **state)
{
	struct fixture *f = *state;
	int later;

	assert_int_equal(doca_logger_set_level(NULL, DOCA_LOG_LEVEL_WARNING, 1), DOCA_SUCCESS);
	assert_int_equal(level_of(f, "net::rx"), DOCA_LOG_LEVEL_WARNING);
	assert_int_equal(level_of(f, "core.test"), DOCA_LOG_LEVEL_WARNING);
	assert_false(app_shows(sources[NET], DOCA_LOG_LEVEL_INFO));
	assert_false(sdk_shows("core.test", DOCA_LOG_LEVEL_INFO));
	assert_int_equal(doca_log_register_source("later", &later), DOCA_SUCCESS);
	assert_false(app_shows(later, DOCA_LOG_LEVEL_INFO));
	assert_true(app_shows(later, DOCA_LOG_LEVEL_WARNING));
	assert_int_equal(doca_log_unregister_source(later), DOCA_SUCCESS);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(listed_by_name_below_a_root_to_a_depth),
		TEST(sources_of_one_name_are_one_logger),
		TEST(a_level_takes_the_place_of_the_global_one),
		TEST(the_nearest_level_counts_unless_propagated),
		TEST(of_a_library_it_narrows),
		TEST(errors),
		TEST(sources_are_bounded),
		TEST(a_level_for_all),
	};

	return cmocka_run_group_tests(tests, group_setup, NULL);
}
