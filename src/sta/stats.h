/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counters. Each belongs to one EU, which alone writes it; readers on other threads see a value
 * that was right a moment ago. The lists here are the names that the API shows.
 */
#ifndef STA_STATS_H
#define STA_STATS_H

#include <stdint.h>

#define STA_EU_COUNTERS(X)                                                            \
	X(capsules) /* commands received */                                           \
	X(responses) /* sent */                                                       \
	X(bytes_from_host) /* fetched by RDMA READ */                                 \
	X(bytes_to_host) /* by RDMA WRITE */                                          \
	X(non_offloaded) /* commands given to the application */                      \
	X(invalid_capsules) /* answered with an error before any back-end saw them */ \
	X(short_capsules) /* below 64 bytes: connection ended */                      \
	X(backend_errors)                                                             \
	X(backend_timeouts)                                                           \
	X(late_returns) /* commands that came back after their time-out */            \
	X(dropped) /* requests of failed connections */                               \
	X(transport_errors)                                                           \
	X(slot_waits) /* requests that had to wait for a staging slot */              \
	X(crossed) /* commands that went to another EU's back-end queue */            \
	X(lost_events) /* the application did not take them in time */                \
	X(sleeps)

/* commands = completions + taken_back + what the controller has. */
#define STA_BEQ_COUNTERS(X)                               \
	X(commands)                                       \
	X(completions)                                    \
	X(errors)                                         \
	X(timeouts)                                       \
	X(waited) /* commands that found the ring full */ \
	X(bad_completions)                                \
	X(taken_back) /* of a controller that was stopped, or never answered */

#define STA_NS_COUNTERS(X) \
	X(reads)           \
	X(writes)          \
	X(compares)        \
	X(other_commands)  \
	X(read_bytes)      \
	X(written_bytes)   \
	X(compared_bytes)  \
	X(errors)

#define STA_COUNTER_FIELD(name) uint64_t name;

struct sta_eu_stats {
	STA_EU_COUNTERS(STA_COUNTER_FIELD)
};

struct sta_beq_stats {
	STA_BEQ_COUNTERS(STA_COUNTER_FIELD)
};

struct sta_ns_stats {
	STA_NS_COUNTERS(STA_COUNTER_FIELD)
};

/* Owner: adds; readers see the value before or after. Not locked: nobody else writes. */
static inline void sta_count_set(uint64_t *counter, uint64_t value)
{
	__atomic_store_n(counter, value, __ATOMIC_RELAXED);
}

static inline void sta_count(uint64_t *counter, uint64_t n)
{
	sta_count_set(counter, *counter + n);
}

/* Any thread. */
static inline uint64_t sta_count_read(const uint64_t *counter)
{
	return __atomic_load_n(counter, __ATOMIC_RELAXED);
}

#define STA_COUNTER_ONE(name) +1
#define STA_NUM_EU_COUNTERS   (0 STA_EU_COUNTERS(STA_COUNTER_ONE))
#define STA_NUM_BEQ_COUNTERS  (0 STA_BEQ_COUNTERS(STA_COUNTER_ONE))
#define STA_NUM_NS_COUNTERS   (0 STA_NS_COUNTERS(STA_COUNTER_ONE))

#endif
