package sqldiff

// Mode is an oracle that needs no reference: two ways to ask Longitude the same, whose answers have to be the same.
type Mode struct {
	Name     string
	About    string
	Families []string
	apply    func(*pair)
	// Cluster wants the second side to be a node of a cluster of three whose tables are split.
	Cluster bool
}

var reading = []string{"where", "join", "subquery", "group", "window", "cte", "setop"}

// Modes are all of them. Unless a mode is of a cluster, both sides are one node, each with databases of its own.
var Modes = []*Mode{
	{Name: "tlp", About: "rows are those where a condition is true, those where it is false, and those where it is NULL",
		Families: []string{"where", "join", "subquery"}, apply: func(p *pair) {
			p.twin, p.loose = partition, true
		}},
	{Name: "norec", About: "as many rows fulfil a condition in WHERE as in the select list, where no index can help",
		Families: []string{"where", "join", "subquery"}, apply: func(p *pair) {
			p.twin, p.loose = countTwice, true
		}},
	{Name: "index", About: "tables with secondary indexes, and the same tables without", Families: append([]string{"dml"}, reading...),
		apply: func(p *pair) {
			p.want.keyless, p.loose = true, true
		}},
	{Name: "prepared", About: "the text protocol, and prepared statements by the binary protocol",
		Families: append([]string{"expr", "dml"}, reading...), apply: func(p *pair) {
			p.got.prepared = true
		}},
	{Name: "compiled", About: "sessions without compiled statements, and those with: the third execution of each",
		Families: append([]string{"expr", "dml"}, reading...), apply: func(p *pair) {
			p.want.ready, p.got.repeat = []string{"SET longitude_compiled = 0"}, 3
		}},
	{Name: "transaction", About: "outside and inside of a transaction", Families: append([]string{"dml"}, reading...), apply: func(p *pair) {
		p.got.inTxn = true
	}},
	{Name: "inplace", About: "counted where the rows are, and not (longitude_count_in_place)", Families: []string{"group", "join"},
		apply: func(p *pair) {
			p.want.ready = []string{"SET longitude_count_in_place = 0"}
		}},
	{Name: "cluster", About: "one node, and three whose tables are split and whose leases lie on all of them",
		Families: append([]string{"dml"}, reading...), Cluster: true, apply: func(p *pair) {
			p.got.split = true
		}},
}

// ModeNamed finds a mode; nil if there is none of this name.
func ModeNamed(name string) *Mode {
	for _, m := range Modes {
		if m.Name == name {
			return m
		}
	}
	return nil
}

// whereOf takes a SELECT apart; ok is false if it is not one with a condition and without LIMIT.
func whereOf(root *Node) (items, from, condition string, ok bool) {
	if root.Class != query || len(root.Kids) != 10 || len(root.Kids[4].Kids) == 0 || len(root.Kids[9].Kids) > 0 ||
		len(root.Kids[3].Kids) == 0 {
		return "", "", "", false
	}
	return root.Kids[2].String(), root.Kids[3].String(), root.Kids[4].Kids[0].String(), true
}

// partition is TLP (Rigger and Su, "Finding Bugs in Database Systems via Query Partitioning", OOPSLA 2020).
func partition(root *Node) (whole, parts string) {
	items, from, p, ok := whereOf(root)
	if !ok {
		return "", ""
	}
	sel := "SELECT " + items + from
	return sel, sel + " WHERE " + p + " UNION ALL " + sel + " WHERE NOT (" + p + ") UNION ALL " + sel + " WHERE (" + p + ") IS NULL"
}

// countTwice is NoREC (Rigger and Su, "Detecting Optimization Bugs in Database Engines via Non-optimizing Reference Engine Construction",
// FSE 2020).
func countTwice(root *Node) (plain, counted string) {
	_, from, p, ok := whereOf(root)
	if !ok {
		return "", ""
	}
	return "SELECT COALESCE(SUM((" + p + ") IS TRUE), 0)" + from, "SELECT COUNT(*)" + from + " WHERE " + p
}
