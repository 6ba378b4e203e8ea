// Package explain shows plans (package rel) in MySQL's forms of EXPLAIN: the table of twelve columns, FORMAT=TREE, FORMAT=JSON, and EXPLAIN
// ANALYZE with what the operators did (exec.Measure). What it says of indexes, joins and subqueries is what is executed; numbers of rows
// are the optimizer's estimates. Costs are not shown: those of MySQL have another unit.
package explain
