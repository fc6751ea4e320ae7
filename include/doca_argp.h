/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Command line and JSON arguments.
 *
 * doca_argp_init() -> create, describe and register parameters and commands ->
 * doca_argp_start() -> doca_argp_destroy(). Registering a parameter or command gives it to the
 * library whatever the result.
 *
 * The command line: -s VALUE, -sVALUE, -s=VALUE, --long VALUE or --long=VALUE; flags of one letter
 * may be joined (-ab). A short name may have several letters. "--" ends the flags. A word that is
 * no flag and no value is a command, and what follows it belongs to the command: its parameters,
 * those of the commands above it that are inherited, and the commands below it.
 *
 * Every program has these flags. It may take the names of all but --help and --json for itself.
 *
 * | flag | what it does |
 * |---|---|
 * | -h, --help | prints the usage text on the standard output and ends the process with success |
 * | -v, --version | calls what doca_argp_register_version_callback() set, or prints the version of
 *   the API, and ends the process with success; not if the callback fails |
 * | -l, --log-level | sets the global lower limit of the application's messages: a number of enum
 *   doca_log_level, or its name: DISABLE, CRIT, ERROR, WARNING, INFO, DEBUG, TRACE |
 * | --sdk-log-level | sets the global limit of the libraries' messages, the same way |
 * | -j, --json | names a JSON file with more arguments |
 *
 * The JSON file is an object of at most 1 MiB, in UTF-8; half of a surrogate pair as an escape is
 * refused. Its fields "doca_general_flags" ("log-level", "sdk-log-level"), "doca_program_flags"
 * and, for a DPDK program, "doca_dpdk_flags" are objects whose fields are the long names; a
 * parameter without one goes by its short name. A value has its parameter's type: a string, an
 * integer, true or false, a number; devices are strings. A parameter that may be given more than
 * once takes a list as well. false is as if the flag had not been given. What the command line
 * gives as well counts from there alone. Of two fields of one name the last one counts. Comments
 * are allowed.
 *
 * "doca_dpdk_flags" has "devices", a list of objects with "device" ("pf", "vf", "sf" or "gpu"),
 * "id" and "hws" (true or false); "core-mask", a number or a string; "core-list", a string; and
 * "flags", a string of further words. They reach DPDK as -a, -c, -l and what they are.
 *
 * A device is named as DEVICE[,ARGUMENTS], where DEVICE is pci/ADDRESS, ibdev/NAME or iface/NAME,
 * or one of the three without what is before the slash: pci/0000:03:00.0, 03:00.0, sr_lo, eth0. A
 * representor is named as DEVICE,REPRESENTOR[,ARGUMENTS] with the representor's PCI address, VUID
 * or interface.
 *
 * What is wrong is said in one line, on the standard error stream or to the logger callback.
 *
 * Thread: one at a time; there is one parser in a process. Callbacks run inside of
 * doca_argp_start().
 */
#ifndef DOCA_ARGP_H
#define DOCA_ARGP_H

#include <doca_compat.h>
#include <doca_dev.h>
#include <doca_error.h>
#include <doca_log.h>
#include <stdarg.h>

