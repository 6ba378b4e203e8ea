package engine

import "testing"

func TestFirst(t *testing.T) {
	c := startCluster(t, 1)
	s := c.nodes[0]
	s.exec("CREATE DATABASE d", "USE d")
	db := s.open(t, "")
	_ = db
	s.root.SetMaxOpenConns(1)
	s.exec("USE d", "CREATE TABLE posts(id INTEGER PRIMARY KEY, title TEXT)",
		"CREATE TABLE likes(id SERIAL PRIMARY KEY, post_id INTEGER, FOREIGN KEY (post_id) REFERENCES posts (id), INDEX (post_id))",
		"INSERT INTO posts VALUES (1, 'one'), (2, 'two'), (3, 'three')",
		"INSERT INTO likes(post_id) VALUES (1), (1), (2)")
	for _, q := range []string{"SELECT * FROM posts", "SELECT * FROM likes",
		"SELECT posts.id, posts.title, COUNT(*) FROM posts LEFT JOIN likes ON posts.id = likes.post_id GROUP BY posts.id ORDER BY COUNT(*) DESC",
		"EXPLAIN FORMAT=TREE SELECT posts.id, posts.title, COUNT(*) FROM posts LEFT JOIN likes ON posts.id = likes.post_id GROUP BY posts.id ORDER BY COUNT(*) DESC",
		"SHOW CREATE TABLE likes", "SELECT LAST_INSERT_ID()", "SHOW CLOCK", "SELECT * FROM longitude.ranges", "SELECT @@longitude_ordering, @@version"} {
		t.Log(q)
		for _, r := range s.query(q) {
			t.Log("    ", r)
		}
	}
	_, err := s.root.Exec("INSERT INTO posts VALUES (1, 'again')")
	t.Log(err)
	_, err = s.root.Exec("INSERT INTO likes(post_id) VALUES (99)")
	t.Log(err)
	_, err = s.root.Exec("DELETE FROM posts WHERE id=1")
	t.Log(err)
}
