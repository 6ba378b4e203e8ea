CREATE TABLE country (code CHAR(2) PRIMARY KEY, name VARCHAR(60) NOT NULL);
CREATE TABLE city (
  id INT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY,
  country CHAR(2) NOT NULL,
  name VARCHAR(60) NOT NULL,
  founded DATE,
  KEY by_country (country),
  CONSTRAINT city_country FOREIGN KEY (country) REFERENCES country (code) ON UPDATE CASCADE
) COMMENT 'towns; and more';
-- with a semicolon; in a comment
INSERT INTO country VALUES ('NO', 'Norway'), ('SE', 'Sweden');
INSERT INTO city (country, name) VALUES ('NO', 'Oslo'), ('SE', 'Lund;Malmö'), ('SE', '${name}');
