// Package bind makes a tree of operators (package rel) out of the syntax tree of a query: it finds out what each name means, what type
// each expression has, which queries are correlated, and refuses what MySQL refuses with MySQL's error. It knows no rows and no
// costs: the tree that it makes says what is asked for, not how to find it (package optimize).
package bind
