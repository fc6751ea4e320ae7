/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Command line and JSON arguments.
 *
 * doca_argp_init() -> create, describe and register parameters and commands ->
 * doca_argp_start() -> doca_argp_destroy(). Registering a parameter or command gives it to the
 * library whatever the result.
 *
 * Thread: one at a time; there is one parser in a process.
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

/** Type of an argument's value. The value of JSON_OBJ has been used again. */
enum doca_argp_type {
	DOCA_ARGP_TYPE_UNKNOWN = 0, /**< unset */
	DOCA_ARGP_TYPE_STRING = 1, /**< text value */
	DOCA_ARGP_TYPE_INT = 2, /**< integer value */
	DOCA_ARGP_TYPE_BOOLEAN = 3, /**< flag */
	DOCA_ARGP_TYPE_JSON_OBJ = 4, /**< JSON object (gone after 3.0) */
	DOCA_ARGP_TYPE_DEVICE =
		4, /**< device identifier, opened by argp (replaces JSON_OBJ slot) */
	DOCA_ARGP_TYPE_DEVICE_REP = 5, /**< representor identifier, opened by argp */
	DOCA_ARGP_TYPE_DOUBLE = 6, /**< floating-point value */
};

/** Value of an argument of type DEVICE. */
struct doca_argp_device_ctx {
	struct doca_dev *dev;
	const char *devargs;
};

/** Value of an argument of type DEVICE_REP. */
struct doca_argp_device_rep_ctx {
	struct doca_argp_device_ctx dev_ctx;
	struct doca_dev_rep *dev_rep;
};

/**
 * doca_argp_param_cb_t() - an argument was given
 *
 * First its value, then the program's configuration.
 */
typedef doca_error_t (*doca_argp_param_cb_t)(void *, void *);

/**
 * doca_argp_cmd_cb_t() - a command was given
 *
 * With the program's configuration.
 */
typedef doca_error_t (*doca_argp_cmd_cb_t)(void *);

/**
 * doca_argp_dpdk_cb_t() - the rest of the command line is for DPDK
 * @argc: number of words
 * @argv: the words
 */
typedef doca_error_t (*doca_argp_dpdk_cb_t)(int argc, char **argv);

/**
 * doca_argp_validation_cb_t() - everything is parsed: is the configuration valid?
 *
 * With the program's configuration.
 */
typedef doca_error_t (*doca_argp_validation_cb_t)(void *);

/**
 * doca_argp_logger_cb_t() - a message of the parser
 * @level: of enum doca_log_level
 * @format: as for vprintf()
 * @args: as for vprintf()
 */
typedef doca_error_t (*doca_argp_logger_cb_t)(enum doca_log_level level, const char *format,
					      va_list args);

/**
 * doca_argp_dev_open_cb_t() - open a device that the command line names
 * @devinfo: the device
 * @usr_ctx: given at the registration
 * @dev: where the open device is put
 */
typedef doca_error_t (*doca_argp_dev_open_cb_t)(struct doca_devinfo *devinfo, void *usr_ctx,
						struct doca_dev **dev);

/**
 * doca_argp_usage() - print the usage text and exit
 */
DOCA_EXPERIMENTAL
void doca_argp_usage(void);

/**
 * doca_argp_init() - begin
 * @program_name: for the usage text
 * @program_config: passed to the callbacks
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_BAD_STATE: has begun already
 * - DOCA_ERROR_NO_MEMORY: allocation failed
 * - DOCA_ERROR_INVALID_VALUE: a NULL name
 */
DOCA_EXPERIMENTAL
doca_error_t doca_argp_init(const char *program_name, void *program_config);

/**
 * doca_argp_register_param() - register a parameter
 * @input_param: the parameter; the library's from here on, whatever the result
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_BAD_STATE: not begun, or registered already
 * - DOCA_ERROR_INITIALIZATION: it lacks a name, type, description or callback
 * - DOCA_ERROR_INVALID_VALUE: NULL, or a name that is taken
 */
DOCA_EXPERIMENTAL
doca_error_t doca_argp_register_param(struct doca_argp_param *input_param);

/**
 * doca_argp_register_cmd() - register a command
 * @input_cmd: the command; the library's from here on, whatever the result
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_BAD_STATE: not begun, or registered already
 * - DOCA_ERROR_INITIALIZATION: it lacks a name, description or callback
 * - DOCA_ERROR_INVALID_VALUE: NULL, or a name that is taken
 */
DOCA_EXPERIMENTAL
doca_error_t doca_argp_register_cmd(struct doca_argp_cmd *input_cmd);

/**
 * doca_argp_register_version_callback() - set what --version does
 * @callback: the callback
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_BAD_STATE: not begun
 * - DOCA_ERROR_INVALID_VALUE: NULL
 */
DOCA_EXPERIMENTAL
doca_error_t doca_argp_register_version_callback(doca_argp_param_cb_t callback);

/**
 * doca_argp_register_validation_callback() - set the check of the whole configuration
 * @callback: the callback
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_BAD_STATE: not begun
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
 * - DOCA_ERROR_ALREADY_EXIST: set before
 * - DOCA_ERROR_INVALID_VALUE: NULL
 */
DOCA_EXPERIMENTAL
doca_error_t doca_argp_register_logger_callback(doca_argp_logger_cb_t callback);

/**
 * doca_argp_disable_logger_callback() - let the parser be silent
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_BAD_STATE: not begun
 */
