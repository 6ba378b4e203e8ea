CREATE OR REPLACE VIEW towns AS SELECT c.name, k.name AS country FROM city c JOIN country k ON k.code = c.country;
