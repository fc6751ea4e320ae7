/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every number that bounds what libdoca_argp keeps.
 */
#ifndef ARGP_LIMITS_H
#define ARGP_LIMITS_H

/* Size of a configuration file. */
#define ARGP_FILE_BYTES_MAX (1 << 20)

#endif /* ARGP_LIMITS_H */
