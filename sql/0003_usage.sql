-- What was used: sums per hour, day and month of UTC, kept by the writer in the transaction of the
-- job's row that causes them, and the rates of what runs.
--
-- A charge is what a run is charged to: its cluster, association, account, user, QOS and wckey as
-- the job's row names them ('' and 0: not told).  Sums belong to charges, and who asks by account,
-- user, QOS or wckey joins them.
CREATE TABLE charge (
	id        bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	cluster   text COLLATE "C" NOT NULL,
	assoc_id  bigint NOT NULL,
	account   text COLLATE "C" NOT NULL,
	user_name text COLLATE "C" NOT NULL,
	qos_id    bigint NOT NULL,
	qos       text COLLATE "C" NOT NULL,
	wckey_id  bigint NOT NULL,
	wckey     text COLLATE "C" NOT NULL, -- without the * of a default
	UNIQUE (cluster, account, user_name, qos, wckey, assoc_id, qos_id, wckey_id)
);

-- tres: numbers of table tres, ascending; amount: of each, TRES-seconds (energy: J).  A row without
-- an amount goes.
CREATE TABLE usage_hour (
	period bigint NOT NULL, -- its first second
	charge bigint NOT NULL,
	tres   integer[] NOT NULL,
	amount bigint[] NOT NULL,
	PRIMARY KEY (period, charge)
) WITH (fillfactor = 70);
CREATE TABLE usage_day (LIKE usage_hour INCLUDING ALL) WITH (fillfactor = 70);
CREATE TABLE usage_month (LIKE usage_hour INCLUDING ALL) WITH (fillfactor = 70);

-- What runs: at a time t after all of their starts, runs hold sum(rate) x t - sum(rate x start).
-- rate_start is kept modulo 2^64, and so is the difference, which is a number that fits.  Runs that
-- have been suspended are uneven: counted, and not in the sums.
CREATE TABLE run_rate (
	charge     bigint PRIMARY KEY,
	runs       bigint NOT NULL,
	uneven     bigint NOT NULL,
	tres       integer[] NOT NULL,
	rate       bigint[] NOT NULL,
	rate_start bigint[] NOT NULL
) WITH (fillfactor = 70);

-- Runs that began before a window, and those that are uneven.
CREATE INDEX job_running ON job (start_at) WHERE end_at IS NULL AND start_at IS NOT NULL;

-- Runs longer than USAGE_LONG_S (core/usage.h) stand in no sum: they are added when read.
CREATE INDEX job_long ON job (end_at) WHERE end_at - start_at > 34560000;

-- For people who ask in SQL.
CREATE VIEW usage_hour_view AS
	SELECT to_timestamp(period) AS hour, cluster, assoc_id, account, user_name, qos_id, qos,
		wckey_id, wckey, concat_ws('/', t.type, nullif(t.name, '')) AS tres, a.amount
	FROM usage_hour u JOIN charge c ON c.id = u.charge
	CROSS JOIN LATERAL unnest(u.tres, u.amount) AS a(id, amount) JOIN tres t ON t.id = a.id;
CREATE VIEW usage_day_view AS
	SELECT to_timestamp(period) AS day, cluster, assoc_id, account, user_name, qos_id, qos,
		wckey_id, wckey, concat_ws('/', t.type, nullif(t.name, '')) AS tres, a.amount
	FROM usage_day u JOIN charge c ON c.id = u.charge
	CROSS JOIN LATERAL unnest(u.tres, u.amount) AS a(id, amount) JOIN tres t ON t.id = a.id;
CREATE VIEW usage_month_view AS
	SELECT to_timestamp(period) AS month, cluster, assoc_id, account, user_name, qos_id, qos,
		wckey_id, wckey, concat_ws('/', t.type, nullif(t.name, '')) AS tres, a.amount
	FROM usage_month u JOIN charge c ON c.id = u.charge
	CROSS JOIN LATERAL unnest(u.tres, u.amount) AS a(id, amount) JOIN tres t ON t.id = a.id;
CREATE VIEW run_rate_view AS
	SELECT cluster, assoc_id, account, user_name, qos_id, qos, wckey_id, wckey, q.runs, q.uneven,
		concat_ws('/', t.type, nullif(t.name, '')) AS tres, a.rate, a.rate_start
	FROM run_rate q JOIN charge c ON c.id = q.charge
	LEFT JOIN LATERAL unnest(q.tres, q.rate, q.rate_start) AS a(id, rate, rate_start) ON true
	LEFT JOIN tres t ON t.id = a.id;
