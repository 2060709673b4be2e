-- The account tree: clusters, accounts, users, associations, QOS, wckeys, coordinators; how it
-- stood; reservations; who changed what.
--
-- Columns are the rows of core/assoc.def and its likes, by name and in order (a test compares them),
-- and behind them `changed`: the version of the tree (tree_version) that the row last changed with.
-- Rows are never taken away: a removed one is marked deleted, and adding it again revives it.  As in
-- 0001 times are seconds since 1970 UTC, NULL is not set, text compares by byte, and true is 1.

-- Counts the changes.  Who changes the tree holds the row's lock until the end, so versions are
-- committed in order.
CREATE TABLE tree_version (
	id      boolean PRIMARY KEY DEFAULT true CHECK (id), -- one row
	version bigint NOT NULL
);
INSERT INTO tree_version (version) VALUES (1);

ALTER TABLE cluster
	ADD COLUMN cluster_id     bigint,
	ADD COLUMN control_host   text COLLATE "C",
	ADD COLUMN control_port   bigint,
	ADD COLUMN rpc_version    bigint,
	ADD COLUMN dimensions     bigint,
	ADD COLUMN plugin_select  bigint,
	ADD COLUMN classification bigint,
	ADD COLUMN flags          bigint,
	ADD COLUMN fed_name       text COLLATE "C",
	ADD COLUMN fed_id         bigint,
	ADD COLUMN fed_state      bigint,
	ADD COLUMN fed_features   text COLLATE "C",
	ADD COLUMN modified_at    bigint,
	ADD COLUMN deleted        bigint NOT NULL DEFAULT 0,
	ADD COLUMN changed        bigint NOT NULL DEFAULT 0;

CREATE TABLE account (
	name           text COLLATE "C" NOT NULL,
	description    text COLLATE "C",
	organization   text COLLATE "C",
	user_coord     bigint,
	created_at     bigint,
	modified_at    bigint,
	deleted        bigint NOT NULL DEFAULT 0,
	made_by_record bigint NOT NULL DEFAULT 0,
	changed        bigint NOT NULL DEFAULT 0,
	PRIMARY KEY (name)
);

CREATE TABLE tally_user (
	name           text COLLATE "C" NOT NULL,
	uid            bigint,
	admin_level    bigint NOT NULL DEFAULT 1,
	created_at     bigint,
	modified_at    bigint,
	deleted        bigint NOT NULL DEFAULT 0,
	made_by_record bigint NOT NULL DEFAULT 0,
	changed        bigint NOT NULL DEFAULT 0,
	PRIMARY KEY (name)
);

-- ids count from 1 on each cluster: 1 is the root, 2 the user root below it.
CREATE TABLE association (
	cluster           text COLLATE "C" NOT NULL,
	id                bigint NOT NULL,
	account           text COLLATE "C" NOT NULL,
	user_name         text COLLATE "C" NOT NULL DEFAULT '',
	partition         text COLLATE "C" NOT NULL DEFAULT '',
	parent_id         bigint,
	shares            bigint NOT NULL DEFAULT 1,
	is_default        bigint NOT NULL DEFAULT 0,
	priority          bigint,
	comment           text COLLATE "C",
	grp_jobs          bigint,
	grp_jobs_accrue   bigint,
	grp_submit        bigint,
	grp_tres          text COLLATE "C",
	grp_tres_mins     text COLLATE "C",
	grp_tres_run_mins text COLLATE "C",
	grp_wall          bigint,
	max_jobs          bigint,
	max_jobs_accrue   bigint,
	max_submit        bigint,
	max_tres_pj       text COLLATE "C",
	max_tres_pn       text COLLATE "C",
	max_tres_mins_pj  text COLLATE "C",
	max_tres_run_mins text COLLATE "C",
	max_wall_pj       bigint,
	min_prio_thresh   bigint,
	default_qos       text COLLATE "C",
	qos               text COLLATE "C",
	created_at        bigint,
	modified_at       bigint,
	deleted           bigint NOT NULL DEFAULT 0,
	made_by_record    bigint NOT NULL DEFAULT 0,
	changed           bigint NOT NULL DEFAULT 0,
	PRIMARY KEY (cluster, id),
	UNIQUE (cluster, account, user_name, partition)
);

-- The tree as it stood: a row for each period in which an association had one place, shares and
-- life.  Other changes of an association make no period.
CREATE TABLE association_history (
	cluster    text COLLATE "C" NOT NULL,
	id         bigint NOT NULL,
	valid_from bigint NOT NULL,
	valid_to   bigint, -- NULL = still so
	parent_id  bigint,
	account    text COLLATE "C" NOT NULL,
	shares     bigint NOT NULL,
	deleted    bigint NOT NULL,
	first      boolean NOT NULL, -- it began with the association
	changed    bigint NOT NULL,
	PRIMARY KEY (cluster, id, valid_from)
);
-- Most associations never move: those that did are few.
CREATE INDEX association_history_moved ON association_history (cluster, id)
	WHERE valid_to IS NOT NULL OR NOT first;

