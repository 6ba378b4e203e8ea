-- A schema with every feature, and rows with odd values: what mariadb-dump writes of it has to restore all of it.
CREATE TABLE `numbers` (
  `id` bigint NOT NULL AUTO_INCREMENT,
  `t1` tinyint DEFAULT NULL, `t2` tinyint unsigned DEFAULT '255', `b1` tinyint(1) NOT NULL DEFAULT '1',
  `s1` smallint DEFAULT NULL, `s2` smallint unsigned DEFAULT NULL, `m1` mediumint DEFAULT NULL, `m2` mediumint unsigned DEFAULT NULL,
  `i1` int DEFAULT NULL, `i2` int unsigned DEFAULT NULL, `l1` bigint DEFAULT NULL, `l2` bigint unsigned DEFAULT NULL,
  `d1` decimal(65,30) DEFAULT NULL, `d2` decimal(10,0) DEFAULT '-7', `f` float DEFAULT NULL, `g` double DEFAULT '1e100',
  `bit1` bit(1) DEFAULT b'1', `bit64` bit(64) DEFAULT NULL,
  PRIMARY KEY (`id` DESC),
  UNIQUE KEY `u` (`i1`,`i2` DESC),
  KEY `d` (`l1` DESC,`l2`)
) AUTO_INCREMENT=1000 COMMENT='it''s "all" \\ numbers';
CREATE TABLE `times` (
  `id` int NOT NULL, `da` date DEFAULT '1000-01-01', `ti` time DEFAULT '-838:59:59', `ti6` time(6) DEFAULT NULL, `y` year DEFAULT '1901',
  `dt` datetime DEFAULT '9999-12-31 23:59:59', `dt3` datetime(3) DEFAULT CURRENT_TIMESTAMP(3) ON UPDATE CURRENT_TIMESTAMP(3),
  `ts` timestamp NULL DEFAULT NULL, `ts6` timestamp(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6) ON UPDATE CURRENT_TIMESTAMP(6),
  `soon` datetime DEFAULT (now() + interval 1 day), `today` date DEFAULT (curdate()),
  PRIMARY KEY (`id`)
);
CREATE TABLE `texts` (
  `id` int NOT NULL, `c` char(5) DEFAULT 'ab', `v` varchar(40) COMMENT 'quote '' backslash \\ newline \n double "',
  `latin` varchar(10) CHARACTER SET latin1 DEFAULT 'é', `bin` varchar(10) COLLATE utf8mb4_bin DEFAULT NULL, `old` varchar(10) COLLATE utf8mb4_general_ci DEFAULT '',
  `de` varchar(10) COLLATE utf8mb4_de_pb_0900_ai_ci DEFAULT NULL, `mb3` varchar(10) CHARACTER SET utf8mb3 DEFAULT NULL, `asc` varchar(10) CHARACTER SET ascii DEFAULT NULL,
  `tiny` tinytext, `tx` text, `me` mediumtext COLLATE utf8mb4_bin, `lo` longtext, `b` binary(4) DEFAULT NULL, `vb` varbinary(20) DEFAULT NULL,
  `tb` tinyblob, `bl` blob, `mb` mediumblob, `lb` longblob, `e` enum('a','it''s','x,y','Ü') NOT NULL DEFAULT 'it''s', `s` set('p','q''q','r') DEFAULT 'p,r',
  `j` json DEFAULT NULL, `jd` json DEFAULT (json_object('k',1)), `u` varchar(36) DEFAULT (uuid()), `tdef` text DEFAULT (concat('a','''b')),
  PRIMARY KEY (`id`), UNIQUE KEY `prefix` (`v`(5)), KEY `many` (`v`(3) DESC,`c`,`tx`(10)), KEY `blobs` (`bl`(8))
) DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_ci;
CREATE TABLE `calculated` (
  `id` int NOT NULL, `a` varchar(20) DEFAULT NULL, `n` int DEFAULT NULL, `j` json DEFAULT NULL,
  `v` varchar(41) GENERATED ALWAYS AS (concat(`a`,'-',`a`)) VIRTUAL, `st` int GENERATED ALWAYS AS (`n` * 2) STORED NOT NULL COMMENT 'twice',
  `c` int GENERATED ALWAYS AS (`n` between 1 and 10) VIRTUAL, `neg` int GENERATED ALWAYS AS (-(-`n`)) VIRTUAL, `const` int GENERATED ALWAYS AS (1) STORED,
  PRIMARY KEY (`id`), KEY `byv` (`v`), UNIQUE KEY `uf` ((lower(`a`)),`n`), KEY `mixed` (`n`,(`n` % 10) DESC,(cast(`j`->>'$.k' as char(20)))), KEY ((`n` > 5)),
  CHECK (`n` > -100), CONSTRAINT `named` CHECK (`a` <> 'bad' and not (`n` in (13,14))), CONSTRAINT `off` CHECK (`n` < 0) NOT ENFORCED
);
CREATE TABLE `keyless` (`a` int DEFAULT NULL, `b` varchar(10) DEFAULT NULL, KEY ((upper(`b`))));
CREATE TABLE `parents` (`id` int NOT NULL, `code` varchar(10) NOT NULL, PRIMARY KEY (`id`), UNIQUE KEY `code` (`code`,`id`)) DEFAULT CHARSET=latin1;
CREATE TABLE `children` (
  `id` int NOT NULL, `c1` int DEFAULT NULL, `c2` int DEFAULT NULL, `c3` int DEFAULT NULL, `c4` int DEFAULT NULL, `self` int DEFAULT NULL, `code` varchar(10) CHARACTER SET latin1 DEFAULT NULL, `pid` int DEFAULT NULL,
  PRIMARY KEY (`id`), KEY `k1` (`c1`), KEY `k2` (`c2`), KEY `k3` (`c3`), KEY `k4` (`c4`), KEY `kself` (`self`), KEY `kcode` (`code`,`pid`),
  CONSTRAINT `f1` FOREIGN KEY (`c1`) REFERENCES `parents` (`id`) ON DELETE CASCADE,
  CONSTRAINT `f2` FOREIGN KEY (`c2`) REFERENCES `parents` (`id`) ON DELETE SET NULL ON UPDATE CASCADE,
  CONSTRAINT `f3` FOREIGN KEY (`c3`) REFERENCES `parents` (`id`) ON DELETE RESTRICT ON UPDATE RESTRICT,
  CONSTRAINT `f4` FOREIGN KEY (`c4`) REFERENCES `parents` (`id`) ON DELETE NO ACTION ON UPDATE SET NULL,
  CONSTRAINT `fself` FOREIGN KEY (`self`) REFERENCES `children` (`id`),
  CONSTRAINT `fcode` FOREIGN KEY (`code`, `pid`) REFERENCES `parents` (`code`, `id`) ON UPDATE CASCADE
);
CREATE TABLE `od``d "name" 'ü` (`a b` int NOT NULL, `select` int DEFAULT NULL, `back``tick` varchar(5) DEFAULT '\\', PRIMARY KEY (`a b`), KEY `i x` (`select`));
CREATE TABLE `declared` (
  `id` int(5) unsigned zerofill NOT NULL AUTO_INCREMENT /*!80023 INVISIBLE */, `z` decimal(8,3) unsigned zerofill DEFAULT '00001.500', `u` double unsigned DEFAULT NULL,
  `f` float(7,4) DEFAULT '1.5000', `h` varchar(5) DEFAULT 'x' /*!80023 INVISIBLE */ COMMENT 'not in *',
  PRIMARY KEY (`id`), KEY `h` (`h` DESC,`u`)
) DEFAULT CHARSET=latin1;
CREATE TABLE `log` (`id` int NOT NULL AUTO_INCREMENT, `what` varchar(100) DEFAULT NULL, PRIMARY KEY (`id`));
CREATE VIEW `v1` AS SELECT `id`, `n`, lower(`a`) AS `low` FROM `calculated` WHERE `n` > 0;
CREATE VIEW `v2` AS SELECT `v1`.`id`, `p`.`code`, 'it''s' AS `lit` FROM `v1` LEFT JOIN `parents` `p` ON `p`.`id` = `v1`.`id`;
CREATE VIEW `a_first` (`x`, `y`) AS SELECT `id`, `code` FROM `v2`;

INSERT INTO numbers (id, t1, t2, s1, s2, m1, m2, i1, i2, l1, l2, d1, d2, f, g, bit1, bit64) VALUES
  (1, -128, 0, -32768, 65535, -8388608, 16777215, -2147483648, 4294967295, -9223372036854775808, 18446744073709551615,
   12345678901234567890123456789012345.123456789012345678901234567890, 9999999999, 1.17549e-38, 1.7976931348623157e308, b'0', X'8000000000000001'),
  (-5, 127, 255, 32767, 0, 8388607, 0, 2147483647, 0, 9223372036854775807, 0, -0.000000000000000000000000000001, -9999999999, -3.40282e38, -2.2250738585072014e-308, NULL, 0),
  (999, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 0, 0, 0.1, 0.1, b'1', NULL);
INSERT INTO times (id, da, ti, ti6, y, dt, dt3, ts, ts6, soon, today) VALUES
  (1, '9999-12-31', '838:59:59', '-00:00:00.000001', 2155, '1000-01-01 00:00:00', '2024-02-29 23:59:59.999', '1970-01-01 00:00:01', '2038-01-19 03:14:07.999999', '2020-01-01', '2020-01-02'),
  (2, NULL, NULL, NULL, 0, NULL, NULL, NULL, '2001-02-03 04:05:06.000007', NULL, NULL);
INSERT INTO texts (id, c, v, latin, bin, old, de, mb3, `asc`, tiny, tx, me, lo, b, vb, tb, bl, mb, lb, e, s, j, jd, u, tdef) VALUES
  (1, 'x', 'quote '' " ` \\ \n \r \t \0 \Z %_', 'ß€', 'B', 'É', 'ä', 'ü', 'az', 't', REPEAT('long ', 2000), '😀', 'l', X'00FF', X'0001275C0A1A00', X'', X'FF', X'5C27', X'00', 'x,y', 'q''q', '{"a": [1, -1.5e10, null, true, "ü\\"\\\\"], "b": {}}', '[]', 'fixed', 'q'),
  (2, '', '', '', '', '', '', '', '', '', '', '', '', '', '', '', '', '', '', 'a', '', 'null', '"text"', 'fixed2', ''),
  (3, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 'Ü', NULL, NULL, NULL, NULL, NULL),
  (4, ' a', ' lead', ' ', ' ', ' ', ' ', ' ', ' ', ' ', '-- no comment', '/* nor this */', '#', '    ', '  ', ' ', ' ', ' ', ' ', 'it''s', 'p,q''q,r', '1e300', '18446744073709551615', 'fixed4', ';');
INSERT INTO keyless VALUES (1, 'x'), (1, 'x'), (NULL, NULL), (2, 'ß');
INSERT INTO parents VALUES (1, 'one'), (2, 'two');
INSERT INTO children VALUES (1, 1, 2, 1, 2, NULL, 'one', 1), (2, NULL, NULL, NULL, NULL, 1, NULL, NULL), (3, 2, 2, 2, 2, 3, 'two', 2);
INSERT INTO `od``d "name" 'ü` VALUES (1, NULL, '`'), (2, 3, DEFAULT);
INSERT INTO declared (z, u, f) VALUES (2, 2.5, 123.4567), (DEFAULT, NULL, DEFAULT);
INSERT INTO declared (id, h) VALUES (77, 'é');
CREATE TRIGGER `before_insert` BEFORE INSERT ON `parents` FOR EACH ROW SET NEW.code = CONCAT(NEW.code, '''');
CREATE TRIGGER `after_insert` AFTER INSERT ON `parents` FOR EACH ROW INSERT INTO log (what) VALUES (CONCAT('new; ', NEW.code));
DELIMITER ;;
CREATE TRIGGER `after_delete` AFTER DELETE ON `parents` FOR EACH ROW BEGIN
  INSERT INTO log (what) VALUES (OLD.code);
END;;
CREATE PROCEDURE `add_parent`(IN `p` int, OUT `n` int) COMMENT 'it''s a procedure'
BEGIN
  -- a comment; with a semicolon
  DECLARE i INT DEFAULT 0;
  WHILE i < 2 DO
    SET i = i + 1;
  END WHILE;
  INSERT INTO parents VALUES (p, 'made');
  CREATE TEMPORARY TABLE IF NOT EXISTS parents (id INT);
  DROP TEMPORARY TABLE parents;
  SELECT COUNT(*) INTO n FROM parents;
END;;
CREATE FUNCTION `twice`(`a` varchar(20) CHARSET utf8mb4) RETURNS varchar(40) CHARSET utf8mb4
    DETERMINISTIC
    COMMENT 'it''s a function'
BEGIN
  DECLARE s VARCHAR(40) DEFAULT '';
  CREATE TEMPORARY TABLE IF NOT EXISTS own (t VARCHAR(40));
  INSERT INTO own VALUES (a), (a);
  SELECT GROUP_CONCAT(t SEPARATOR ';') INTO s FROM own;
  DROP TEMPORARY TABLE own;
  RETURN s; -- of both
END;;
DELIMITER ;
