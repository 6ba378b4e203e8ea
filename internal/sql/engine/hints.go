package engine

import (
	"fmt"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
)

// Optimizer hints: /*+ ... */ behind the first word of a statement. SET_VAR sets variables for the statement, MAX_EXECUTION_TIME is heeded by
// executionLimit. The others are about plans that this node does not make; they change no answer. What is no hint is warned of, as MySQL does.

// knownHints are the names of hints.
var knownHints = words(`bka no_bka bnl no_bnl derived_condition_pushdown no_derived_condition_pushdown group_index no_group_index hash_join no_hash_join
	index no_index index_merge no_index_merge join_fixed_order join_index no_join_index join_order join_prefix join_suffix max_execution_time merge
	no_merge mrr no_mrr no_icp no_range_optimization order_index no_order_index qb_name resource_group semijoin no_semijoin set_var skip_scan
	no_skip_scan subquery`)

// hintedVariables are the variables that SET_VAR may set.
var hintedVariables = words(`auto_increment_increment auto_increment_offset big_tables bulk_insert_buffer_size cte_max_recursion_depth
	default_table_encryption default_tmp_storage_engine div_precision_increment end_markers_in_json eq_range_index_dive_limit
	explain_format foreign_key_checks group_concat_max_len insert_id internal_tmp_mem_storage_engine join_buffer_size lock_wait_timeout
	max_error_count max_execution_time max_heap_table_size max_join_size max_length_for_sort_data max_points_in_geometry max_seeks_for_key
	max_sort_length optimizer_max_subgraph_pairs optimizer_prune_level optimizer_search_depth optimizer_switch optimizer_trace_max_mem_size
	range_alloc_block_size range_optimizer_max_mem_size read_buffer_size read_rnd_buffer_size sort_buffer_size sql_auto_is_null
	sql_big_selects sql_buffer_result sql_mode sql_require_primary_key sql_safe_updates sql_select_limit timestamp time_zone tmp_table_size
	unique_checks updatable_views_with_limit use_secondary_engine windowing_use_high_precision`)

func words(text string) map[string]bool {
	out := map[string]bool{}
	for _, w := range strings.Fields(text) {
		out[w] = true
	}
	return out
}

// applyHints heeds the hints of the first statement of a text; undo, which may be nil, gives the variables back what they were.
func (x *execution) applyHints(sc *sql.Context, query string) (undo func()) {
	x.hinted = nil
	w := firstWord(query)
	switch strings.ToLower(w.text(query)) {
	case "select", "insert", "replace", "update", "delete":
	default:
		return nil
	}
	at := w.to
	for at < len(query) && strings.IndexByte(" \t\r\n", query[at]) >= 0 {
		at++
	}
	if !strings.HasPrefix(query[at:], "/*+") {
		return nil
	}
	end := strings.Index(query[at:], "*/")
	if end < 0 {
		return nil
	}
	h := hints{x: x, sc: sc, query: query, at: at + len("/*+"), end: at + end}
	h.read()
	if len(h.before) == 0 {
		return nil
	}
	return func() {
		for i := len(h.before) - 1; i >= 0; i-- {
			if err := x.s.SetSessionVariable(sc, h.before[i].name, h.before[i].value); err != nil {
				x.h.e.log.Error("a variable keeps the value of a hint", "variable", h.before[i].name, "why", err)
			}
		}
	}
}

// hints reads the hints of one statement.
type hints struct {
	x       *execution
	sc      *sql.Context
	query   string
	at, end int // what is to be read of query
	before  []hintedValue
}

// hintedValue is what a variable was before the statement.
type hintedValue struct {
	name  string
	value any
}

func (h *hints) warn(code int, format string, args ...any) {
	h.x.hinted = append(h.x.hinted, &sql.Warning{Level: "Warning", Code: code, Message: fmt.Sprintf(format, args...)})
}

// wrong warns that a place is not what a hint may have there.
func (h *hints) wrong(at int) {
	text := h.query[at : at+endOfStatement(h.query[at:])]
	line := 1 + strings.Count(h.query[:at], "\n")
	h.warn(1064, "Optimizer hint syntax error near '%s' at line %d", text, line)
}

