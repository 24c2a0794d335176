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
INSERT INTO "assignment" VALUES(2,2,1,'[2, 1, 0]','ABC','done',0,1000000,1000000);
INSERT INTO "assignment" VALUES(3,3,2,'[1, 0, 2]','ABC','done',0,1000000,1000000);
INSERT INTO "assignment" VALUES(4,4,2,'[0, 2, 1]','ABC','done',0,1000000,1000000);
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
INSERT INTO "campaign" VALUES(1,'test','rank','open','["en"]','{"alpha": 0.05, "attempts": 2, "blind": false, "block": "", "context": 1, "controls": 0.05, "distance": 20, "hours": null, "instructions": [], "judges": 2, "judges_per_item": 2, "kind": "rank", "lease": 1800, "looks": 4, "margin": null, "marks": true, "marks_may_change": true, "money": null, "other_outputs": false, "outputs": 5, "overlap": 0.25, "policy": "balanced", "quota": 20, "rankings": null, "rate": null, "reference_is_system": false, "repeats": 0.05, "sample": null, "scales": [], "seconds": null, "seed": 0, "sentences": "", "side_by_side": false, "slots": 1, "strata": "proportional", "until": []}','{}',0,'{}','["S0", "S1", "S2"]',NULL);
CREATE TABLE event (
	id INTEGER NOT NULL, 
	time BIGINT NOT NULL, 
	actor TEXT NOT NULL, 
	kind TEXT NOT NULL, 
	detail TEXT NOT NULL, 
	PRIMARY KEY (id)
);
INSERT INTO "event" VALUES(1,0,'organiser','new','{"items": 7}');
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
INSERT INTO "item" VALUES(1,4,'main','balanced',2,1,0,NULL,NULL,NULL);
INSERT INTO "item" VALUES(2,1,'main','balanced',1,1,0,NULL,NULL,NULL);
INSERT INTO "item" VALUES(3,7,'main','balanced',1,1,0,NULL,NULL,NULL);
INSERT INTO "item" VALUES(4,8,'main','balanced',2,1,0,NULL,NULL,NULL);
INSERT INTO "item" VALUES(5,2,'main','balanced',1,0,0,NULL,NULL,NULL);
INSERT INTO "item" VALUES(6,5,'main','balanced',1,0,0,NULL,NULL,NULL);
INSERT INTO "item" VALUES(7,6,'control','balanced',NULL,0,0,'{"worse": 1, "better": 0}',NULL,NULL);
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
INSERT INTO "item_output" VALUES(3,2,0,1,'');
INSERT INTO "item_output" VALUES(4,2,1,2,'');
INSERT INTO "item_output" VALUES(5,2,2,3,'');
INSERT INTO "item_output" VALUES(6,3,0,13,'');
INSERT INTO "item_output" VALUES(7,3,1,14,'');
INSERT INTO "item_output" VALUES(8,3,2,15,'');
INSERT INTO "item_output" VALUES(9,4,0,16,'');
INSERT INTO "item_output" VALUES(10,4,1,17,'');
INSERT INTO "item_output" VALUES(11,4,2,18,'');
INSERT INTO "item_output" VALUES(12,5,0,4,'');
INSERT INTO "item_output" VALUES(13,5,1,5,'');
INSERT INTO "item_output" VALUES(14,5,2,6,'');
INSERT INTO "item_output" VALUES(15,6,0,9,'');
INSERT INTO "item_output" VALUES(16,6,1,10,'');
INSERT INTO "item_output" VALUES(17,7,0,11,'');
INSERT INTO "item_output" VALUES(18,7,1,12,'cat a sees');
CREATE TABLE judge (
	id INTEGER NOT NULL, 
	campaign INTEGER NOT NULL, 
	name TEXT NOT NULL, 
	generation INTEGER DEFAULT '1' NOT NULL, 
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
INSERT INTO "judge" VALUES(1,1,'j0',1,'active',NULL,'',NULL,NULL,NULL);
INSERT INTO "judge" VALUES(2,1,'j1',1,'active',NULL,'',NULL,NULL,NULL);
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
INSERT INTO "judgment" VALUES(2,2,1,'{"A": 1, "B": 1, "C": 1}',NULL,'',NULL,NULL,NULL,1000000,'b39e99710ba35a12d1ee8717bfcb061454f5b957c573c859edd4e707b330755d','{}',0);
INSERT INTO "judgment" VALUES(3,3,1,'{"A": 1, "B": 1, "C": 1}',NULL,'',NULL,NULL,NULL,1000000,'b39e99710ba35a12d1ee8717bfcb061454f5b957c573c859edd4e707b330755d','{}',0);
INSERT INTO "judgment" VALUES(4,4,1,'{"A": 1, "B": 1, "C": 1}',NULL,'',NULL,NULL,NULL,1000000,'b39e99710ba35a12d1ee8717bfcb061454f5b957c573c859edd4e707b330755d','{}',0);
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
INSERT INTO "output" VALUES(9,5,'likes the very red','["S0", "S1"]','20567095b9600525c3459a771a342a00');
INSERT INTO "output" VALUES(10,5,'likess the verys red','["S2"]','a93d68649a4587cbba9caa72455042f3');
INSERT INTO "output" VALUES(11,6,'cat a sees home dog school','["S0", "S1"]','de3364b74ec6b7a6bb7a327121c87292');
INSERT INTO "output" VALUES(12,6,'cat as sees homes dog school','["S2"]','467479c296a4ed6d19201837df4cc2d8');
INSERT INTO "output" VALUES(13,7,'tos red a dog red dog home sees schools to very to goes','["S0"]','0ce1a883cbcae4a6f3a9961c000bc783');
INSERT INTO "output" VALUES(14,7,'tos red a dogs red dog home sees schools to very tos goes','["S1"]','0020b7d6e9988b9904921b882a512f46');
INSERT INTO "output" VALUES(15,7,'to red as dog reds dogs home sees school to very tos goes','["S2"]','9bde23802d0c69de7a76d1bd9655b534');
INSERT INTO "output" VALUES(16,8,'to home to dog thes tos cat as goes tos sees to red school red the as sees to home homes verys a cats dog cat home sees very dog sees dog cat','["S0"]','fab31947b68fa938601c498a06c25d75');
INSERT INTO "output" VALUES(17,8,'to home tos dog thes to cat a goes tos seess to red school red thes a sees to home home very a cat dog cat home sees very dog seess dog cat','["S1"]','b1e292bed44bee339b5549301b7ffd81');
INSERT INTO "output" VALUES(18,8,'to homes to dog the to cat a goes to sees to red school reds the a sees to home home very as cat dog cat home sees very dog sees dogs cat','["S2"]','0ff9f537fd83ef6dc89e62f34fac6980');
CREATE TABLE schema (
	id INTEGER NOT NULL CHECK (id = 1), 
	version INTEGER NOT NULL, 
	program TEXT NOT NULL, 
	PRIMARY KEY (id)
);
INSERT INTO "schema" VALUES(1,1,'errata 0.1.0');
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
INSERT INTO "sentence" VALUES(5,1,4,'likes the very red','','0-9 tokens, 2 outputs',1.0,'');
INSERT INTO "sentence" VALUES(6,1,5,'cat a sees home dog school','','0-9 tokens, 2 outputs',0.0,'');
INSERT INTO "sentence" VALUES(7,1,6,'to red a dog red dog home sees school to very to goes','','10-19 tokens, 3 outputs',1.0,'');
INSERT INTO "sentence" VALUES(8,1,7,'to home to dog the to cat a goes to sees to red school red the a sees to home home very a cat dog cat home sees very dog sees dog cat','','30+ tokens, 3 outputs',1.0,'');
CREATE INDEX item_control ON item (id) WHERE purpose = 'control' AND NOT parked;
CREATE INDEX item_begun ON item (id) WHERE purpose = 'main' AND given > 0 AND given < wanted AND NOT parked;
CREATE INDEX item_origin ON item (origin);
CREATE INDEX item_fresh ON item (id) WHERE purpose = 'main' AND given = 0 AND NOT parked;
CREATE INDEX item_tutorial ON item (id) WHERE purpose = 'tutorial' AND NOT parked;
CREATE INDEX item_freed ON item (id) WHERE purpose = 'main' AND freed IS NOT NULL AND given < wanted AND NOT parked;
CREATE INDEX ix_item_sentence ON item (sentence);
CREATE INDEX ix_item_output_output ON item_output (output);
CREATE INDEX assignment_judge ON assignment (judge, state, id, item);
CREATE INDEX assignment_open ON assignment (expires) WHERE state = 'open';
CREATE TRIGGER design_is_frozen BEFORE UPDATE OF design, kind, seed, digests ON campaign WHEN old.state <> 'draft' AND (new.design, new.kind, new.seed, new.digests) IS NOT (old.design, old.kind, old.seed, old.digests) BEGIN SELECT RAISE(ABORT, 'the design is frozen'); END;
CREATE TRIGGER judgments_stay BEFORE UPDATE ON judgment WHEN new.comment <> '' OR new.digest <> '' OR (new.id, new.assignment, new.revision, new.answer, new.skip, new.active_ms, new.total_ms, new.server_time) IS NOT (old.id, old.assignment, old.revision, old.answer, old.skip, old.active_ms, old.total_ms, old.server_time) BEGIN SELECT RAISE(ABORT, 'judgments are never updated'); END;
CREATE TRIGGER events_stay BEFORE UPDATE ON event BEGIN SELECT RAISE(ABORT, 'events are never updated'); END;
COMMIT;
