/* SPDX-License-Identifier: Apache-2.0 */
/* With jump_clock.c in a program that is no test itself: each SIGUSR2 is half a minute and more. */
#include <signal.h>

#include "jump_clock.h"

#define JUMP_S 31u

static void jump(int number)
{
	(void)number;
	jump_clock(JUMP_S);
}

__attribute__((constructor)) static void listen_to_signal(void)
{
	const struct sigaction action = {.sa_handler = jump, .sa_flags = SA_RESTART};

	(void)sigaction(SIGUSR2, &action, NULL);
}
