package engine

import (
	"context"
	"testing"
)

func (s *member) checkIndexes(t testing.TB) {
	t.Helper()
	if err := CheckIndexes(context.Background(), s.node.DB); err != nil {
		t.Fatal(err)
	}
}