DOCA_EXPERIMENTAL
doca_error_t doca_argp_disable_logger_callback(void);

/**
 * doca_argp_start() - parse the command line, and the JSON file that it may name
 * @argc: number of words
 * @argv: the words
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_BAD_STATE: not begun, or started already
 * - DOCA_ERROR_INITIALIZATION: a registration failed
 * - DOCA_ERROR_IO_FAILED: the JSON file cannot be read
 * - DOCA_ERROR_INVALID_VALUE: an argument is not valid
 * - DOCA_ERROR_NO_MEMORY: allocation failed
 * - DOCA_ERROR_NOT_SUPPORTED: a type or option that is not supported
 */
DOCA_EXPERIMENTAL
doca_error_t doca_argp_start(int argc, char **argv);

/**
 * doca_argp_destroy() - end; frees all parameters and commands
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_BAD_STATE: not begun
 */
DOCA_EXPERIMENTAL
doca_error_t doca_argp_destroy(void);

/**
 * doca_argp_set_dpdk_program() - let the words that are not the program's go to DPDK
 * @callback: gets them
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
 * - DOCA_ERROR_BAD_STATE: not begun
 */
DOCA_EXPERIMENTAL
doca_error_t doca_argp_param_create(struct doca_argp_param **param);

/**
 * doca_argp_param_set_short_name() - set the short name
 * @param: the parameter
 * @name: without the dash
 */
DOCA_EXPERIMENTAL
void doca_argp_param_set_short_name(struct doca_argp_param *param, const char *name);

/**
 * doca_argp_param_set_long_name() - set the long name
 * @param: the parameter
 * @name: without the dashes
 */
DOCA_EXPERIMENTAL
void doca_argp_param_set_long_name(struct doca_argp_param *param, const char *name);

/**
 * doca_argp_param_set_arguments() - set what the usage text shows for the value
 * @param: the parameter
 * @arguments: such as "<path>"
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
 * @type: of its value
 */
DOCA_EXPERIMENTAL
void doca_argp_param_set_type(struct doca_argp_param *param, enum doca_argp_type type);

/**
 * doca_argp_param_set_mandatory() - make the parameter one that has to be given
 * @param: the parameter
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
 */
DOCA_EXPERIMENTAL
void doca_argp_param_set_multiplicity(struct doca_argp_param *param);

/**
 * doca_argp_param_set_singular() - make the parameter one that stands alone
 * @param: the parameter
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
 * @param: the parameter
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_BAD_STATE: it is registered
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
 * - DOCA_ERROR_BAD_STATE: not begun
 */
DOCA_EXPERIMENTAL
doca_error_t doca_argp_cmd_create(struct doca_argp_cmd **cmd);

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
 * @callback: called when the command is given
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
 * @cmd: the command
 * @input_param: the parameter; the library's from here on, whatever the result
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_BAD_STATE: registered already
 * - DOCA_ERROR_INITIALIZATION: it lacks a name, type, description or callback
 * - DOCA_ERROR_INVALID_VALUE: a NULL argument, or a name that is taken
 */
DOCA_EXPERIMENTAL
doca_error_t doca_argp_cmd_register_param(struct doca_argp_cmd *cmd,
					  struct doca_argp_param *input_param);

/**
 * doca_argp_cmd_register_cmd() - register a command below a command
 * @cmd: the command
 * @input_cmd: the one below; the library's from here on, whatever the result
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_BAD_STATE: registered already
 * - DOCA_ERROR_INITIALIZATION: it lacks a name, description or callback
 * - DOCA_ERROR_INVALID_VALUE: a NULL argument, or a name that is taken
 */
DOCA_EXPERIMENTAL
doca_error_t doca_argp_cmd_register_cmd(struct doca_argp_cmd *cmd, struct doca_argp_cmd *input_cmd);

/**
 * doca_argp_cmd_destroy() - destroy a command that was not registered
 * @cmd: the command
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_BAD_STATE: it is registered
 * - DOCA_ERROR_INVALID_VALUE: NULL
 */
DOCA_EXPERIMENTAL
doca_error_t doca_argp_cmd_destroy(struct doca_argp_cmd *cmd);

/**
 * doca_argp_get_log_level() - the level that --log-level gave
 * @log_level: where the level is put
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: NULL
 */
DOCA_EXPERIMENTAL
doca_error_t doca_argp_get_log_level(int *log_level);

/**
 * doca_argp_get_sdk_log_level() - the level that --sdk-log-level gave
 * @log_level: where the level is put
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: NULL
 */
DOCA_EXPERIMENTAL
doca_error_t doca_argp_get_sdk_log_level(int *log_level);

/**
 * doca_argp_register_dev_open_callback() - set how devices that the command line names are
 * opened
 * @callback: the callback
 * @usr_ctx: passed to it
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_BAD_STATE: not begun
 * - DOCA_ERROR_INVALID_VALUE: a NULL callback
 */
DOCA_EXPERIMENTAL
doca_error_t doca_argp_register_dev_open_callback(doca_argp_dev_open_cb_t callback, void *usr_ctx);

/**
 * doca_argp_disable_pedantic_config_parsing() - let a JSON file have fields that nobody
 * registered
 *
 * Return: DOCA_SUCCESS, or
 * - DOCA_ERROR_BAD_STATE: not begun
 */
DOCA_EXPERIMENTAL
doca_error_t doca_argp_disable_pedantic_config_parsing(void);

#ifdef __cplusplus
}
#endif

#endif /* DOCA_ARGP_H */
