-- The tables of jobs and what belongs to them.
--
-- Columns of job and step are the rows of core/job.def and core/step.def, by name and in order (a
-- test compares them); stamps says which record each field came from (core/merge.h).  Times are
-- seconds since 1970 UTC, NULL is unknown, text compares by byte.  No foreign key leads from or to
-- the large tables: the writer waits for nobody.  The unique keys begin with job_id, so that the
-- large tables can be distributed by it.

CREATE TABLE cluster (
	name          text COLLATE "C" PRIMARY KEY,
	registered_at bigint NOT NULL
);

-- Numbers of the TRES names, for the slurmdbd protocol.  Stored are names.
CREATE TABLE tres (
	id   bigint PRIMARY KEY,
	type text COLLATE "C" NOT NULL,
	name text COLLATE "C" NOT NULL DEFAULT '',
	UNIQUE (type, name)
);
INSERT INTO tres (id, type, name) VALUES
	(1, 'cpu', ''), (2, 'mem', ''), (3, 'energy', ''), (4, 'node', ''), (5, 'billing', ''),
	(6, 'fs', 'disk'), (7, 'vmem', ''), (8, 'pages', '');
CREATE SEQUENCE tres_id AS bigint START WITH 1001;

-- One partition per month of submission, one for all before and one for all after: job_span says
-- where they end.  Partitions are made by store/partition.c, never here.
CREATE TABLE job (
	cluster            text COLLATE "C" NOT NULL,
	job_id             bigint NOT NULL,
	submit_at          bigint NOT NULL,
	submit_inferred    bigint,
	row_id             bigint,
	sluid              bigint,
	user_name          text COLLATE "C",
	uid                bigint,
	group_name         text COLLATE "C",
	gid                bigint,
	account            text COLLATE "C",
	assoc_id           bigint,
	partition          text COLLATE "C",
	qos                text COLLATE "C",
	qos_id             bigint,
	qos_req            text COLLATE "C",
	wckey              text COLLATE "C",
	wckey_id           bigint,
	name               text COLLATE "C",
	work_dir           text COLLATE "C",
	submit_line        text COLLATE "C",
	std_in             text COLLATE "C",
	std_out            text COLLATE "C",
	std_err            text COLLATE "C",
	container          text COLLATE "C",
	constraints        text COLLATE "C",
	licenses           text COLLATE "C",
	mcs_label          text COLLATE "C",
	script_hash        text COLLATE "C",
	env_hash           text COLLATE "C",
	array_job_id       bigint,
	array_task_id      bigint,
	array_tasks        text COLLATE "C",
	array_task_pending bigint,
	array_max_tasks    bigint,
	het_job_id         bigint,
	het_offset         bigint,
	eligible_at        bigint,
	start_at           bigint,
	end_at             bigint,
	moments            text COLLATE "C",
	timelimit          bigint,
	state              bigint,
	reason             text COLLATE "C",
	exit               bigint,
	derived_exit       bigint,
	derived_es         text COLLATE "C",
	killed_by          bigint,
	failed_node        text COLLATE "C",
	restarts           bigint,
	nodes              text COLLATE "C",
	node_inx           text COLLATE "C",
	alloc_nodes        bigint,
	req_cpus           bigint,
	req_nodes          bigint,
	req_mem            bigint,
	req_mem_per        bigint,
	tres_req           text COLLATE "C",
	tres_alloc         text COLLATE "C",
	gres_used          text COLLATE "C",
	priority           bigint,
	reservation        text COLLATE "C",
	reservation_id     bigint,
	reservation_req    text COLLATE "C",
	flags              bigint,
	segment_size       bigint,
	exclusive          bigint,
	oversubscribe      bigint,
	comment            text COLLATE "C",
	admin_comment      text COLLATE "C",
	system_comment     text COLLATE "C",
	extra              text COLLATE "C",
	rec_elapsed        bigint,
	rec_max_rss        bigint,
	rec_cpu_us         bigint,
	visible_from       bigint,
	peak_rss           bigint,
	mem_used           bigint,
	mem_estimated      bigint,
	cpu_used_us        bigint,
	cpu_eff_ppm        bigint,
	mem_eff_ppm        bigint,
	oom_step           bigint,
	flaws              bigint,
	stamps             bytea NOT NULL
) PARTITION BY RANGE (submit_at);

