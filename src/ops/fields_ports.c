/* SPDX-License-Identifier: Apache-2.0 */
/* Descriptors of the operations on ports. */
#include "base/clock.h"
#include "ops/fields.h"

#include <cove/port.h>

static const char *const states[] = {"listening", "not_listening", "unknown", NULL};

#define S struct cove_port
static const struct cv_field port_rows[] = {
	F(CV_STR, address, "address", "as it was bound"),
	F(CV_INT, port, "port", "its number"),
	F(CV_STR, process, "process", "handle of the process that holds it", .flags = CV_OMIT),
};
static const struct cv_struct port_struct = {
	.name = "port", .size = sizeof(S), .fields = port_rows, .count = CV_LEN(port_rows)};
#undef S

#define S struct cove_port_list_result
static const struct cv_field list_rows[] = {
	F(CV_OBJV, ports, "ports", "by port, then address", .sub = &port_struct,
	  OFFSET2(port_count)),
};
CV_DESCRIBE(port_list_result, "port_list_result", S, list_rows);
#undef S

#define S struct cove_port_opts
static const struct cv_field inspect_rows[] = {
	F(CV_STR, address, "address", "an IPv4 or IPv6 address; default 127.0.0.1", .max = 64),
	F(CV_INT, port, "port", "its number", .flags = CV_REQUIRED, .min = 1, .max = 65535),
};
CV_DESCRIBE(port_inspect, "port_inspect", S, inspect_rows);

static const struct cv_field wait_rows[] = {
	F(CV_STR, address, "address", "an IPv4 or IPv6 address; default 127.0.0.1", .max = 64),
	F(CV_INT, port, "port", "its number", .flags = CV_REQUIRED, .min = 1, .max = 65535),
	F(CV_ENUM, state, "state", "what to wait for", .names = states, .def = COVE_PORT_LISTENING),
	F(CV_INT, timeout_ms, "timeout_ms", "how long at most", .unit = "ms", .flags = CV_ZERO_OK,
	  .def = 30000, .max = CV_MS_MAX),
};
CV_DESCRIBE(port_wait, "port_wait", S, wait_rows);
#undef S

#define S struct cove_port_state_result
static const struct cv_field state_rows[] = {
	F(CV_ENUM, state, "state", "how it stands", .names = states),
	F(CV_STR, process, "process", "handle of who listens", .flags = CV_OMIT),
};
CV_DESCRIBE(port_state_result, "port_state_result", S, state_rows);
#undef S
