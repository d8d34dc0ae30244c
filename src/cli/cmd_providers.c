/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cove providers: which environments there are, and which of them this build and machine can
 * provide.
 */
#include "cli/report.h"
#include "cli/verbs.h"

#include <cove/env.h>

#include <stdio.h>

struct providers_args {
	bool json;
};

static int print_json(const struct cove_provider_info *rows, size_t count)
{
	CV_JSON json_t *list = json_array();
	CV_FREE char *text = NULL;

	for (size_t i = 0; list && i < count; i++)
		json_array_append_new(
			list, json_pack("{s:s,s:s,s:s,s:b,s:s?}", "name", rows[i].name, "title",
					rows[i].title, "description", rows[i].description,
					"available", rows[i].available, "detail", rows[i].detail));
	text = list ? cv_json_dump(list) : NULL;
	if (!text)
		return 1;
	puts(text);
	return 0;
}

static int run(const void *args, const struct words *words)
{
	const struct providers_args *a = args;
	size_t count = 0;
	const struct cove_provider_info *rows = cove_providers(&count);

	if (words->command) {
		report("cove providers takes no command");
		return EXIT_USAGE;
	}
	if (a->json)
		return print_json(rows, count);
	for (size_t i = 0; i < count; i++)
		printf("%-12s %-12s %s%s%s\n", rows[i].name,
		       rows[i].available ? "available" : "unavailable", rows[i].description,
		       rows[i].detail ? ": " : "", rows[i].detail ? rows[i].detail : "");
	return 0;
}

static const struct opt options[] = {
	{"json", 0, OPT_FLAG, .help = "print a JSON array",
	 .offset = offsetof(struct providers_args, json)},
	{NULL},
};

const struct verb verb_providers = {
	.name = "providers",
	.summary = "List the environments that cove knows",
	.usage = "[--json]",
	.example = "cove providers --json | jq -r '.[] | select(.available).name'",
	.size = sizeof(struct providers_args),
	.options = options,
	.run = run,
};