func (h *hints) space() {
	for h.at < h.end && strings.IndexByte(" \t\r\n", h.query[h.at]) >= 0 {
		h.at++
	}
}

func (h *hints) word() string {
	h.space()
	from := h.at
	for h.at < h.end && (isWord(h.query[h.at]) || h.query[h.at] == '@') {
		h.at++
	}
	return h.query[from:h.at]
}

// read reads all hints, or those before the first that is none.
func (h *hints) read() {
	for h.space(); h.at < h.end || len(h.x.hinted) == 0 && h.empty(); h.space() {
		from := h.at
		name := strings.ToLower(h.word())
		if !knownHints[name] {
			h.wrong(from)
			return
		}
		h.space()
		if h.at == h.end || h.query[h.at] != '(' {
			h.wrong(h.at)
			return
		}
		h.at++
		switch name {
		case "set_var":
			if !h.setVariable() {
				return
			}
		case "max_execution_time":
			h.space()
			from := h.at
			if n := h.word(); n == "" || strings.Trim(n, "0123456789") != "" {
				h.wrong(from)
				return
			}
		}
		closing := strings.IndexByte(h.query[h.at:h.end], ')')
		if closing < 0 {
			h.wrong(h.end)
			return
		}
		h.at += closing + 1
	}
}

// empty reports whether there is no hint at all, which is an error as well.
func (h *hints) empty() bool {
	return strings.HasSuffix(strings.TrimRight(h.query[:h.end], " \t\r\n"), "/*+")
}

// setVariable reads and heeds what is in the parentheses of SET_VAR; false: it cannot be read.
func (h *hints) setVariable() bool {
	h.space()
	from := h.at
	name := strings.ToLower(h.word())
	h.space()
	if name == "" || h.at == h.end || h.query[h.at] != '=' {
		h.wrong(from)
		return false
	}
	h.at++
	h.space()
	var text string
	quoted := h.at < h.end && (h.query[h.at] == '\'' || h.query[h.at] == '"')
	if quoted {
		to := min(afterQuote(h.query, h.at), h.end)
		text = strings.Trim(h.query[h.at:to], `'"`)
		h.at = to
	} else {
		closing := strings.IndexByte(h.query[h.at:h.end], ')')
		if closing < 0 {
			h.wrong(h.end)
			return false
		}
		text = strings.TrimSpace(h.query[h.at : h.at+closing])
		h.at += closing
	}
	_, _, ok := sql.SystemVariables.GetGlobal(name)
	switch {
	case !ok:
		h.warn(3128, "Unresolved name '%s' for SET_VAR hint", name)
		return true
	case !hintedVariables[name]:
		h.warn(4537, "Variable '%s' cannot be set using SET_VAR hint.", name)
		return true
	}
	was, err := h.x.s.GetSessionVariable(h.sc, name)
	if err != nil {
		return true
	}
	var value any = text
	if n, ok := hintNumber(text); ok && !quoted {
		value = n
	}
	if err := h.x.s.SetSessionVariable(h.sc, name, value); err != nil {
		own := h.x.h.e.mapError(h.sc, err, nil)
		h.warn(own.Num, "%s", own.Message)
		return true
	}
	h.before = append(h.before, hintedValue{name, was})
	return true
}

// hintNumber is a text as the whole number that it is; K, M and G multiply it.
func hintNumber(s string) (n int64, ok bool) {
	if s == "" {
		return 0, false
	}
	unit := int64(1)
	switch s[len(s)-1] | 0x20 {
	case 'k':
		unit = 1 << 10
	case 'm':
		unit = 1 << 20
	case 'g':
		unit = 1 << 30
	}
	if unit > 1 {
		s = s[:len(s)-1]
	}
	if s == "" || len(s) > 12 || strings.Trim(s, "0123456789") != "" {
		return 0, false
	}
	for _, c := range s {
		n = n*10 + int64(c-'0')
	}
	return n * unit, true
}