-- The newest run of a job id first: how jobs are read.
CREATE UNIQUE INDEX job_key ON job (job_id, cluster, submit_at DESC);
CREATE INDEX job_array ON job (array_job_id) WHERE array_job_id IS NOT NULL;
CREATE INDEX job_het ON job (het_job_id) WHERE het_job_id IS NOT NULL;
-- Windows.  A job can be seen from the first of these moments on, whatever is asked about it: its
-- eligible time alone would miss jobs that were never eligible, or whose clock stepped back.
CREATE INDEX job_window ON job ((least(visible_from, start_at, end_at)), end_at);
CREATE INDEX job_user ON job (user_name, (least(visible_from, start_at, end_at)));
-- Few, and the ones that windows about now need.
CREATE INDEX job_open ON job (job_id) WHERE end_at IS NULL;
-- Fewer still: who was suspended when.
CREATE INDEX job_suspended ON job (job_id) WHERE moments IS NOT NULL;

CREATE TABLE step (
	cluster            text COLLATE "C" NOT NULL,
	job_id             bigint NOT NULL,
	submit_at          bigint NOT NULL,
	step_id            bigint NOT NULL,
	het_comp           bigint NOT NULL,
	name               text COLLATE "C",
	state              bigint,
	start_at           bigint,
	end_at             bigint,
	timelimit          bigint,
	exit               bigint,
	killed_by          bigint,
	nodes              text COLLATE "C",
	node_inx           text COLLATE "C",
	node_cnt           bigint,
	ntasks             bigint,
	task_dist          bigint,
	layout             text COLLATE "C",
	req_cpufreq_min    bigint,
	req_cpufreq_max    bigint,
	req_cpufreq_gov    bigint,
	tres_alloc         text COLLATE "C",
	submit_line        text COLLATE "C",
	container          text COLLATE "C",
	work_dir           text COLLATE "C",
	std_in             text COLLATE "C",
	std_out            text COLLATE "C",
	std_err            text COLLATE "C",
	moments            text COLLATE "C",
	user_cpu_us        bigint,
	sys_cpu_us         bigint,
	total_cpu_us       bigint,
	act_cpufreq        bigint,
	energy             bigint,
	in_max             text COLLATE "C",
	in_max_node        text COLLATE "C",
	in_max_task        text COLLATE "C",
	in_min             text COLLATE "C",
	in_min_node        text COLLATE "C",
	in_min_task        text COLLATE "C",
	in_ave             text COLLATE "C",
	in_tot             text COLLATE "C",
	out_max            text COLLATE "C",
	out_max_node       text COLLATE "C",
	out_max_task       text COLLATE "C",
	out_min            text COLLATE "C",
	out_min_node       text COLLATE "C",
	out_min_task       text COLLATE "C",
	out_ave            text COLLATE "C",
	out_tot            text COLLATE "C",
	stamps             bytea NOT NULL
) PARTITION BY RANGE (submit_at);

CREATE UNIQUE INDEX step_key ON step (job_id, cluster, submit_at, step_id, het_comp);

-- Of job ids with a record that names no submit time, or a resize: what each record said, in parts
-- (core/family.h), so that it can be given to another run of the job when more is known.  submit_at
-- is the part's key; negative ones are made from a time.
CREATE TABLE job_aside (LIKE job);
CREATE UNIQUE INDEX job_aside_key ON job_aside (job_id, cluster, submit_at);
CREATE TABLE step_aside (LIKE step);
CREATE UNIQUE INDEX step_aside_key ON step_aside (job_id, cluster, submit_at, step_id, het_comp);

-- Months that may have a partition of their own: oldest <= yyyymm < beyond.  Older rows are in
-- job_old, later ones in job_far.  generation counts the changes: who planned with another one
-- plans again.
CREATE TABLE job_span (
	id         boolean PRIMARY KEY DEFAULT true CHECK (id), -- one row
	oldest     integer NOT NULL,
	beyond     integer NOT NULL,
	generation bigint NOT NULL DEFAULT 0
);

