CREATE TABLE `parent` (
  `id` bigint unsigned NOT NULL AUTO_INCREMENT,
  `name` varchar(50) NOT NULL COMMENT 'it''s a "name" \\ here',
  `state` enum('new','it''s','a,b') NOT NULL DEFAULT 'it''s',
  `digits` enum('1','2','3') DEFAULT '3',
  `flags` set('x','y','z') DEFAULT 'x,z',
  `made` timestamp NULL DEFAULT CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP,
  `at` datetime(6) DEFAULT CURRENT_TIMESTAMP(6),
  `latin` varchar(10) CHARACTER SET latin1 COLLATE latin1_swedish_ci DEFAULT 'ä',
  `bin` varchar(10) COLLATE utf8mb4_bin DEFAULT NULL,
  PRIMARY KEY (`id`),
  UNIQUE KEY `name` (`name`),
  KEY `pre` (`name`(10),`state`)
) COMMENT='parents';
CREATE TABLE `child` (
  `id` int NOT NULL,
  `n` int DEFAULT NULL,
  `parent` bigint unsigned DEFAULT NULL,
  `price` decimal(10,3) NOT NULL DEFAULT '1.500',
  `ratio` double DEFAULT '0.25',
  `yes` tinyint(1) NOT NULL DEFAULT '1',
  `bits` bit(6) DEFAULT b'101',
  `day` date DEFAULT '2024-02-29',
  `time` time DEFAULT '10:11:12',
  `y` year DEFAULT '1999',
  `doc` json DEFAULT NULL,
  `body` text,
  `raw` varbinary(20) DEFAULT NULL,
  `pad` char(5) DEFAULT 'pad',
  `uid` varchar(36) DEFAULT (uuid()),
  PRIMARY KEY (`id`),
  KEY `parent` (`parent`),
  CONSTRAINT `child_parent` FOREIGN KEY (`parent`) REFERENCES `parent` (`id`) ON DELETE CASCADE ON UPDATE SET NULL,
  CONSTRAINT `positive` CHECK (`price` > 0)
);
CREATE VIEW `children` AS SELECT c.id, p.name FROM child c JOIN parent p ON p.id = c.parent;
INSERT INTO parent (id, name, state, digits, flags, made, at, latin, bin) VALUES
  (1, 'one', 'new', '2', 'y', '2024-01-02 03:04:05', '2024-01-02 03:04:05.678901', 'ß', 'B'),
  (2, 'quote '' and \\ and \n and \0 and 😀', 'a,b', NULL, '', NULL, NULL, NULL, NULL);
INSERT INTO child (id, n, parent, price, ratio, yes, bits, day, time, y, doc, body, raw, pad, uid) VALUES
  (1, 7, 1, 12345.678, 1.5e300, 0, b'111111', '1999-12-31', '-30:00:01', 2024, '{"a": [1, null, "ü"]}', REPEAT('long ', 500), X'0001FF27', 'ab', 'fixed'),
  (2, NULL, NULL, 1, NULL, 1, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 'fixed2');
