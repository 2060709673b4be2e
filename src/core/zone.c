#include "core/zone.h"

#include "base/num.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#define ZONE_DIR "/usr/share/zoneinfo"
#define LOCAL_FILE "/etc/localtime"
#define FILE_MAX_BYTES (1 << 20) /* today's largest has 4 kB */
#define NAME_SIZE 12		 /* "CEST", "+1245" */

struct local_type {
	int offset; /* seconds east of UTC */
	bool dst;
	char name[NAME_SIZE];
};

/* The day of a year on which a rule changes over, and the time on the old clock. */
struct rule_day {
	enum { DAY_WITHOUT_LEAP, DAY_OF_YEAR, DAY_OF_WEEK } kind; /* J1..J365, 0..365, Mm.w.d */
	int month, week, day;
	int time_s;
};

/* A standard time and, maybe, another from start to end of every year (POSIX's TZ). */
struct rule {
	bool known, has_dst;
	struct local_type std, dst;
	struct rule_day start, end;
};

struct zone {
	size_t n_changes;
	const int64_t *at;   /* ascending */
	const uint8_t *type; /* from that moment on; before the first it is type 0 */
	const struct local_type *types;
	struct rule rule; /* from the last change on, where known */
};

static const struct local_type utc_type = { 0, false, "UTC" };
static const struct zone utc = { .types = &utc_type };

const struct zone *zone_utc(void)
{
	return &utc;
}

static int64_t rule_day_in(const struct rule_day *d, int64_t year)
{
	if (d->kind != DAY_OF_WEEK) {
		bool after_leap_day =
			d->kind == DAY_WITHOUT_LEAP && d->day >= 60 && year_is_leap(year);
		int from = d->kind == DAY_WITHOUT_LEAP ? 1 : 0;
		return days_from_civil(year, 1, 1) + d->day - from + after_leap_day;
	}
	int64_t first = days_from_civil(year, d->month, 1);
	int in_month = (d->day - weekday_of_days(first) + 7) % 7 + 7 * (d->week - 1);
	if (in_month >= days_in_month(year, d->month)) /* week 5 is the last there is */
		in_month -= 7;
	return first + in_month;
}

static const struct local_type *rule_type_at(const struct rule *r, int64_t at)
{
	struct civil c;

	if (!r->has_dst)
		return &r->std;
	civil_from_seconds(at + r->std.offset, &c);
	int64_t start = rule_day_in(&r->start, c.year) * DAY_S + r->start.time_s - r->std.offset;
	int64_t end = rule_day_in(&r->end, c.year) * DAY_S + r->end.time_s - r->dst.offset;
	bool dst = start < end ? at >= start && at < end : at >= start || at < end;
	return dst ? &r->dst : &r->std;
}

static const struct local_type *type_at(const struct zone *z, int64_t at)
{
	size_t low = 0, high = z->n_changes; /* the last change <= at is before `high` */

	if (z->rule.known && (high == 0 || at >= z->at[high - 1]))
		return rule_type_at(&z->rule, at);
	while (low < high) {
		size_t mid = low + (high - low) / 2;
		if (z->at[mid] <= at)
			low = mid + 1;
		else
			high = mid;
	}
	return &z->types[low > 0 ? z->type[low - 1] : 0];
}

int zone_offset(const struct zone *z, int64_t at, const char **ret_name, bool *ret_dst)
{
	const struct local_type *t = type_at(z, at);

	if (ret_name != NULL)
		*ret_name = t->name;
	if (ret_dst != NULL)
		*ret_dst = t->dst;
	return t->offset;
}

void zone_civil(const struct zone *z, int64_t at, struct civil *ret)
{
	civil_from_seconds(at + type_at(z, at)->offset, ret);
}

void zone_tm(const struct zone *z, int64_t at, struct tm *ret)
{
	const struct local_type *t = type_at(z, at);
	struct civil c;

	civil_from_seconds(at + t->offset, &c);
	int64_t days = days_from_civil(c.year, c.month, c.day);
	*ret = (struct tm){
		.tm_sec = c.second,
		.tm_min = c.minute,
		.tm_hour = c.hour,
		.tm_mday = c.day,
		.tm_mon = c.month - 1,
		.tm_year = (int)(c.year - 1900),
		.tm_wday = weekday_of_days(days),
		.tm_yday = (int)(days - days_from_civil(c.year, 1, 1)),
		.tm_isdst = t->dst,
		.tm_gmtoff = t->offset,
		.tm_zone = t->name,
	};
}

int64_t zone_moment(const struct zone *z, const struct civil *c)
{
	int64_t year = c->year + floor_div(c->month - 1, 12);
	int month = (int)floor_mod(c->month - 1, 12) + 1;
	int64_t shown = days_from_civil(year, month, c->day) * DAY_S + c->hour * INT64_C(3600) +
			c->minute * INT64_C(60) + c->second;
	/* Offsets stay below a day, so these two moments lie on either side of the one wanted. */
	int before = type_at(z, shown - DAY_S)->offset;
	int after = type_at(z, shown + DAY_S)->offset;

	if (type_at(z, shown - before)->offset != before &&
	    type_at(z, shown - after)->offset == after)
		return shown - after;
	return shown - before;
}