#ifdef __cplusplus
extern "C" {
#endif

struct doca_argp_param;
struct doca_argp_cmd;

/**
 * Type of an argument's value, and what the callback of the parameter gets.
 *
 * The value of JSON_OBJ has been used again: it means DEVICE here.
 */
enum doca_argp_type {
	DOCA_ARGP_TYPE_UNKNOWN = 0, /**< unset */
	DOCA_ARGP_TYPE_STRING = 1, /**< text value: char * */
	DOCA_ARGP_TYPE_INT = 2, /**< integer value, decimal or 0x...: int * */
	DOCA_ARGP_TYPE_BOOLEAN = 3, /**< flag without a value: bool *, true */
	DOCA_ARGP_TYPE_JSON_OBJ = 4, /**< JSON object (gone after 3.0) */
	DOCA_ARGP_TYPE_DEVICE = 4, /**< device, opened by argp: struct doca_argp_device_ctx * */
	DOCA_ARGP_TYPE_DEVICE_REP =
		5, /**< representor, opened by argp: struct doca_argp_device_rep_ctx * */
	DOCA_ARGP_TYPE_DOUBLE = 6, /**< finite floating-point value: double * */
};

/** Value of an argument of type DEVICE. */
struct doca_argp_device_ctx {
	struct doca_dev *dev; /**< open; the program closes it once its callback has succeeded */
	const char *devargs; /**< what follows the device's name and a comma, or NULL */
};

/** Value of an argument of type DEVICE_REP. */
struct doca_argp_device_rep_ctx {
	struct doca_argp_device_ctx dev_ctx; /**< the device that the representor belongs to */
	struct doca_dev_rep *dev_rep; /**< open; to be closed before the device */
};

/**
 * doca_argp_param_cb_t() - an argument was given
 *
 * First its value (see enum doca_argp_type), then the program's configuration. The value is valid
 * until doca_argp_destroy().
 *
 * Return: DOCA_SUCCESS; any other result ends doca_argp_start() with it, and argp closes a device
 * or representor that it opened for this value.
 */
typedef doca_error_t (*doca_argp_param_cb_t)(void *, void *);

/**
 * doca_argp_cmd_cb_t() - a command was given
 *
 * With the program's configuration. The callbacks of the parameters have run; those of the commands
 * run from the outermost to the innermost.
 *
 * Return: DOCA_SUCCESS; any other result ends doca_argp_start() with it.
 */
typedef doca_error_t (*doca_argp_cmd_cb_t)(void *);

/**
 * doca_argp_dpdk_cb_t() - the words that are for DPDK
 * @argc: number of words
 * @argv: the program's name and the words, as for rte_eal_init(); NULL behind the last; may be
 *   permuted; valid until doca_argp_destroy()
 *
 * Runs once, before the other callbacks.
 *
 * Return: DOCA_SUCCESS; any other result ends doca_argp_start() with it.
 */
typedef doca_error_t (*doca_argp_dpdk_cb_t)(int argc, char **argv);

/**
 * doca_argp_validation_cb_t() - everything is parsed: is the configuration valid?
 *
 * With the program's configuration. Runs last.
 *
 * Return: DOCA_SUCCESS; any other result ends doca_argp_start() with it.
 */
typedef doca_error_t (*doca_argp_validation_cb_t)(void *);

/**
 * doca_argp_logger_cb_t() - a message of the parser
 * @level: of enum doca_log_level; DOCA_LOG_LEVEL_ERROR so far
 * @format: as for vprintf(); one line, without a line feed
 * @args: as for vprintf()
 *
 * Return: DOCA_SUCCESS; after any other result the message goes to the standard error stream.
 */
typedef doca_error_t (*doca_argp_logger_cb_t)(enum doca_log_level level, const char *format,
					      va_list args);

/**
 * doca_argp_dev_open_cb_t() - open a device that the command line names
 * @devinfo: the device
 * @usr_ctx: given at the registration
 * @dev: where the open device is put; the program's, as if argp had opened it
 *
 * Return: DOCA_SUCCESS; any other result ends doca_argp_start() with it.
 */
typedef doca_error_t (*doca_argp_dev_open_cb_t)(struct doca_devinfo *devinfo, void *usr_ctx,
						struct doca_dev **dev);

/**
 * doca_argp_usage() - print the usage text on the standard output
 *
 * That of the innermost command which was given. Prints nothing if not begun. Does not end the
 * process: a program that has found an argument wrong has an exit status of its own.
 */
DOCA_EXPERIMENTAL
void doca_argp_usage(void);

/**
 * doca_argp_init() - begin
 * @program_name: for the usage text and messages, copied; NULL: the file name in argv[0]
 * @program_config: passed to the callbacks; may be NULL
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_BAD_STATE: has begun already
 * - DOCA_ERROR_NO_MEMORY: allocation failed
 * - DOCA_ERROR_INVALID_VALUE: an empty name
 */
DOCA_EXPERIMENTAL
doca_error_t doca_argp_init(const char *program_name, void *program_config);

/**
 * doca_argp_register_param() - register a parameter
 * @input_param: the parameter; the library's from here on, whatever the result
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_BAD_STATE: not begun, started already, or registered already
 * - DOCA_ERROR_INITIALIZATION: it lacks a name, type, description or callback, or a setter found no
 *   memory
 * - DOCA_ERROR_INVALID_VALUE: NULL, no name at all ("", "-x", "a=b", "a b"), or one that is
 * reserved (h, help, j, json) or that another parameter of the program has
 */
DOCA_EXPERIMENTAL
doca_error_t doca_argp_register_param(struct doca_argp_param *input_param);

/**
 * doca_argp_register_cmd() - register a command
 * @input_cmd: the command; the library's from here on, whatever the result
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_BAD_STATE: not begun, started already, or registered already
 * - DOCA_ERROR_INITIALIZATION: it lacks a name, description or callback, or a setter found no
 * memory
 * - DOCA_ERROR_INVALID_VALUE: NULL, no name at all ("", "-x"), or one that another command of the
 *   program has
 */
DOCA_EXPERIMENTAL
doca_error_t doca_argp_register_cmd(struct doca_argp_cmd *input_cmd);

/**
 * doca_argp_register_version_callback() - set what --version does
 * @callback: the callback; gets a bool * that is true, and the program's configuration. The last
 *   one that was set counts
 *
 * After a callback that succeeds the process ends with success. One that fails ends
 * doca_argp_start() with its result.
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_BAD_STATE: not begun, or started already
 * - DOCA_ERROR_INVALID_VALUE: NULL
 */
DOCA_EXPERIMENTAL
doca_error_t doca_argp_register_version_callback(doca_argp_param_cb_t callback);

/**
 * doca_argp_register_validation_callback() - set the check of the whole configuration
 * @callback: the callback; the last one that was set counts
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_BAD_STATE: not begun, or started already
 * - DOCA_ERROR_INVALID_VALUE: NULL
 */
DOCA_EXPERIMENTAL
doca_error_t doca_argp_register_validation_callback(doca_argp_validation_cb_t callback);

/**
 * doca_argp_register_logger_callback() - set where the parser's messages go
 * @callback: the callback
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_BAD_STATE: not begun
 * - DOCA_ERROR_ALREADY_EXIST: set before, and not disabled since
 * - DOCA_ERROR_INVALID_VALUE: NULL
 */
DOCA_EXPERIMENTAL
doca_error_t doca_argp_register_logger_callback(doca_argp_logger_cb_t callback);

/**
 * doca_argp_disable_logger_callback() - let the parser be silent, with and without a callback
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_BAD_STATE: not begun
 */
DOCA_EXPERIMENTAL
doca_error_t doca_argp_disable_logger_callback(void);

/**
 * doca_argp_start() - parse the command line, and the JSON file that it may name
 * @argc: number of words
 * @argv: the words, the program's name first; not kept
 *
 * Everything is read and checked before the first callback runs. Then the log levels are set, and
 * the callbacks run: DPDK's, those of the parameters in the order of the file and then of the
 * command line, those of the commands, and the validation.
 *
 * May be called once. Ends the process for --help and --version.
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_BAD_STATE: not begun, or started already
 * - DOCA_ERROR_INITIALIZATION: a parameter or command was refused when it was registered
 * - DOCA_ERROR_IO_FAILED: the JSON file cannot be read
 * - DOCA_ERROR_INVALID_VALUE: no words; a flag or command that there is not, a value that is
 * missing, of the wrong type, out of range or names no device; a parameter given twice, beside a
 * singular one or, in a file, for the command line only; a mandatory one that is missing; or a file
 * that is no JSON, too large or, unless doca_argp_disable_pedantic_config_parsing() was called, has
 * a field that nobody registered
 * - DOCA_ERROR_NO_MEMORY: allocation failed
 * - DOCA_ERROR_NOT_SUPPORTED: a representor of a device that has none, or a kind of DPDK device
 * that is not known
 * - what a callback returned, or what doca_dev_open() or doca_dev_rep_open() did
 */
DOCA_EXPERIMENTAL
doca_error_t doca_argp_start(int argc, char **argv);

/**
 * doca_argp_destroy() - end; frees the parameters and commands that were registered
 *
 * Those that were not stay the caller's. The values that callbacks got become invalid; open devices
 * stay open. doca_argp_init() may follow.
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_BAD_STATE: not begun, or called by a callback of doca_argp_start()
 */
DOCA_EXPERIMENTAL
doca_error_t doca_argp_destroy(void);

/**
 * doca_argp_set_dpdk_program() - let the words that are not the program's go to DPDK
 * @callback: gets them; NULL takes it back
 *
 * The words before "--" are DPDK's, those behind it the program's. Without "--" all are DPDK's,
 * unless the first of them is -h, -v, -j or the long form of one of these: then all are the
 * program's. Has no effect if not begun, or started already.
 */
DOCA_EXPERIMENTAL
void doca_argp_set_dpdk_program(doca_argp_dpdk_cb_t callback);

/**
 * doca_argp_param_create() - create a parameter
 * @param: where it is put; the caller's until registered
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: NULL
 * - DOCA_ERROR_NO_MEMORY: allocation failed
 * - DOCA_ERROR_BAD_STATE: not begun, or started already
 */
DOCA_EXPERIMENTAL
doca_error_t doca_argp_param_create(struct doca_argp_param **param);

/*
 * The setters below copy what they get. They have no effect on NULL and on a parameter that is
 * registered. A setter that finds no memory is told by the registration.
 */

/**
 * doca_argp_param_set_short_name() - set the short name
 * @param: the parameter
 * @name: without the dash; one letter or more; NULL: none
 */
DOCA_EXPERIMENTAL
void doca_argp_param_set_short_name(struct doca_argp_param *param, const char *name);

/**
 * doca_argp_param_set_long_name() - set the long name
 * @param: the parameter
 * @name: without the dashes; also the name of the field in a JSON file; NULL: none
 */
DOCA_EXPERIMENTAL
void doca_argp_param_set_long_name(struct doca_argp_param *param, const char *name);

/**
 * doca_argp_param_set_arguments() - set what the usage text shows for the value
 * @param: the parameter
 * @arguments: such as "<path>"; NULL: what fits the type
 */
DOCA_EXPERIMENTAL
void doca_argp_param_set_arguments(struct doca_argp_param *param, const char *arguments);

/**
 * doca_argp_param_set_description() - set the description
 * @param: the parameter
 * @description: for the usage text
 */
DOCA_EXPERIMENTAL
void doca_argp_param_set_description(struct doca_argp_param *param, const char *description);

/**
 * doca_argp_param_set_callback() - set the callback
 * @param: the parameter
 * @callback: gets the value
 */
DOCA_EXPERIMENTAL
void doca_argp_param_set_callback(struct doca_argp_param *param, doca_argp_param_cb_t callback);

/**
 * doca_argp_param_set_type() - set the type
 * @param: the parameter
 * @type: of its value; one that there is not is refused by the registration
 */
DOCA_EXPERIMENTAL
void doca_argp_param_set_type(struct doca_argp_param *param, enum doca_argp_type type);

/**
 * doca_argp_param_set_mandatory() - make the parameter one that has to be given
 * @param: the parameter
 *
 * That of a command only if the command is given, and none beside a singular one.
 */
DOCA_EXPERIMENTAL
void doca_argp_param_set_mandatory(struct doca_argp_param *param);

/**
 * doca_argp_param_set_cli_only() - make the parameter one that a JSON file may not give
 * @param: the parameter
 */
DOCA_EXPERIMENTAL
void doca_argp_param_set_cli_only(struct doca_argp_param *param);

/**
 * doca_argp_param_set_multiplicity() - make the parameter one that may be given more than once
 * @param: the parameter
 *
 * Its callback runs once for each value. A JSON file gives a list.
 */
DOCA_EXPERIMENTAL
void doca_argp_param_set_multiplicity(struct doca_argp_param *param);

/**
 * doca_argp_param_set_singular() - make the parameter one that stands alone
 * @param: the parameter
 *
 * No other parameter of the program may be given beside it; the flags that every program has may.
 */
DOCA_EXPERIMENTAL
void doca_argp_param_set_singular(struct doca_argp_param *param);

/**
 * doca_argp_param_set_inherited() - make the parameter one that the commands below take as well
 * @param: the parameter
 */
DOCA_EXPERIMENTAL
void doca_argp_param_set_inherited(struct doca_argp_param *param);

/**
 * doca_argp_param_set_hidden() - leave the parameter out of the usage text
 * @param: the parameter
 */
DOCA_EXPERIMENTAL
void doca_argp_param_set_hidden(struct doca_argp_param *param);

/**
 * doca_argp_param_destroy() - destroy a parameter that was not registered
 * @param: the parameter; need not have begun
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_BAD_STATE: it is registered, or was refused: it is the library's
 * - DOCA_ERROR_INVALID_VALUE: NULL
 */
DOCA_EXPERIMENTAL
doca_error_t doca_argp_param_destroy(struct doca_argp_param *param);

/**
 * doca_argp_cmd_create() - create a command
 * @cmd: where it is put; the caller's until registered
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: NULL
 * - DOCA_ERROR_NO_MEMORY: allocation failed
 * - DOCA_ERROR_BAD_STATE: not begun, or started already
 */
DOCA_EXPERIMENTAL
doca_error_t doca_argp_cmd_create(struct doca_argp_cmd **cmd);

/* As those of parameters, the setters below copy, and have no effect on a registered command. */

/**
 * doca_argp_cmd_set_name() - set the name
 * @cmd: the command
 * @name: as it is typed
 */
DOCA_EXPERIMENTAL
void doca_argp_cmd_set_name(struct doca_argp_cmd *cmd, const char *name);

/**
 * doca_argp_cmd_set_description() - set the description
 * @cmd: the command
 * @description: for the usage text
 */
DOCA_EXPERIMENTAL
void doca_argp_cmd_set_description(struct doca_argp_cmd *cmd, const char *description);

/**
 * doca_argp_cmd_set_callback() - set the callback
 * @cmd: the command
 * @callback: called when the command, or one below it, is given
 */
DOCA_EXPERIMENTAL
void doca_argp_cmd_set_callback(struct doca_argp_cmd *cmd, doca_argp_cmd_cb_t callback);

/**
 * doca_argp_cmd_set_hidden() - leave the command out of the usage text
 * @cmd: the command
 */
DOCA_EXPERIMENTAL
void doca_argp_cmd_set_hidden(struct doca_argp_cmd *cmd);

/**
 * doca_argp_cmd_register_param() - register a parameter of a command
 * @cmd: the command; need not be registered yet
 * @input_param: the parameter; the library's from here on, whatever the result
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_BAD_STATE: not begun, started already, or registered already
 * - DOCA_ERROR_INITIALIZATION: it lacks a name, type, description or callback, or a setter found no
 *   memory
 * - DOCA_ERROR_INVALID_VALUE: a NULL argument, no name at all, or one that is reserved or that
 *   another parameter of the command has; see doca_argp_register_param()
 */
DOCA_EXPERIMENTAL
doca_error_t doca_argp_cmd_register_param(struct doca_argp_cmd *cmd,
					  struct doca_argp_param *input_param);

/**
 * doca_argp_cmd_register_cmd() - register a command below a command
 * @cmd: the command; need not be registered yet
 * @input_cmd: the one below; the library's from here on, whatever the result but for the command
 *   itself or one above it, which stay whose they are
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_BAD_STATE: not begun, started already, or registered already
 * - DOCA_ERROR_INITIALIZATION: it lacks a name, description or callback, or a setter found no
 * memory
 * - DOCA_ERROR_INVALID_VALUE: a NULL argument, the command itself or one above it, no name at all,
 * or one that another command below the command has
 */
DOCA_EXPERIMENTAL
doca_error_t doca_argp_cmd_register_cmd(struct doca_argp_cmd *cmd, struct doca_argp_cmd *input_cmd);

/**
 * doca_argp_cmd_destroy() - destroy a command that was not registered, with what is below it
 * @cmd: the command; need not have begun
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_BAD_STATE: it is registered, or was refused: it is the library's
 * - DOCA_ERROR_INVALID_VALUE: NULL
 */
DOCA_EXPERIMENTAL
doca_error_t doca_argp_cmd_destroy(struct doca_argp_cmd *cmd);

/**
 * doca_argp_get_log_level() - the level that --log-level gave
 * @log_level: where the level is put, of enum doca_log_level; the global lower limit if none was
 *   given
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: NULL
 */
DOCA_EXPERIMENTAL
doca_error_t doca_argp_get_log_level(int *log_level);

/**
 * doca_argp_get_sdk_log_level() - the level that --sdk-log-level gave
 * @log_level: where the level is put, of enum doca_log_level; the global limit of the libraries if
 *   none was given
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: NULL
 */
DOCA_EXPERIMENTAL
doca_error_t doca_argp_get_sdk_log_level(int *log_level);

/**
 * doca_argp_register_dev_open_callback() - set how devices that the command line names are
 * opened
 * @callback: the callback; the last one that was set counts. doca_dev_open() if there is none
 * @usr_ctx: passed to it; may be NULL
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_BAD_STATE: not begun, or started already
 * - DOCA_ERROR_INVALID_VALUE: a NULL callback
 */
DOCA_EXPERIMENTAL
doca_error_t doca_argp_register_dev_open_callback(doca_argp_dev_open_cb_t callback, void *usr_ctx);

/**
 * doca_argp_disable_pedantic_config_parsing() - let a JSON file have fields that nobody
 * registered
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_BAD_STATE: not begun, or started already
 */
DOCA_EXPERIMENTAL
doca_error_t doca_argp_disable_pedantic_config_parsing(void);

#ifdef __cplusplus
}
#endif

#endif /* DOCA_ARGP_H */
