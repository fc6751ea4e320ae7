/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program with a parser: what it was told, and what the parser said.
 */
#ifndef TESTS_UNIT_ARGP_FIXTURE_H
#define TESTS_UNIT_ARGP_FIXTURE_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <doca_argp.h>

/* What callbacks got, as "s:text i:5 b:1 d:0.5 ", in the order of the calls. */
extern char called[1024];
/* What the parser said, a line each. */
extern char said[4096];
/* What callbacks return. */
extern doca_error_t answer;
/* Passed to doca_argp_init(); callbacks check that they get it. */
extern int config;

/* Begins with a program of the name "prog" and a logger that fills said[]; ends it. */
int setup(void **state);
int teardown(void **state);

doca_error_t took_string(void *value, void *program_config);
doca_error_t took_int(void *value, void *program_config);
doca_error_t took_bool(void *value, void *program_config);
doca_error_t took_double(void *value, void *program_config);
doca_error_t ran_get(void *program_config);
doca_error_t ran_set(void *program_config);
doca_error_t validated(void *program_config);

/* Everything that is obligatory. */
struct doca_argp_param *new_param(const char *short_name, const char *long_name,
				  enum doca_argp_type type);
struct doca_argp_cmd *new_cmd(const char *name, doca_argp_cmd_cb_t callback);
/* The same, registered with the program. */
struct doca_argp_param *add_param(const char *short_name, const char *long_name,
				  enum doca_argp_type type);
struct doca_argp_cmd *add_cmd(const char *name, doca_argp_cmd_cb_t callback);

/* doca_argp_start() with the words after the program's name. */
#define START(...)	   START_WORDS(((const char *const[]){"/usr/bin/prog", ##__VA_ARGS__, NULL}))
#define START_WORDS(words) doca_argp_start(keep_words(words), kept_words)
/* Into kept_words, which end with NULL; how many there are. */
int keep_words(const char *const *words);
extern char *kept_words[64];

/* A file with this text; its path, which is removed by teardown(). One a test. */
const char *file_of(const char *text);

#define assert_success(expression)   assert_int_equal(expression, DOCA_SUCCESS)
#define assert_invalid(expression)   assert_int_equal(expression, DOCA_ERROR_INVALID_VALUE)
#define assert_bad_state(expression) assert_int_equal(expression, DOCA_ERROR_BAD_STATE)

#endif /* TESTS_UNIT_ARGP_FIXTURE_H */