-- What a partition holds, per cluster, so that a question opens only those it can meet.  Bounds
-- may be wider than the rows, never narrower.  month: yyyymm; 0 = job_old, 999999 = job_far.
CREATE TABLE job_month (
	cluster         text COLLATE "C" NOT NULL,
	month           integer NOT NULL,
	least_visible   bigint,          -- least of least(visible_from, start_at, end_at)
	greatest_end    bigint,          -- of the jobs that have ended
	open_jobs       bigint NOT NULL, -- without an end
	least_job_id    bigint NOT NULL, -- of job_id, array_job_id and het_job_id
	greatest_job_id bigint NOT NULL,
	max_life_s      bigint NOT NULL, -- greatest end_at - least(visible_from, start_at, end_at)
	PRIMARY KEY (cluster, month)
);

-- What people write about a job.  A value here wins over the record's, and no resend undoes it.
CREATE TABLE job_note (
	cluster            text COLLATE "C" NOT NULL,
	job_id             bigint NOT NULL,
	submit_at          bigint NOT NULL,
	wckey              text COLLATE "C",
	derived_exit       bigint,
	derived_es         text COLLATE "C",
	comment            text COLLATE "C",
	admin_comment      text COLLATE "C",
	system_comment     text COLLATE "C",
	extra              text COLLATE "C",
	noted_by           text COLLATE "C" NOT NULL,
	noted_at           bigint NOT NULL,
	PRIMARY KEY (job_id, cluster, submit_at)
);

-- A node's periods, each from one event to its next: up, or down with a reason.
CREATE TABLE node_event (
	cluster       text COLLATE "C" NOT NULL,
	node          text COLLATE "C" NOT NULL,
	start_at      bigint NOT NULL,
	end_at        bigint, -- start of the node's next period; NULL = the last one
	up            boolean NOT NULL,
	state         text COLLATE "C",
	state_raw     bigint,
	reason        text COLLATE "C",
	reason_uid    bigint,
	tres          text COLLATE "C",
	extra         text COLLATE "C",
	instance_id   text COLLATE "C",
	instance_type text COLLATE "C",
	PRIMARY KEY (cluster, node, start_at)
);
CREATE INDEX node_event_start ON node_event (cluster, start_at);

-- What a whole cluster had, each period from one record to the next.
CREATE TABLE cluster_tres_event (
	cluster  text COLLATE "C" NOT NULL,
	start_at bigint NOT NULL,
	end_at   bigint,
	nodes    text COLLATE "C",
	tres     text COLLATE "C",
	PRIMARY KEY (cluster, start_at)
);

-- Records that were refused, as they came.
CREATE TABLE quarantine (
	id           bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	received_at  bigint NOT NULL,
	source       text COLLATE "C" NOT NULL,
	who          text COLLATE "C" NOT NULL,
	kind         text COLLATE "C" NOT NULL,
	reason_field text COLLATE "C" NOT NULL,
	reason_text  text COLLATE "C" NOT NULL,
	raw          bytea NOT NULL,
	replayed_at  bigint
);
-- The same bytes refused again are found, not kept twice.
CREATE INDEX quarantine_raw ON quarantine (sha256(raw));

-- Which of the daemons on this database is the active one: every writing transaction checks epoch.
CREATE TABLE daemon (
	id    boolean PRIMARY KEY DEFAULT true CHECK (id), -- one row
	epoch bigint NOT NULL,
	name  text COLLATE "C" NOT NULL,
	since bigint NOT NULL
);
INSERT INTO daemon (epoch, name, since) VALUES (0, '', 0);

-- Complete records that ended before are answered "purged" and change nothing.
CREATE TABLE purge_horizon (
	cluster text COLLATE "C" NOT NULL,
	kind    text COLLATE "C" NOT NULL,
	before  bigint NOT NULL,
	PRIMARY KEY (cluster, kind)
);

-- For people who ask in SQL: names for states, timestamps for seconds, words for limits.

