package harness

import (
	"context"
	"fmt"
)

// SplitEvenly cuts a table of a cluster of ours at primary keys, and has its nodes lead the pieces in turn. The first key is that
// of the first piece, which begins there already.
func (t *Target) SplitEvenly(ctx context.Context, table string, at []int, say Say) error {
	nodes, err := t.NodeIDs(ctx)
	if err != nil {
		return err
	}
	say("splitting %s in %d, led by %d nodes", table, len(at), min(len(at), len(nodes)))
	for i, key := range at {
		if i > 0 {
			if _, err := t.Nodes[0].ExecContext(ctx, "CALL longitude_split(?, 'PRIMARY', ?)", table, key); err != nil {
				return fmt.Errorf("splitting %s at %d: %w", table, key, err)
			}
		}
		leader := nodes[i%len(nodes)]
		if _, err := t.Nodes[0].ExecContext(ctx, "CALL longitude_move_lease(?, 'PRIMARY', ?, ?)", table, key, leader); err != nil {
			return fmt.Errorf("moving the lease of %s at %d to node %d: %w", table, key, leader, err)
		}
	}
	return nil
}
