BEGIN TRANSACTION;
CREATE TABLE answer (
	id INTEGER NOT NULL, 
	token TEXT NOT NULL, 
	item INTEGER NOT NULL, 
	person INTEGER NOT NULL, 
	shown INTEGER, 
	study INTEGER NOT NULL, 
	kind TEXT NOT NULL, 
	picks TEXT NOT NULL, 
	level BOOLEAN NOT NULL, 
	word TEXT, 
	numbers TEXT, 
	comment TEXT, 
	seconds FLOAT, 
	replaces INTEGER, 
	client_at FLOAT, 
	at FLOAT NOT NULL, 
	PRIMARY KEY (id), 
	UNIQUE (token), 
	FOREIGN KEY(item) REFERENCES item (id), 
	FOREIGN KEY(person) REFERENCES person (id)
);
INSERT INTO "answer" VALUES(1,'token-000000000000',10,1,1,1,'said','["elm", "oak"]',0,'rather',NULL,NULL,2.0,NULL,NULL,1.79488750466007041927e+09);
INSERT INTO "answer" VALUES(2,'token-000000000001',6,1,2,1,'said','["birch"]',0,'sure',NULL,NULL,2.0,NULL,NULL,1.79488750472406697277e+09);
INSERT INTO "answer" VALUES(3,'later-token-000001',11,1,3,1,'later','[]',0,NULL,NULL,NULL,NULL,NULL,NULL,1.79488750476876759531e+09);
CREATE TABLE event (
	id INTEGER NOT NULL, 
	person INTEGER, 
	kind TEXT NOT NULL, 
	body TEXT NOT NULL, 
	previous TEXT NOT NULL, 
	hash TEXT NOT NULL, 
	at FLOAT NOT NULL, 
	PRIMARY KEY (id)
);
INSERT INTO "event" VALUES(1,1,'person','{"name": "ann", "role": "annotator"}','','91b913e12332f46efa708cbed54fcba0a0a76916076fd8199584c6d627bb6945',1.79488750433633685111e+09);
CREATE TABLE invitation (
	id INTEGER NOT NULL, 
	token_hash TEXT NOT NULL, 
	role TEXT NOT NULL, 
	uses_left INTEGER NOT NULL, 
	expires_at FLOAT NOT NULL, 
	made_by INTEGER, 
	PRIMARY KEY (id), 
	UNIQUE (token_hash)
);
CREATE TABLE item (
	id INTEGER NOT NULL, 
	name TEXT NOT NULL, 
	kind TEXT NOT NULL, 
	content TEXT NOT NULL, 
	media TEXT, 
	gold TEXT, 
	practice BOOLEAN NOT NULL, 
	PRIMARY KEY (id), 
	UNIQUE (name)
);
INSERT INTO "item" VALUES(1,'tree 0','text','Leaf number 0 & <b>bark</b>',NULL,NULL,0);
INSERT INTO "item" VALUES(2,'tree 1','text','Leaf number 1 & <b>bark</b>',NULL,NULL,0);
INSERT INTO "item" VALUES(3,'tree 2','text','Leaf number 2 & <b>bark</b>',NULL,NULL,0);
INSERT INTO "item" VALUES(4,'tree 3','text','Leaf number 3 & <b>bark</b>',NULL,NULL,0);
INSERT INTO "item" VALUES(5,'tree 4','text','Leaf number 4 & <b>bark</b>',NULL,NULL,0);
INSERT INTO "item" VALUES(6,'tree 5','text','Leaf number 5 & <b>bark</b>',NULL,NULL,0);
INSERT INTO "item" VALUES(7,'tree 6','text','Leaf number 6 & <b>bark</b>',NULL,NULL,0);
INSERT INTO "item" VALUES(8,'tree 7','text','Leaf number 7 & <b>bark</b>',NULL,NULL,0);
INSERT INTO "item" VALUES(9,'tree 8','text','Leaf number 8 & <b>bark</b>',NULL,NULL,0);
INSERT INTO "item" VALUES(10,'tree 9','text','Leaf number 9 & <b>bark</b>',NULL,NULL,0);
INSERT INTO "item" VALUES(11,'tree 10','text','Leaf number 10 & <b>bark</b>',NULL,NULL,0);
INSERT INTO "item" VALUES(12,'tree 11','text','Leaf number 11 & <b>bark</b>',NULL,NULL,0);
CREATE TABLE meta (
	name TEXT NOT NULL, 
	value TEXT NOT NULL, 
	PRIMARY KEY (name)
);
INSERT INTO "meta" VALUES('version','1');
INSERT INTO "meta" VALUES('secret','0000000000000000000000000000000000000000000000000000000000000000');
CREATE TABLE person (
	id INTEGER NOT NULL, 
	name TEXT NOT NULL, 
	role TEXT NOT NULL, 
	session INTEGER NOT NULL, 
	left_at FLOAT, 
	at FLOAT NOT NULL, 
	PRIMARY KEY (id), 
	UNIQUE (name)
);
INSERT INTO "person" VALUES(1,'ann','annotator',1,NULL,1.79488750432148241997e+09);
CREATE TABLE settlement (
	id INTEGER NOT NULL, 
	item INTEGER NOT NULL, 
	person INTEGER NOT NULL, 
	label TEXT NOT NULL, 
	why TEXT NOT NULL, 
	upto INTEGER NOT NULL, 
	comment TEXT, 
	at FLOAT NOT NULL, 
	PRIMARY KEY (id), 
	FOREIGN KEY(item) REFERENCES item (id), 
	FOREIGN KEY(person) REFERENCES person (id)
);
CREATE TABLE shown (
	id INTEGER NOT NULL, 
	item INTEGER NOT NULL, 
	person INTEGER NOT NULL, 
	reason TEXT NOT NULL, 
	value FLOAT, 
	at FLOAT NOT NULL, 
	PRIMARY KEY (id), 
	FOREIGN KEY(item) REFERENCES item (id), 
	FOREIGN KEY(person) REFERENCES person (id)
);
INSERT INTO "shown" VALUES(1,10,1,'value',7.92481251295650501731e-01,1.79488750446368837358e+09);
INSERT INTO "shown" VALUES(2,6,1,'value',7.92481251273333575646e-01,1.79488750446545433994e+09);
INSERT INTO "shown" VALUES(3,11,1,'value',7.92481251176431644722e-01,1.79488750446586775785e+09);
INSERT INTO "shown" VALUES(4,5,1,'value',7.92481251173848266766e-01,1.79488750466609239581e+09);
INSERT INTO "shown" VALUES(5,8,1,'value',7.92481251090074612086e-01,1.79488750472857284544e+09);
INSERT INTO "shown" VALUES(6,1,1,'value',7.9248125099753974343e-01,1.79488750538319349284e+09);
CREATE TABLE study (
	id INTEGER NOT NULL, 
	title TEXT NOT NULL, 
	question TEXT NOT NULL, 
	guide TEXT NOT NULL, 
	classes TEXT NOT NULL, 
	words TEXT NOT NULL, 
	options TEXT NOT NULL, 
	at FLOAT NOT NULL, 
	PRIMARY KEY (id)
);
INSERT INTO "study" VALUES(1,'','Which is it?','','[{"name": "oak", "help": ""}, {"name": "elm", "help": ""}, {"name": "ash", "help": ""}, {"name": "birch", "help": ""}]','[{"name": "sure", "support": 0.8}, {"name": "rather", "support": 0.6}, {"name": "a guess", "support": 0.3}]','{"answers": 1, "gold": 0.0, "repeat": 0.0, "random": 0.0, "least": 0.02, "suggest": "never", "words": true, "names": true, "rename": {}, "seed": 0}',1.79488750415600776676e+09);
CREATE INDEX shown_by_person ON shown (person, id);
CREATE INDEX answer_by_person ON answer (person, id);
CREATE TRIGGER answer_no_update BEFORE UPDATE ON answer BEGIN SELECT RAISE(ABORT, 'rows of answer are never changed'); END;
CREATE TRIGGER answer_no_delete BEFORE DELETE ON answer BEGIN SELECT RAISE(ABORT, 'rows of answer are never changed'); END;
CREATE TRIGGER shown_no_update BEFORE UPDATE ON shown BEGIN SELECT RAISE(ABORT, 'rows of shown are never changed'); END;
CREATE TRIGGER shown_no_delete BEFORE DELETE ON shown BEGIN SELECT RAISE(ABORT, 'rows of shown are never changed'); END;
CREATE TRIGGER settlement_no_update BEFORE UPDATE ON settlement BEGIN SELECT RAISE(ABORT, 'rows of settlement are never changed'); END;
CREATE TRIGGER settlement_no_delete BEFORE DELETE ON settlement BEGIN SELECT RAISE(ABORT, 'rows of settlement are never changed'); END;
CREATE TRIGGER event_no_update BEFORE UPDATE ON event BEGIN SELECT RAISE(ABORT, 'rows of event are never changed'); END;
CREATE TRIGGER event_no_delete BEFORE DELETE ON event BEGIN SELECT RAISE(ABORT, 'rows of event are never changed'); END;
COMMIT;
