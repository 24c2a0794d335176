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
INSERT INTO "assignment" VALUES(1,2,1,'[0]','A','done',0,1000000,1000000);
INSERT INTO "assignment" VALUES(2,1,2,'[0]','A','done',0,1000000,1000000);
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
INSERT INTO "campaign" VALUES(1,'test','review','open','["en"]','{"alpha": 0.05, "attempts": 2, "blind": false, "block": "", "context": 1, "controls": 0.05, "distance": 20, "hours": null, "instructions": [], "judges": 2, "judges_per_item": 2, "kind": "review", "lease": 1800, "looks": 4, "margin": null, "marks": true, "marks_may_change": true, "money": null, "other_outputs": true, "outputs": 5, "overlap": 0.5, "pass_mark": 0.0, "policy": "balanced", "quota": null, "rankings": null, "rate": null, "reference_is_system": false, "repeats": 0, "sample": null, "scales": [], "seconds": null, "seed": 0, "sentences": "", "show_reference": false, "side_by_side": false, "slots": 1, "strata": "proportional", "until": []}','{}',0,'{}','["S0", "S1"]',NULL);
CREATE TABLE event (
	id INTEGER NOT NULL, 
	time BIGINT NOT NULL, 
	actor TEXT NOT NULL, 
	kind TEXT NOT NULL, 
	detail TEXT NOT NULL, 
	PRIMARY KEY (id)
);
INSERT INTO "event" VALUES(1,0,'organiser','new','{"items": 8}');
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
INSERT INTO "item" VALUES(1,2,'main','balanced',2,1,0,NULL,NULL,NULL);
INSERT INTO "item" VALUES(2,1,'main','balanced',1,1,0,NULL,NULL,NULL);
INSERT INTO "item" VALUES(3,3,'main','balanced',1,0,0,NULL,NULL,NULL);
INSERT INTO "item" VALUES(4,1,'main','balanced',2,0,0,NULL,NULL,NULL);
INSERT INTO "item" VALUES(5,4,'main','balanced',2,0,0,NULL,NULL,NULL);
INSERT INTO "item" VALUES(6,3,'main','balanced',2,0,0,NULL,NULL,NULL);
INSERT INTO "item" VALUES(7,2,'main','balanced',1,0,0,NULL,NULL,NULL);
INSERT INTO "item" VALUES(8,4,'main','balanced',1,0,0,NULL,NULL,NULL);
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
INSERT INTO "item_output" VALUES(1,1,0,3,'');
INSERT INTO "item_output" VALUES(2,2,0,2,'');
INSERT INTO "item_output" VALUES(3,3,0,6,'');
INSERT INTO "item_output" VALUES(4,4,0,1,'');
INSERT INTO "item_output" VALUES(5,5,0,8,'');
INSERT INTO "item_output" VALUES(6,6,0,5,'');
INSERT INTO "item_output" VALUES(7,7,0,4,'');
INSERT INTO "item_output" VALUES(8,8,0,7,'');
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
INSERT INTO "judge" VALUES(1,1,'j0',1,'active',NULL,'',NULL,NULL,1000000);
INSERT INTO "judge" VALUES(2,1,'j1',1,'active',NULL,'',NULL,NULL,1000000);
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
INSERT INTO "judgment" VALUES(1,1,1,'{"accept": true}',NULL,'',NULL,NULL,NULL,1000000,'ca4b337f77c948113c67a0554a20c59516fa708be4947ae97fa0992ea27ccad5','{}',0);
INSERT INTO "judgment" VALUES(2,2,1,'{"accept": true}',NULL,'',NULL,NULL,NULL,1000000,'ca4b337f77c948113c67a0554a20c59516fa708be4947ae97fa0992ea27ccad5','{}',0);
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
INSERT INTO "output" VALUES(3,2,'sees red to red the likes verys school sees','["S0"]','70fee4b7b5b23e1c7cb638705c67389e');
INSERT INTO "output" VALUES(4,2,'sees reds to red the likess very school sees','["S1"]','a7b6d47b3426800e3895ae55ff3b0085');
INSERT INTO "output" VALUES(5,3,'dogs cat verys school a red reds dog likess goes to likes a red home the school homes cat','["S0"]','97177c5d025608ae8edd30a32c2b37bb');
INSERT INTO "output" VALUES(6,3,'dog cat very school a red red dog likes goes to likes a reds home the schools home cat','["S1"]','1b4ebca3b8412938c927702f290bcf02');
INSERT INTO "output" VALUES(7,4,'a the a sees a the dog to goes dog red homes to red school a the very sees the likess sees likes','["S0"]','f2d789ebade0496ee1e896c22bd6efbb');
INSERT INTO "output" VALUES(8,4,'as the a sees a thes dog to goess dog red homes to red school a thes very seess the likes sees likess','["S1"]','152be7af81241f38f3e1590ab91fb368');
CREATE TABLE schema (
	id INTEGER NOT NULL CHECK (id = 1), 
	version INTEGER NOT NULL, 
	program TEXT NOT NULL, 
	PRIMARY KEY (id)
);
INSERT INTO "schema" VALUES(1,2,'errata 0.1.0');
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
INSERT INTO "sentence" VALUES(1,1,0,'to goes dog dog the the the cat school to very goes to red home to goes goes red dog school home the sees very goes the school home very','','30+ tokens, 2 outputs',1.0,'');
INSERT INTO "sentence" VALUES(2,1,1,'sees red to red the likes very school sees','','0-9 tokens, 2 outputs',1.0,'');
INSERT INTO "sentence" VALUES(3,1,2,'dog cat very school a red red dog likes goes to likes a red home the school home cat','','10-19 tokens, 2 outputs',1.0,'');
INSERT INTO "sentence" VALUES(4,1,3,'a the a sees a the dog to goes dog red home to red school a the very sees the likes sees likes','','20-29 tokens, 2 outputs',1.0,'');
CREATE TABLE writer (
	id INTEGER NOT NULL, 
	output INTEGER NOT NULL, 
	name TEXT NOT NULL, 
	PRIMARY KEY (id), 
	UNIQUE (output, name), 
	FOREIGN KEY(output) REFERENCES output (id)
);
INSERT INTO "writer" VALUES(1,1,'S0');
INSERT INTO "writer" VALUES(2,1,'ann');
INSERT INTO "writer" VALUES(3,1,'j1');
INSERT INTO "writer" VALUES(4,2,'S1');
INSERT INTO "writer" VALUES(5,2,'ann');
INSERT INTO "writer" VALUES(6,2,'j1');
INSERT INTO "writer" VALUES(7,3,'S0');
INSERT INTO "writer" VALUES(8,3,'j0');
INSERT INTO "writer" VALUES(9,4,'S1');
INSERT INTO "writer" VALUES(10,4,'j0');
INSERT INTO "writer" VALUES(11,5,'S0');
INSERT INTO "writer" VALUES(12,5,'ann');
INSERT INTO "writer" VALUES(13,5,'j1');
INSERT INTO "writer" VALUES(14,6,'S1');
INSERT INTO "writer" VALUES(15,6,'ann');
INSERT INTO "writer" VALUES(16,6,'j1');
INSERT INTO "writer" VALUES(17,7,'S0');
INSERT INTO "writer" VALUES(18,7,'j0');
INSERT INTO "writer" VALUES(19,8,'S1');
INSERT INTO "writer" VALUES(20,8,'j0');
CREATE INDEX item_origin ON item (origin);
CREATE INDEX item_begun ON item (id) WHERE purpose = 'main' AND given > 0 AND given < wanted AND NOT parked;
CREATE INDEX item_fresh ON item (id) WHERE purpose = 'main' AND given = 0 AND NOT parked;
CREATE INDEX item_control ON item (id) WHERE purpose = 'control' AND NOT parked;
CREATE INDEX item_tutorial ON item (id) WHERE purpose = 'tutorial' AND NOT parked;
CREATE INDEX ix_item_sentence ON item (sentence);
CREATE INDEX item_freed ON item (id) WHERE purpose = 'main' AND freed IS NOT NULL AND given < wanted AND NOT parked;
CREATE INDEX assignment_open ON assignment (expires) WHERE state = 'open';
CREATE INDEX assignment_judge ON assignment (judge, state, id, item);
CREATE INDEX ix_item_output_output ON item_output (output);
CREATE TRIGGER design_is_frozen BEFORE UPDATE OF design, kind, seed, digests ON campaign WHEN old.state <> 'draft' AND (new.design, new.kind, new.seed, new.digests) IS NOT (old.design, old.kind, old.seed, old.digests) BEGIN SELECT RAISE(ABORT, 'the design is frozen'); END;
CREATE TRIGGER judgments_stay BEFORE UPDATE ON judgment WHEN new.comment <> '' OR new.digest <> '' OR (new.id, new.assignment, new.revision, new.answer, new.skip, new.active_ms, new.total_ms, new.server_time) IS NOT (old.id, old.assignment, old.revision, old.answer, old.skip, old.active_ms, old.total_ms, old.server_time) BEGIN SELECT RAISE(ABORT, 'judgments are never updated'); END;
CREATE TRIGGER events_stay BEFORE UPDATE ON event BEGIN SELECT RAISE(ABORT, 'events are never updated'); END;
COMMIT;
