ALTER TABLE city ADD COLUMN population INT;
UPDATE city SET population = 7 WHERE name = 'placed';
ALTER TABLE city MODIFY population BIGINT NULL DEFAULT 0, DROP KEY by_country, ADD KEY by_country_and_name (country, name(10));
