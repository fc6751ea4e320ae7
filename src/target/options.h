/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The command line: fills a struct tgt_config, which may hold what a JSON file said already.
 */
#ifndef TGT_OPTIONS_H
#define TGT_OPTIONS_H

#include "target/config.h"

enum tgt_options_result {
	TGT_OPTIONS_RUN, /* serve what the configuration says */
	TGT_OPTIONS_EXIT, /* --help or --version was printed */
	TGT_OPTIONS_USAGE, /* wrong use: the reason is in err */
	TGT_OPTIONS_FAIL, /* right use of wrong values: the reason is in err */
};

/**
 * tgt_options_parse() - read @argv and the files it names.
 * @machine: identity of this machine, for the default NQN
 * @warn:    takes lines about things in a file that have no effect
 */
enum tgt_options_result tgt_options_parse(int argc, char **argv, const char *machine,
					  void (*warn)(const char *line), struct tgt_config *config,
					  struct tgt_err *err);

#endif