/* --- rules as text --- */

static const char *rule_name_read(const char *s, char out[NAME_SIZE])
{
	bool quoted = *s == '<';
	size_t n;

	s += quoted;
	if (quoted)
		n = strcspn(s, ">");
	else
		n = strspn(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz");
	if (n < 3 || n >= NAME_SIZE || (quoted && s[n] != '>'))
		return NULL;
	memcpy(out, s, n);
	out[n] = '\0';
	return s + n + quoted;
}

/* [+-]h[:m[:s]] in seconds */
static const char *rule_time_read(const char *s, int hours_max, int *ret)
{
	int sign = *s == '-' ? -1 : 1;
	int64_t part[3] = { 0 };
	int n = 0;

	s += *s == '-' || *s == '+';
	s = num_digits(s, &part[n++]);
	while (s != NULL && *s == ':' && n < 3)
		s = num_digits(s + 1, &part[n++]);
	if (s == NULL || part[0] > hours_max || part[1] > 59 || part[2] > 59)
		return NULL;
	*ret = sign * (int)(part[0] * 3600 + part[1] * 60 + part[2]);
	return s;
}

/* A number from least to most, and the character that must follow it (0 = any). */
static const char *rule_number_read(const char *s, int least, int most, char then, int *ret)
{
	int64_t v;

	s = s != NULL ? num_digits(s, &v) : NULL;
	if (s == NULL || v < least || v > most || (then != 0 && *s != then))
		return NULL;
	*ret = (int)v;
	return s + (then != 0);
}

static const char *rule_day_read(const char *s, struct rule_day *d)
{
	if (*s == 'M') {
		d->kind = DAY_OF_WEEK;
		s = rule_number_read(s + 1, 1, 12, '.', &d->month);
		s = rule_number_read(s, 1, 5, '.', &d->week);
		s = rule_number_read(s, 0, 6, 0, &d->day);
	} else if (*s == 'J') {
		d->kind = DAY_WITHOUT_LEAP;
		s = rule_number_read(s + 1, 1, 365, 0, &d->day);
	} else {
		d->kind = DAY_OF_YEAR;
		s = rule_number_read(s, 0, 365, 0, &d->day);
	}
	d->time_s = 7200;
	if (s != NULL && *s == '/')
		s = rule_time_read(s + 1, 167, &d->time_s);
	return s;
}

static bool rule_parse(const char *s, struct rule *ret)
{
	struct rule r = { .known = true };
	int west;

	if ((s = rule_name_read(s, r.std.name)) == NULL ||
	    (s = rule_time_read(s, 24, &west)) == NULL)
		return false;
	r.std.offset = -west;
	if (*s != '\0') {
		r.has_dst = r.dst.dst = true;
		r.dst.offset = r.std.offset + 3600;
		if ((s = rule_name_read(s, r.dst.name)) == NULL)
			return false;
		if (*s != ',' && *s != '\0') {
			if ((s = rule_time_read(s, 24, &west)) == NULL)
				return false;
			r.dst.offset = -west;
		}
		if (*s == '\0')
			s = ",M3.2.0,M11.1.0"; /* what POSIX's implementations take */
		if (*s != ',' || (s = rule_day_read(s + 1, &r.start)) == NULL || *s != ',' ||
		    (s = rule_day_read(s + 1, &r.end)) == NULL || *s != '\0')
			return false;
	}
	*ret = r;
	return true;
}

/* --- zone files --- */

struct counts {
	size_t ut, std, leaps, times, types, chars;
};

#define HEADER_BYTES 44

static uint32_t be32(const uint8_t *p)
{
	return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static int64_t be_time(const uint8_t *p, size_t size)
{
	if (size == 4)
		return (int32_t)be32(p);
	return (int64_t)((uint64_t)be32(p) << 32 | be32(p + 4));
}

static bool header_read(const uint8_t *p, size_t n, struct counts *c)
{
	if (n < HEADER_BYTES || memcmp(p, "TZif", 4) != 0)
		return false;
	*c = (struct counts){ be32(p + 20), be32(p + 24), be32(p + 28),
			      be32(p + 32), be32(p + 36), be32(p + 40) };
	return c->ut <= 256 && c->std <= 256 && c->leaps <= FILE_MAX_BYTES &&
	       c->times <= FILE_MAX_BYTES && c->types >= 1 && c->types <= 256 &&
	       c->chars <= FILE_MAX_BYTES;
}

static size_t data_bytes(const struct counts *c, size_t time_size)
{
	return c->times * (time_size + 1) + c->types * 6 + c->chars + c->leaps * (time_size + 4) +
	       c->std + c->ut;
}

static bool types_read(const uint8_t *p, const struct counts *c, struct local_type *types)
{
	const char *chars = (const char *)p + c->types * 6;

	for (size_t i = 0; i < c->types; i++, p += 6) {
		size_t at = p[5];
		int offset = (int32_t)be32(p);
		if (at >= c->chars || offset <= -DAY_S || offset >= DAY_S)
			return false;
		size_t len = strnlen(chars + at, c->chars - at);
		if (len >= NAME_SIZE)
			return false;
		types[i].offset = offset;
		types[i].dst = p[4] != 0;
		memcpy(types[i].name, chars + at, len);
	}
	return true;
}

/* One data block behind its header. */
static bool data_read(const uint8_t *p, const struct counts *c, size_t time_size,
		      struct arena *arena, struct zone *z)
{
	int64_t *at = ARENA_ARRAY(arena, int64_t, c->times);
	uint8_t *type = ARENA_ARRAY(arena, uint8_t, c->times);
	struct local_type *types = ARENA_ARRAY(arena, struct local_type, c->types);

	for (size_t i = 0; i < c->times; i++) {
		at[i] = be_time(p + i * time_size, time_size);
		type[i] = p[c->times * time_size + i];
		if (type[i] >= c->types || (i > 0 && at[i] <= at[i - 1]))
			return false;
	}
	if (!types_read(p + c->times * (time_size + 1), c, types))
		return false;
	z->n_changes = c->times;
	z->at = at;
	z->type = type;
	z->types = types;
	return true;
}

/* The rule after the last block: "\nCET-1CEST,M3.5.0,M10.5.0/3\n", or nothing between. */
static bool footer_read(const uint8_t *p, size_t n, struct zone *z)
{
	char text[128];
	const uint8_t *end = n > 0 && *p == '\n' ? memchr(p + 1, '\n', n - 1) : NULL;

	if (end == NULL || (size_t)(end - p) > sizeof(text))
		return false;
	size_t len = (size_t)(end - p) - 1;
	memcpy(text, p + 1, len);
	text[len] = '\0';
	return len == 0 || rule_parse(text, &z->rule);
}

static bool file_read(const uint8_t *p, size_t n, struct arena *arena, struct zone *z)
{
	struct counts c;

	if (!header_read(p, n, &c))
		return false;
	size_t first = HEADER_BYTES + data_bytes(&c, 4);
	if (p[4] == '\0') /* version 1: 32 bits and no rule */
		return first <= n && c.leaps == 0 && data_read(p + HEADER_BYTES, &c, 4, arena, z);
	if (first > n || !header_read(p + first, n - first, &c))
		return false;
	p += first + HEADER_BYTES;
	n -= first + HEADER_BYTES;
	size_t second = data_bytes(&c, 8);
	/* A zone that counts leap seconds has another time scale than all records. */
	return second <= n && c.leaps == 0 && data_read(p, &c, 8, arena, z) &&
	       footer_read(p + second, n - second, z);
}

int zone_parse(const void *bytes, size_t n, struct arena *arena, const struct zone **ret,
	       struct err *err)
{
	struct zone *z = ARENA_NEW(arena, struct zone);

	if (!file_read(bytes, n, arena, z))
		return err_set(err, ERR_INVALID, "zone", "this is no usable time zone file");
	*ret = z;
	return 0;
}

static int zone_load(const char *path, struct arena *arena, const struct zone **ret,
		     struct err *err)
{
	struct stat st;
	int rc = -1, fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);

	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_size > FILE_MAX_BYTES) {
		err_set(err, ERR_NOT_FOUND, "zone", "%s is no time zone file", path);
	} else {
		uint8_t *bytes = arena_alloc(arena, (size_t)st.st_size);
		ssize_t n = read(fd, bytes, (size_t)st.st_size);
		if (n == st.st_size)
			rc = zone_parse(bytes, (size_t)n, arena, ret, err);
		else
			err_set(err, ERR_SYSTEM, "zone", "%s cannot be read", path);
	}
	if (fd >= 0)
		close(fd);
	return rc;
}

