package explain

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/longitude-db/longitude/internal/sql/expr"
	"github.com/longitude-db/longitude/internal/sql/rel"
)

// JSON is EXPLAIN FORMAT=JSON of an optimized query, in the form of version 1 (MySQL 8.0): a query_block with a table, or a nested_loop of
// tables, in the operations that sort and group them. The blocks of derived tables and subqueries stand beside the first one.
func JSON(q *rel.Query, env *expr.Env) (string, error) {
	var blocks []map[string]any
	at := map[int]int{}
	for _, r := range Table(q, env) {
		if r.ID == 0 {
			continue
		}
		i, ok := at[r.ID]
		if !ok {
			i = len(blocks)
			at[r.ID] = i
			blocks = append(blocks, map[string]any{"select_id": r.ID, "rows": []*Row(nil), "select_type": r.SelectType})
		}
		blocks[i]["rows"] = append(blocks[i]["rows"].([]*Row), r)
	}
	var out []any
	for _, b := range blocks {
		out = append(out, queryBlock(b))
	}
	top := out[0].(map[string]any)
	if len(out) > 1 {
		top["optimized_subqueries"] = out[1:]
	}
	var text strings.Builder
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	err := e.Encode(map[string]any{"query_block": top})
	return strings.TrimSuffix(text.String(), "\n"), err
}

func queryBlock(b map[string]any) map[string]any {
	rows := b["rows"].([]*Row)
	out := map[string]any{"select_id": b["select_id"]}
	if k := b["select_type"].(string); k != "SIMPLE" && k != "PRIMARY" {
		out["select_type"] = k
	}
	if rows[0].Table == "" {
		out["message"] = rows[0].Extra[0]
		return out
	}
	var tables []any
	sort, temporary := false, false
	for _, r := range rows {
		for _, e := range r.Extra {
			sort, temporary = sort || e == "Using filesort", temporary || e == "Using temporary"
		}
		tables = append(tables, map[string]any{"table": r.object()})
	}
	inner := map[string]any{"nested_loop": tables}
	if len(tables) == 1 {
		inner = tables[0].(map[string]any)
	}
	if temporary {
		inner["using_temporary_table"] = true
		inner = map[string]any{"grouping_operation": inner}
	}
	if sort {
		inner["using_filesort"] = true
		inner = map[string]any{"ordering_operation": inner}
	}
	for k, v := range inner {
		out[k] = v
	}
	return out
}

// object is a table of the JSON form.
func (r *Row) object() map[string]any {
	out := map[string]any{"table_name": r.Table, "access_type": r.Type, "rows_examined_per_scan": r.Rows,
		"rows_produced_per_join": max(1, int64(float64(r.Rows)*r.Filtered/100)), "filtered": fmt.Sprintf("%.2f", r.Filtered)}
	if r.PossibleKeys != nil {
		out["possible_keys"] = r.PossibleKeys
	}
	if r.Ref != nil {
		out["ref"] = r.Ref
	}
	for _, e := range r.Extra {
		switch e {
		case "Using index":
			out["using_index"] = true
		case "Backward index scan":
			out["backward_index_scan"] = true
		case "Using join buffer (hash join)":
			out["using_join_buffer"] = "hash join"
		case "Using join buffer (Block Nested Loop)":
			out["using_join_buffer"] = "Block Nested Loop"
		case "FirstMatch":
			out["first_match"] = true
		case "Not exists":
			out["not_exists"] = true
		}
	}
	s := r.scan
	if s == nil {
		return out
	}
	var used []string
	for _, at := range s.Places {
		used = append(used, s.Table.Columns()[at].Name)
	}
	out["used_columns"] = used
	if s.Access != nil {
		out["key"], out["key_length"], out["used_key_parts"] = r.Key, r.KeyLen, usedParts(s)
	}
	if conds := append(append([]expr.Node{}, s.Filter...), r.on...); len(conds) > 0 {
		out["attached_condition"] = r.uses.conditions(conds)
	}
	return out
}