CREATE FUNCTION tally_state(bigint) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
	SELECT CASE $1
		WHEN 0 THEN 'PENDING' WHEN 1 THEN 'RUNNING' WHEN 2 THEN 'SUSPENDED'
		WHEN 3 THEN 'COMPLETED' WHEN 4 THEN 'CANCELLED' WHEN 5 THEN 'FAILED'
		WHEN 6 THEN 'TIMEOUT' WHEN 7 THEN 'NODE_FAIL' WHEN 8 THEN 'PREEMPTED'
		WHEN 9 THEN 'BOOT_FAIL' WHEN 10 THEN 'DEADLINE' WHEN 11 THEN 'OUT_OF_MEMORY'
		WHEN 1024 THEN 'REQUEUED' WHEN 8192 THEN 'RESIZING' WHEN 524288 THEN 'REVOKED'
	END
$$;

CREATE FUNCTION tally_limit(bigint) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
	SELECT CASE $1 WHEN -1 THEN 'unlimited' WHEN -2 THEN 'partition' ELSE $1::text END
$$;

CREATE FUNCTION tally_exit(bigint) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
	SELECT (($1 >> 8) & 255)::text || ':' || ($1 & 127)::text
$$;

CREATE FUNCTION tally_u64(bigint) RETURNS numeric LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
	SELECT CASE WHEN $1 < 0 THEN $1::numeric + 18446744073709551616 ELSE $1::numeric END
$$;

CREATE VIEW job_view AS SELECT
	cluster,
	job_id,
	to_timestamp(submit_at) AS submit_at,
	submit_inferred <> 0 AS submit_inferred,
	tally_u64(row_id) AS row_id,
	tally_u64(sluid) AS sluid,
	user_name,
	uid,
	group_name,
	gid,
	account,
	assoc_id,
	partition,
	qos,
	qos_id,
	qos_req,
	wckey,
	wckey_id,
	name,
	work_dir,
	submit_line,
	std_in,
	std_out,
	std_err,
	container,
	constraints,
	licenses,
	mcs_label,
	script_hash,
	env_hash,
	array_job_id,
	array_task_id,
	array_tasks,
	array_task_pending,
	array_max_tasks,
	het_job_id,
	het_offset,
	to_timestamp(nullif(eligible_at, 0)) AS eligible_at,
	to_timestamp(start_at) AS start_at,
	to_timestamp(end_at) AS end_at,
	moments,
	tally_limit(timelimit) AS timelimit,
	tally_state(state) AS state,
	reason,
	tally_exit(exit) AS exit,
	tally_exit(derived_exit) AS derived_exit,
	derived_es,
	killed_by,
	failed_node,
	restarts,
	nodes,
	node_inx,
	alloc_nodes,
	req_cpus,
	req_nodes,
	req_mem,
	req_mem_per,
	tres_req,
	tres_alloc,
	gres_used,
	priority,
	reservation,
	reservation_id,
	reservation_req,
	flags,
	segment_size,
	exclusive,
	oversubscribe,
	comment,
	admin_comment,
	system_comment,
	extra,
	rec_elapsed,
	rec_max_rss,
	rec_cpu_us,
	to_timestamp(visible_from) AS visible_from,
	peak_rss,
	mem_used,
	mem_estimated <> 0 AS mem_estimated,
	cpu_used_us,
	cpu_eff_ppm,
	mem_eff_ppm,
	oom_step,
	flaws
FROM job;

CREATE VIEW step_view AS SELECT
	cluster,
	job_id,
	to_timestamp(submit_at) AS submit_at,
	step_id,
	het_comp,
	name,
	tally_state(state) AS state,
	to_timestamp(start_at) AS start_at,
	to_timestamp(end_at) AS end_at,
	tally_limit(timelimit) AS timelimit,
	tally_exit(exit) AS exit,
	killed_by,
	nodes,
	node_inx,
	node_cnt,
	ntasks,
	task_dist,
	layout,
	req_cpufreq_min,
	req_cpufreq_max,
	req_cpufreq_gov,
	tres_alloc,
	submit_line,
	container,
	work_dir,
	std_in,
	std_out,
	std_err,
	moments,
	user_cpu_us,
	sys_cpu_us,
	total_cpu_us,
	act_cpufreq,
	energy,
	in_max,
	in_max_node,
	in_max_task,
	in_min,
	in_min_node,
	in_min_task,
	in_ave,
	in_tot,
	out_max,
	out_max_node,
	out_max_task,
	out_min,
	out_min_node,
	out_min_task,
	out_ave,
	out_tot
FROM step;