static bool name_is_safe(const char *name)
{
	size_t n =
		strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_+-/");

	return name[0] != '/' && name[0] != '\0' && name[n] == '\0' && n < 64;
}

int zone_open(const char *name, struct arena *arena, const struct zone **ret, struct err *err)
{
	char path[128];
	struct rule rule;

	if (strcmp(name, "UTC") == 0) {
		*ret = &utc;
		return 0;
	}
	snprintf(path, sizeof(path), ZONE_DIR "/%.64s", name);
	if (name_is_safe(name) && zone_load(path, arena, ret, err) == 0)
		return 0;
	if (rule_parse(name, &rule)) {
		struct zone *z = ARENA_NEW(arena, struct zone);
		z->types = &utc_type;
		z->rule = rule;
		*ret = z;
		return 0;
	}
	return err_set(err, ERR_INVALID, "zone",
		       "no time zone \"%.64s\"; write such as Europe/Berlin or UTC", name);
}

int zone_open_local(const char *tz, struct arena *arena, const struct zone **ret, struct err *err)
{
	if (tz == NULL) {
		if (access(LOCAL_FILE, F_OK) == 0)
			return zone_load(LOCAL_FILE, arena, ret, err);
		tz = "";
	}
	tz += *tz == ':';
	if (*tz == '\0') {
		*ret = &utc;
		return 0;
	}
	if (*tz == '/')
		return zone_load(tz, arena, ret, err);
	return zone_open(tz, arena, ret, err);
}
