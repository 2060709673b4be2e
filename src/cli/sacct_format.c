#include "cli/sacct_format.h"

#include <strings.h>

#include "base/num.h"

const char sacct_default_format[] = "JobID,JobName,Partition,Account,AllocCPUS,State,ExitCode";
const char sacct_brief_format[] = "JobID,State,ExitCode";
const char sacct_long_format[] =
	"JobID,JobIDRaw,JobName,Partition,MaxVMSize,MaxVMSizeNode,MaxVMSizeTask,AveVMSize,MaxRSS,"
	"MaxRSSNode,MaxRSSTask,AveRSS,MaxPages,MaxPagesNode,MaxPagesTask,AvePages,MinCPU,"
	"MinCPUNode,MinCPUTask,AveCPU,NTasks,AllocCPUS,Elapsed,State,ExitCode,AveCPUFreq,"
	"ReqCPUFreqMin,ReqCPUFreqMax,ReqCPUFreqGov,ReqMem,ConsumedEnergy,MaxDiskRead,"
	"MaxDiskReadNode,MaxDiskReadTask,AveDiskRead,MaxDiskWrite,MaxDiskWriteNode,"
	"MaxDiskWriteTask,AveDiskWrite,ReqTRES,AllocTRES,TRESUsageInAve,TRESUsageInMax,"
	"TRESUsageInMaxNode,TRESUsageInMaxTask,TRESUsageInMin,TRESUsageInMinNode,"
	"TRESUsageInMinTask,TRESUsageInTot,TRESUsageOutMax,TRESUsageOutMaxNode,"
	"TRESUsageOutMaxTask,TRESUsageOutAve,TRESUsageOutTot";

/* Names that old scripts still ask for. */
static const struct {
	const char *name, *successor;
} removed[] = {
	{ "ReqGRES", "ReqTRES" },
	{ "AllocGRES", "AllocTRES" },
};

#define WIDTH_MAX 4096

struct parsing {
	struct sacct_columns *ret;
	size_t cap;
};

static void add(struct parsing *p, const struct sacct_field *f, int width)
{
	struct sacct_columns *c = p->ret;

	assert(c->n < p->cap);
	c->fields[c->n] = f;
	c->columns[c->n].name = f->name;
	c->columns[c->n].width = width ? width : f->width;
	c->n++;
}

static int no_such_field(const char *name, struct err *err)
{
	for (size_t i = 0; i < ARRAY_LEN(removed); i++)
		if (strcasecmp(removed[i].name, name) == 0)
			return err_set(err, ERR_INVALID, NULL,
				       "Invalid field requested: \"%s\" (it was removed; "
				       "use %s)",
				       name, removed[i].successor);
	return err_set(err, ERR_INVALID, NULL, "Invalid field requested: \"%.200s\"", name);
}

/* What follows the %; 0 is the field's own width. */
static int parse_width(const char *text, int *ret, struct err *err)
{
	bool left = *text == '-';
	uint64_t w = 0;
	const char *end = num_digits_u64(text + left, &w);

	if (end == NULL || *end != '\0' || w > WIDTH_MAX)
		return err_set(err, ERR_INVALID, NULL,
			       "Invalid width \"%%%.40s\"; write %%20 or %%-20", text);
	*ret = left ? -(int)w : (int)w;
	return 0;
}

/* "JobID, State" is how people write it. */
static char *trimmed(char *word)
{
	size_t n;

	word += strspn(word, " \t");
	n = strlen(word);
	while (n > 0 && (word[n - 1] == ' ' || word[n - 1] == '\t'))
		n--;
	word[n] = '\0';
	return word;
}

static int add_word(struct parsing *p, char *word, struct err *err)
{
	char *percent = strchr(word, '%');
	const struct sacct_field *f;
	int width = 0;

	if (percent) {
		*percent = '\0';
		if (parse_width(percent + 1, &width, err) < 0)
			return -1;
	}
	if (strcasecmp(word, "ALL") == 0) {
		for (size_t i = 0; i < SACCT_FIELDS; i++)
			if (!(sacct_fields[i].flags & SACCT_OLD))
				add(p, &sacct_fields[i], width);
		return 0;
	}
	f = sacct_field_find(word);
	if (f == NULL)
		return no_such_field(word, err);
	add(p, f, width);
	return 0;
}

/* Most columns that a format of this length can give: every word may be ALL. */
static size_t most_columns(const char *format)
{
	size_t words = 1;

	for (; *format; format++)
		words += *format == ',';
	return words * SACCT_FIELDS;
}

int sacct_format_parse(const char *format, struct arena *arena, struct sacct_columns *ret,
		       struct err *err)
{
	struct parsing p = { ret, most_columns(format) };
	char *rest = arena_strdup(arena, format), *word;

	ret->n = 0;
	ret->fields = ARENA_ARRAY(arena, const struct sacct_field *, p.cap);
	ret->columns = ARENA_ARRAY(arena, struct table_column, p.cap);
	while ((word = strsep(&rest, ",")) != NULL) {
		word = trimmed(word);
		if (*word && add_word(&p, word, err) < 0)
			return -1;
	}
	if (ret->n == 0)
		return err_set(err, ERR_INVALID, NULL, "no field is named in the format");
	return 0;
}

void sacct_format_help(struct buf *out)
{
	int n = 0;

	for (size_t i = 0; i < SACCT_FIELDS; i++) {
		if (sacct_fields[i].flags & SACCT_OLD)
			continue;
		buf_printf(out, "%-19s%s", sacct_fields[i].name, ++n % 4 ? " " : "\n");
	}
	if (n % 4)
		buf_addc(out, '\n');
}
