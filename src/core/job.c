#include "core/job.h"

const struct field job_fields[JOB_FIELDS] = {
#define F(name, type, flags, json, doc) \
	[JOB_##name] = { #name, FT_##type, flags, json, doc, offsetof(struct job, name) },
#include "core/job.def"
#undef F
};

const struct field step_fields[STEP_FIELDS] = {
#define F(name, type, flags, json, doc) \
	[STEP_##name] = { #name, FT_##type, flags, json, doc, offsetof(struct step, name) },
#include "core/step.def"
#undef F
};

static int find(const struct field *fields, int n, const char *name)
{
	for (int i = 0; i < n; i++)
		if (strcmp(fields[i].json, name) == 0 || strcmp(fields[i].name, name) == 0)
			return i;
	return -1;
}

int job_field_find(const char *name)
{
	return find(job_fields, JOB_FIELDS, name);
}

int step_field_find(const char *name)
{
	return find(step_fields, STEP_FIELDS, name);
}
