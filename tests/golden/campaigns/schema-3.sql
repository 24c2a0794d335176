BEGIN TRANSACTION;
CREATE TABLE assignment (
	id INTEGER NOT NULL, 
	item INTEGER NOT NULL, 
	judge INTEGER NOT NULL, 
	shown TEXT NOT NULL, 
	letters TEXT NOT NULL, 
	state TEXT DEFAULT 'open' NOT NULL CHECK (state IN ('open', 'done', 'skipped', 'returned', 'expired')), 
	late BOOLEAN DEFAULT false NOT NULL, 
	opened BIGINT NOT NULL, 
	expires BIGINT NOT NULL, 
	PRIMARY KEY (id), 
	UNIQUE (item, judge), 
	FOREIGN KEY(item) REFERENCES item (id), 
	FOREIGN KEY(judge) REFERENCES judge (id)
);
INSERT INTO "assignment" VALUES(1,1,1,'[0, 1]','AB','done',0,1000000,1000000);
CREATE TABLE campaign (
	id INTEGER NOT NULL, 
	name TEXT NOT NULL, 
	kind TEXT NOT NULL, 
	state TEXT NOT NULL CHECK (state IN ('draft', 'open', 'paused', 'closed')), 
	languages TEXT NOT NULL, 
	design TEXT NOT NULL, 
	texts TEXT NOT NULL, 
	seed BIGINT NOT NULL, 
	digests TEXT NOT NULL, 
	systems TEXT NOT NULL, 
	budget INTEGER, 
	PRIMARY KEY (id)
);
INSERT INTO "campaign" VALUES(1,'test','rank','open','["en"]','{"alpha": 0.05, "attempts": 2, "blind": false, "block": "", "context": 1, "controls": 0.05, "distance": 20, "hours": null, "instructions": [], "judges": 2, "judges_per_item": 2, "kind": "rank", "lease": 1800, "looks": 4, "margin": null, "marks": true, "marks_may_change": true, "money": null, "other_outputs": false, "outputs": 5, "overlap": 0.25, "pass_mark": 0.0, "policy": "balanced", "quota": null, "rankings": null, "rate": null, "reference_is_system": false, "repeats": 0.05, "sample": null, "scales": [], "seconds": null, "seed": 0, "sentences": "", "show_reference": false, "side_by_side": false, "slots": 1, "strata": "proportional", "until": []}','{}',0,'{}','["S0", "S1", "S2"]',NULL);
CREATE TABLE event (
	id INTEGER NOT NULL, 
	time BIGINT NOT NULL, 
	actor TEXT NOT NULL, 
	kind TEXT NOT NULL, 
	detail TEXT NOT NULL, 
	PRIMARY KEY (id)
);
INSERT INTO "event" VALUES(1,0,'organiser','new','{"items": 3}');
INSERT INTO "event" VALUES(2,0,'organiser','judges','{"added": 2}');
INSERT INTO "event" VALUES(3,0,'organiser','state','{"after": "open", "before": "draft"}');
CREATE TABLE identity (
	id INTEGER NOT NULL, 
	judge INTEGER NOT NULL, 
	campaign INTEGER NOT NULL, 
	provider TEXT NOT NULL, 
	external_id TEXT NOT NULL, 
	session_digest TEXT NOT NULL, 
	PRIMARY KEY (id), 
	UNIQUE (campaign, provider, external_id), 
	UNIQUE (judge), 
	FOREIGN KEY(judge) REFERENCES judge (id), 
	FOREIGN KEY(campaign) REFERENCES campaign (id)
);
CREATE TABLE item (
	id INTEGER NOT NULL, 
	sentence INTEGER NOT NULL, 
	purpose TEXT NOT NULL CHECK (purpose IN ('main', 'repeat', 'control', 'tutorial')), 
	policy TEXT NOT NULL, 
	wanted INTEGER, 
	given INTEGER DEFAULT '0' NOT NULL CHECK (given >= 0), 
	parked BOOLEAN DEFAULT false NOT NULL, 
	expected TEXT, 
	origin INTEGER, 
	freed BIGINT, 
	PRIMARY KEY (id), 
	CHECK ((origin IS NOT NULL) = (purpose = 'repeat')), 
	FOREIGN KEY(sentence) REFERENCES sentence (id), 
	FOREIGN KEY(origin) REFERENCES item (id)
);
INSERT INTO "item" VALUES(1,4,'main','balanced',1,1,0,NULL,NULL,NULL);
INSERT INTO "item" VALUES(2,2,'main','balanced',1,0,0,NULL,NULL,NULL);
INSERT INTO "item" VALUES(3,1,'main','balanced',2,0,0,NULL,NULL,NULL);
CREATE TABLE item_output (
	id INTEGER NOT NULL, 
	item INTEGER NOT NULL, 
	position INTEGER NOT NULL, 
	output INTEGER NOT NULL, 
	replacement TEXT DEFAULT '' NOT NULL, 
	PRIMARY KEY (id), 
	UNIQUE (item, position), 
	UNIQUE (item, output, replacement), 
	FOREIGN KEY(item) REFERENCES item (id), 
	FOREIGN KEY(output) REFERENCES output (id)
);
INSERT INTO "item_output" VALUES(1,1,0,7,'');
INSERT INTO "item_output" VALUES(2,1,1,8,'');
INSERT INTO "item_output" VALUES(3,2,0,4,'');
INSERT INTO "item_output" VALUES(4,2,1,5,'');
INSERT INTO "item_output" VALUES(5,2,2,6,'');
INSERT INTO "item_output" VALUES(6,3,0,1,'');
INSERT INTO "item_output" VALUES(7,3,1,2,'');
INSERT INTO "item_output" VALUES(8,3,2,3,'');
CREATE TABLE judge (
	id INTEGER NOT NULL, 
	campaign INTEGER NOT NULL, 
	name TEXT NOT NULL, 
	generation INTEGER DEFAULT '1' NOT NULL, 
	salt TEXT NOT NULL, 
	state TEXT DEFAULT 'active' NOT NULL CHECK (state IN ('active', 'blocked', 'withdrawn', 'forgotten')), 
	quota INTEGER, 
	language TEXT DEFAULT '' NOT NULL, 
	consent_version TEXT, 
	consent_time BIGINT, 
	seen BIGINT, 
	PRIMARY KEY (id), 
	UNIQUE (campaign, name), 
	FOREIGN KEY(campaign) REFERENCES campaign (id)
);
INSERT INTO "judge" VALUES(1,1,'j0',1,'CBRpeRUH5bTEeAUy','active',NULL,'',NULL,NULL,1000000);
INSERT INTO "judge" VALUES(2,1,'j1',1,'COWjoguWjUuytSyb','active',NULL,'',NULL,NULL,NULL);
CREATE TABLE judgment (
	id INTEGER NOT NULL, 
	assignment INTEGER NOT NULL, 
	revision INTEGER NOT NULL CHECK (revision >= 1), 
	answer TEXT, 
	skip TEXT, 
	comment TEXT NOT NULL, 
	active_ms BIGINT, 
	total_ms BIGINT, 
	client_time TEXT, 
	server_time BIGINT NOT NULL, 
	digest TEXT NOT NULL, 
	display TEXT DEFAULT '' NOT NULL, 
	flagged BOOLEAN DEFAULT false NOT NULL, 
	PRIMARY KEY (id), 
	CHECK ((answer IS NULL) = (skip IS NOT NULL)), 
	UNIQUE (assignment, revision), 
	FOREIGN KEY(assignment) REFERENCES assignment (id)
);
INSERT INTO "judgment" VALUES(1,1,1,'{"A": 1, "B": 1}',NULL,'',NULL,NULL,NULL,1000000,'cbf12ea46e0001085aac699986f916c19235cff3964a265a1612f0e977425441','{}',0);
CREATE TABLE link (
	role TEXT NOT NULL CHECK (role IN ('campaign', 'admin', 'join')), 
	salt TEXT NOT NULL, 
	PRIMARY KEY (role)
);
INSERT INTO "link" VALUES('campaign','OJhovHbhBVZnvXop');
INSERT INTO "link" VALUES('admin','bUyuN_wFe6BMPkj4');
INSERT INTO "link" VALUES('join','5P8uJ1W5P_9HYhZl');
CREATE TABLE output (
	id INTEGER NOT NULL, 
	sentence INTEGER NOT NULL, 
	text TEXT NOT NULL, 
	systems TEXT NOT NULL, 
	digest TEXT NOT NULL, 
	PRIMARY KEY (id), 
	UNIQUE (sentence, digest), 
	FOREIGN KEY(sentence) REFERENCES sentence (id)
);
INSERT INTO "output" VALUES(1,1,'to goes dog dog thes thes the cat school to very goes to red home to goess goes red dog school home the sees very goes the school home very','["S0"]','e8f33207cbff4da183ccd5f62b6e4e8f');
INSERT INTO "output" VALUES(2,1,'to goes dogs dog the the the cats school tos very goes to reds home tos goess goes red dog schools home the seess very goes the school home very','["S1"]','7645fa062625522d9ad61dc430354ca7');
INSERT INTO "output" VALUES(3,1,'to goes dog dog the the the cat school to very goess to red home tos goes goes red dogs school home the sees very goes the school home very','["S2"]','023fa96bade6dab78f6d599431fb3243');
INSERT INTO "output" VALUES(4,2,'homes the school home cats to goess the red','["S0"]','2b1cde58e84ecfff2cbdaf1b8deabfdb');
INSERT INTO "output" VALUES(5,2,'home the school home cat to goess the red','["S1"]','18286d41eb3006e13c5f4d8e21a6db8d');
INSERT INTO "output" VALUES(6,2,'home the school home cat to goes the red','["S2"]','e924bceaaeca3900d4ea7673caa2bcd4');
INSERT INTO "output" VALUES(7,4,'goes dog cats home school','["S0", "S1"]','6f0089a45c2853c8c75b3a3bb377bb99');
INSERT INTO "output" VALUES(8,4,'goes dog cat home school','["S2"]','9d9e1c7baaefae3d447c6280ed37e7c5');
CREATE TABLE schema (
	id INTEGER NOT NULL CHECK (id = 1), 
	version INTEGER NOT NULL, 
	program TEXT NOT NULL, 
	PRIMARY KEY (id)
);
INSERT INTO "schema" VALUES(1,3,'errata 0.1.0');
CREATE TABLE sentence (
	id INTEGER NOT NULL, 
	campaign INTEGER NOT NULL, 
	number INTEGER NOT NULL CHECK (number >= 0), 
	text TEXT NOT NULL, 
	document TEXT NOT NULL, 
	stratum TEXT NOT NULL, 
	probability FLOAT NOT NULL, 
	reference TEXT DEFAULT '' NOT NULL, 
	PRIMARY KEY (id), 
	UNIQUE (campaign, number), 
	FOREIGN KEY(campaign) REFERENCES campaign (id)
);
INSERT INTO "sentence" VALUES(1,1,0,'to goes dog dog the the the cat school to very goes to red home to goes goes red dog school home the sees very goes the school home very','','30+ tokens, 3 outputs',1.0,'');
INSERT INTO "sentence" VALUES(2,1,1,'home the school home cat to goes the red','','0-9 tokens, 3 outputs',1.0,'');
INSERT INTO "sentence" VALUES(3,1,2,'the very red a school sees the very red the to school school sees very school a the a sees a the dog to goes dog','','20-29 tokens, 1 output',0.0,'');
INSERT INTO "sentence" VALUES(4,1,3,'goes dog cat home school','','0-9 tokens, 2 outputs',1.0,'');
CREATE TABLE writer (
	id INTEGER NOT NULL, 
	output INTEGER NOT NULL, 
	name TEXT NOT NULL, 
	PRIMARY KEY (id), 
	UNIQUE (output, name), 
	FOREIGN KEY(output) REFERENCES output (id)
);
CREATE INDEX ix_item_sentence ON item (sentence);
CREATE INDEX item_tutorial ON item (id) WHERE purpose = 'tutorial' AND NOT parked;
CREATE INDEX item_origin ON item (origin);
CREATE INDEX item_control ON item (id) WHERE purpose = 'control' AND NOT parked;
CREATE INDEX item_freed ON item (id) WHERE purpose = 'main' AND freed IS NOT NULL AND given < wanted AND NOT parked;
CREATE INDEX item_fresh ON item (id) WHERE purpose = 'main' AND given = 0 AND NOT parked;
CREATE INDEX item_begun ON item (id) WHERE purpose = 'main' AND given > 0 AND given < wanted AND NOT parked;
CREATE INDEX assignment_open ON assignment (expires) WHERE state = 'open';
CREATE INDEX assignment_judge ON assignment (judge, state, id, item);
CREATE INDEX ix_item_output_output ON item_output (output);
CREATE TRIGGER design_is_frozen BEFORE UPDATE OF design, kind, seed, digests ON campaign WHEN old.state <> 'draft' AND (new.design, new.kind, new.seed, new.digests) IS NOT (old.design, old.kind, old.seed, old.digests) BEGIN SELECT RAISE(ABORT, 'the design is frozen'); END;
CREATE TRIGGER judgments_stay BEFORE UPDATE ON judgment WHEN new.comment <> '' OR new.digest <> '' OR (new.id, new.assignment, new.revision, new.answer, new.skip, new.active_ms, new.total_ms, new.server_time) IS NOT (old.id, old.assignment, old.revision, old.answer, old.skip, old.active_ms, old.total_ms, old.server_time) BEGIN SELECT RAISE(ABORT, 'judgments are never updated'); END;
CREATE TRIGGER events_stay BEFORE UPDATE ON event BEGIN SELECT RAISE(ABORT, 'events are never updated'); END;
COMMIT;
