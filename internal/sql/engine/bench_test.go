package engine

import (
	"fmt"
	"strings"
	"testing"
)

// The statements of the social workload on one node, one connection, prepared.
func BenchmarkStatements(b *testing.B) {
	c := startCluster(b, 1)
	s := c.nodes[0]
	s.root.SetMaxOpenConns(1)
	s.exec("CREATE DATABASE d", "USE d", "CREATE TABLE posts(id INTEGER PRIMARY KEY, title TEXT)",
		"CREATE TABLE likes(id SERIAL PRIMARY KEY, post_id INTEGER, FOREIGN KEY (post_id) REFERENCES posts (id), INDEX (post_id))")
	var posts, likes []string
	for i := range 100 {
		posts = append(posts, fmt.Sprintf("(%d, 'title %d')", i, i))
	}
	for i := range 1000 {
		likes = append(likes, fmt.Sprintf("(%d)", i%100))
	}
	s.exec("INSERT INTO posts VALUES "+strings.Join(posts, ","), "INSERT INTO likes(post_id) VALUES "+strings.Join(likes, ","))
	for name, q := range map[string]string{"select_1": "SELECT 1", "point": "SELECT title FROM posts WHERE id = ?", "read": socialRead, "like": "INSERT INTO likes(post_id) VALUES (?)",
		"update": "UPDATE posts SET title = 'new' WHERE id = ?", "begin": "BEGIN"} {
		b.Run(name, func(b *testing.B) {
			st, err := s.root.Prepare(q)
			if err != nil {
				b.Fatal(err)
			}
			defer st.Close()
			defer s.exec("COMMIT") // of what "begin" leaves open
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				var args []any
				if strings.Contains(q, "?") {
					args = append(args, i%100)
				}
				r, err := st.Query(args...)
				if err != nil {
					b.Fatal(err)
				}
				for r.Next() {
				}
				if err := r.Close(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