CREATE TABLE qos (
	name                 text COLLATE "C" NOT NULL,
	id                   bigint NOT NULL UNIQUE,
	description          text COLLATE "C",
	flags                bigint,
	priority             bigint,
	usage_factor         bigint,
	usage_thres          bigint,
	limit_factor         bigint,
	preempt              text COLLATE "C",
	preempt_mode         bigint,
	preempt_exempt       bigint,
	grace_time           bigint,
	grp_jobs             bigint,
	grp_jobs_accrue      bigint,
	grp_submit           bigint,
	grp_tres             text COLLATE "C",
	grp_tres_mins        text COLLATE "C",
	grp_tres_run_mins    text COLLATE "C",
	grp_wall             bigint,
	max_tres_pj          text COLLATE "C",
	max_tres_pn          text COLLATE "C",
	max_tres_mins_pj     text COLLATE "C",
	max_wall_pj          bigint,
	min_tres_pj          text COLLATE "C",
	min_prio_thresh      bigint,
	max_jobs_pu          bigint,
	max_jobs_accrue_pu   bigint,
	max_submit_pu        bigint,
	max_tres_pu          text COLLATE "C",
	max_tres_run_mins_pu text COLLATE "C",
	max_jobs_pa          bigint,
	max_jobs_accrue_pa   bigint,
	max_submit_pa        bigint,
	max_tres_pa          text COLLATE "C",
	max_tres_run_mins_pa text COLLATE "C",
	created_at           bigint,
	modified_at          bigint,
	deleted              bigint NOT NULL DEFAULT 0,
	made_by_record       bigint NOT NULL DEFAULT 0,
	changed              bigint NOT NULL DEFAULT 0,
	PRIMARY KEY (name)
);

CREATE TABLE wckey (
	cluster        text COLLATE "C" NOT NULL,
	id             bigint NOT NULL,
	name           text COLLATE "C" NOT NULL,
	user_name      text COLLATE "C" NOT NULL,
	is_default     bigint NOT NULL DEFAULT 0,
	created_at     bigint,
	modified_at    bigint,
	deleted        bigint NOT NULL DEFAULT 0,
	made_by_record bigint NOT NULL DEFAULT 0,
	changed        bigint NOT NULL DEFAULT 0,
	PRIMARY KEY (cluster, id),
	UNIQUE (cluster, user_name, name)
);

CREATE TABLE coordinator (
	account    text COLLATE "C" NOT NULL,
	user_name  text COLLATE "C" NOT NULL,
	created_at bigint,
	deleted    bigint NOT NULL DEFAULT 0,
	changed    bigint NOT NULL DEFAULT 0,
	PRIMARY KEY (account, user_name)
);

CREATE TABLE reservation (
	cluster     text COLLATE "C" NOT NULL,
	id          bigint NOT NULL,
	start_at    bigint NOT NULL,
	end_at      bigint,
	name        text COLLATE "C",
	assocs      text COLLATE "C",
	flags       bigint,
	nodes       text COLLATE "C",
	node_inx    text COLLATE "C",
	tres        text COLLATE "C",
	forced_at   bigint,
	unused_wall bigint,
	comment     text COLLATE "C",
	changed     bigint NOT NULL DEFAULT 0,
	PRIMARY KEY (cluster, id, start_at)
);
CREATE INDEX reservation_time ON reservation (cluster, start_at);

-- Every change of the tree, in the transaction that made it.
CREATE TABLE txn (
	id          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	at          bigint NOT NULL,
	actor       text COLLATE "C" NOT NULL,
	uid         bigint,
	action      text COLLATE "C" NOT NULL,
	cluster     text COLLATE "C",
	account     text COLLATE "C",
	user_name   text COLLATE "C",
	where_text  text COLLATE "C" NOT NULL,
	info        text COLLATE "C" NOT NULL,
	before_json text COLLATE "C",
	after_json  text COLLATE "C"
);
CREATE INDEX txn_at ON txn (at);

-- What controllers are to be told, in the order of the changes: seq ascends without a later
-- transaction's number before an earlier one's, since both hold tree_version.
CREATE TABLE outbox (
	seq     bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	version bigint NOT NULL,
	kind    text COLLATE "C" NOT NULL, -- add_user, modify_association, remove_qos ...
	cluster text COLLATE "C",          -- NULL = every one
	id      bigint,                    -- of an association, QOS or wckey
	body    text COLLATE "C" NOT NULL  -- the row after the change, as JSON
);

INSERT INTO account (name, description, organization, created_at, changed) VALUES
	('root', 'default root account', 'root', extract(epoch FROM now())::bigint, 1);
INSERT INTO tally_user (name, uid, admin_level, created_at, changed) VALUES
	('root', 0, 3, extract(epoch FROM now())::bigint, 1);
INSERT INTO qos (name, id, description, priority, usage_factor, created_at, changed) VALUES
	('normal', 1, 'Normal QOS default', 0, 1000000, extract(epoch FROM now())::bigint, 1);

-- Root associations of a new cluster.
CREATE FUNCTION tally_plant(name text, at bigint, version bigint) RETURNS void LANGUAGE sql AS $$
	INSERT INTO association (cluster, id, parent_id, account, user_name, is_default, qos,
	                         created_at, changed) VALUES
		(name, 1, NULL, 'root', '', 0, 'normal', at, version),
		(name, 2, 1, 'root', 'root', 1, NULL, at, version)
	ON CONFLICT DO NOTHING;
	INSERT INTO association_history (cluster, id, valid_from, parent_id, account, shares, deleted,
	                                 first, changed) VALUES
		(name, 1, at, NULL, 'root', 1, 0, true, version),
		(name, 2, at, 1, 'root', 1, 0, true, version)
	ON CONFLICT DO NOTHING;
$$;
SELECT tally_plant(name, registered_at, 1) FROM cluster;
