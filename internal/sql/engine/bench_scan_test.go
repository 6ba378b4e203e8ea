package engine

import (
	"fmt"
	"strings"
	"testing"
)

// loadSocial makes the tables of the social workload, with 100 posts.
func (s *member) loadSocial(likes int) {
	s.root.SetMaxOpenConns(1)
	s.exec("CREATE DATABASE d", "USE d", "CREATE TABLE posts(id INTEGER PRIMARY KEY, title TEXT)",
		"CREATE TABLE likes(id SERIAL PRIMARY KEY, post_id INTEGER, FOREIGN KEY (post_id) REFERENCES posts (id), INDEX (post_id))")
	var rows []string
	for i := range 100 {
		rows = append(rows, fmt.Sprintf("(%d, 'title %d')", i, i))
	}
	s.exec("INSERT INTO posts VALUES " + strings.Join(rows, ","))
	for from := 0; from < likes; from += 10_000 {
		rows = rows[:0]
		for i := from; i < min(from+10_000, likes); i++ {
			rows = append(rows, fmt.Sprintf("(%d)", i%100))
		}
		s.exec("INSERT INTO likes(post_id) VALUES " + strings.Join(rows, ","))
	}
}

// The read of the social workload by the number of likes, on one node, one connection.
func BenchmarkSocialRead(b *testing.B) {
	for _, likes := range []int{1_000, 10_000, 100_000} {
		b.Run(fmt.Sprint(likes), func(b *testing.B) {
			s := startCluster(b, 1).nodes[0]
			s.loadSocial(likes)
			benchQuery(b, s, socialRead, 100)
		})
	}
}

// benchQuery runs a prepared statement that returns so many rows; each ? is given the number of the execution.
func benchQuery(b *testing.B, s *member, q string, want int) {
	st, err := s.root.Prepare(q)
	if err != nil {
		b.Fatal(err)
	}
	defer st.Close()
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		var args []any
		for range strings.Count(q, "?") {
			args = append(args, i%100)
		}
		r, err := st.Query(args...)
		if err != nil {
			b.Fatal(err)
		}
		n := 0
		for r.Next() {
			n++
		}
		if err := r.Close(); err != nil || n != want {
			b.Fatalf("%d rows, %v", n, err)
		}
	}
}

// Scans and lookups of 100 rows of 10 columns, and counts.
func BenchmarkScans(b *testing.B) {
	s := startCluster(b, 1).nodes[0]
	s.root.SetMaxOpenConns(1)
	var cols, fields []string
	for i := range 10 {
		cols = append(cols, fmt.Sprintf("field%d VARCHAR(100)", i))
		fields = append(fields, fmt.Sprintf("'%s'", strings.Repeat(fmt.Sprint(i), 100)))
	}
	s.exec("CREATE DATABASE d", "USE d", "CREATE TABLE u(id INT PRIMARY KEY, g INT, "+strings.Join(cols, ",")+", INDEX (g))",
		"CREATE TABLE n(id INT PRIMARY KEY, g INT, v VARCHAR(30), INDEX (g))")
	for from := 0; from < 10_000; from += 1_000 {
		var us, ns []string
		for i := from; i < from+1_000; i++ {
			us = append(us, fmt.Sprintf("(%d,%d,%s)", i, i%100, strings.Join(fields, ",")))
			ns = append(ns, fmt.Sprintf("(%d,%d,'value %d')", i, i%100, i))
		}
		s.exec("INSERT INTO u VALUES "+strings.Join(us, ","), "INSERT INTO n VALUES "+strings.Join(ns, ","))
	}
	for _, q := range []struct {
		name, text string
		rows       int
	}{
		{"primary_wide", "SELECT * FROM u WHERE id >= ? AND id < 100 + ?", 100},
		{"primary_wide_1_column", "SELECT field3 FROM u WHERE id >= ? AND id < 100 + ?", 100},
		{"primary_narrow", "SELECT * FROM n WHERE id >= ? AND id < 100 + ?", 100},
		{"secondary_wide", "SELECT * FROM u WHERE g = ?", 100},
		{"secondary_narrow", "SELECT * FROM n WHERE g = ?", 100},
		{"covered", "SELECT g, id FROM n WHERE g = ?", 100},
		{"count_all", "SELECT COUNT(*) FROM n", 1},
		{"count_value", "SELECT COUNT(*) FROM n WHERE g = ?", 1},
		{"count_groups", "SELECT g, COUNT(*) FROM n GROUP BY g", 100},
		{"min_max", "SELECT MIN(g), MAX(g) FROM n", 1},
	} {
		b.Run(q.name, func(b *testing.B) { benchQuery(b, s, q.text, q.rows) })
	}
}
