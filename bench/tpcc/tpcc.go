// Package tpcc is a small workload like TPC-C: orders are entered and paid for over a few warehouses, and nearly every
// transaction wants the row of one of a few districts. It is not TPC-C: there is no delivery and no stock level, no think
// time, few rows, and amounts are whole cents.
//
//	W1  Consistency conditions of TPC-C (clause 3.3.2), at the end: a warehouse's takings are the sum of its districts' (1); a
//	    district's next order number is one more than its highest order (2); its new orders are without gaps (3); orders have
//	    as many lines as they say (4); takings are what the payments' history adds up to (8, 9).
//	W2  Every acknowledged order and payment is there once, and none that was refused; a customer owes what the history says.
//	W3  An order that a client has entered, and was told so, is found by it afterwards.
//
// An order for an item that does not exist, one in a hundred as in TPC-C, is rolled back when that is found out: it must
// leave nothing behind.
package tpcc

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync/atomic"

	"github.com/longitude-db/longitude/bench/harness"
)

// Sizes of each warehouse. TPC-C has 10 districts of 3,000 customers and 100,000 items; contention comes from the districts.
const (
	districts = 10
	customers = 30 // of a district
	items     = 200
)

// Options of the workload.
type Options struct {
	Warehouses int
	Hot        float64 // share of transactions that want the first district of the first warehouse
}

// Check reports all that is wrong with the options.
func (o Options) Check() error {
	var faults []error
	if o.Warehouses < 1 || o.Warehouses > 1000 {
		faults = append(faults, fmt.Errorf("warehouses is %d, wanted: 1 to 1000", o.Warehouses))
	}
	if !(o.Hot >= 0 && o.Hot <= 1) {
		faults = append(faults, fmt.Errorf("hot is %g, wanted: 0 to 1", o.Hot))
	}
	return errors.Join(faults...)
}

// Workload is the warehouses on one target.
type Workload struct {
	o                Options
	orders, payments harness.Ledger
	paid             atomic.Uint64  // numbers the payments
	cents            harness.Ledger // of payments
	wrong            harness.Violations
}

// New makes one.
func New(o Options) (*Workload, error) { return &Workload{o: o}, o.Check() }

// Name implements harness.Workload.
func (w *Workload) Name() string { return "tpcc" }

// Classes of transactions.
const (
	newOrder = iota
	payment
	orderStatus
)

// Classes implements harness.Workload.
func (w *Workload) Classes() []string { return []string{"new-order", "payment", "order-status"} }

// shares of the classes in a hundred. TPC-C's are 45, 43 and 4, and 8 of what is not here.
const (
	newOrders   = 49
	allPayments = 47
)

// tables in the order in which they can be dropped, with the statements that make them.
var tables = []struct{ name, create string }{
	{"tpcc_warehouse", `CREATE TABLE tpcc_warehouse(w INT PRIMARY KEY, ytd BIGINT NOT NULL)`},
	{"tpcc_district", `CREATE TABLE tpcc_district(w INT, d INT, ytd BIGINT NOT NULL, next_o INT NOT NULL, PRIMARY KEY (w, d))`},
	{"tpcc_customer", `CREATE TABLE tpcc_customer(w INT, d INT, c INT, balance BIGINT NOT NULL, paid BIGINT NOT NULL, payments INT NOT NULL, PRIMARY KEY (w, d, c))`},
	{"tpcc_item", `CREATE TABLE tpcc_item(i INT PRIMARY KEY, price BIGINT NOT NULL)`},
	{"tpcc_stock", `CREATE TABLE tpcc_stock(w INT, i INT, quantity INT NOT NULL, ytd BIGINT NOT NULL, orders INT NOT NULL, PRIMARY KEY (w, i))`},
	{"tpcc_orders", `CREATE TABLE tpcc_orders(w INT, d INT, o INT, c INT NOT NULL, ol_cnt INT NOT NULL, PRIMARY KEY (w, d, o))`},
	{"tpcc_new_order", `CREATE TABLE tpcc_new_order(w INT, d INT, o INT, PRIMARY KEY (w, d, o))`},
	{"tpcc_order_line", `CREATE TABLE tpcc_order_line(w INT, d INT, o INT, n INT, i INT NOT NULL, quantity INT NOT NULL, amount BIGINT NOT NULL, PRIMARY KEY (w, d, o, n))`},
	{"tpcc_history", `CREATE TABLE tpcc_history(id BIGINT PRIMARY KEY, w INT NOT NULL, d INT NOT NULL, c INT NOT NULL, amount BIGINT NOT NULL)`},
}

// Setup implements harness.Workload.
func (w *Workload) Setup(ctx context.Context, t *harness.Target, say harness.Say) error {
	db := t.Nodes[0]
	for _, x := range tables {
		if err := t.Fresh(ctx, x.name); err != nil {
			return err
		}
		if _, err := db.ExecContext(ctx, x.create); err != nil {
			return fmt.Errorf("%s: %w", x.create, err)
		}
	}
	n := w.o.Warehouses
	say("loading %d warehouses of %d districts", n, districts)
	for _, x := range []struct {
		head, tuple string
		n           int
		row         func(i int) []any
	}{
		{"INSERT INTO tpcc_item VALUES ", "(?, ?)", items, func(i int) []any { return []any{i, 100 + i*37%9900} }},
		{"INSERT INTO tpcc_warehouse VALUES ", "(?, 0)", n, func(i int) []any { return []any{i} }},
		{"INSERT INTO tpcc_stock VALUES ", "(?, ?, 50, 0, 0)", n * items, func(i int) []any { return []any{i / items, i % items} }},
		{"INSERT INTO tpcc_district VALUES ", "(?, ?, 0, 1)", n * districts, func(i int) []any { return []any{i / districts, i % districts} }},
		{"INSERT INTO tpcc_customer VALUES ", "(?, ?, ?, 0, 0, 0)", n * districts * customers, func(i int) []any {
			return []any{i / customers / districts, i / customers % districts, i % customers}
		}},
	} {
		if err := harness.Insert(ctx, db, x.head, x.tuple, 0, x.n, x.row); err != nil {
			return err
		}
	}
	return nil
}

// Client implements harness.Workload.
func (w *Workload) Client(rnd *rand.Rand) harness.Client { return &client{w: w, rnd: rnd} }

type client struct {
	w   *Workload
	rnd *rand.Rand
	// last is the newest order that this client entered and was told so (W3).
	last struct{ w, d, o int }
}

// Next implements harness.Client.
func (c *client) Next() harness.Op {
	wh, d := c.rnd.IntN(c.w.o.Warehouses), c.rnd.IntN(districts)
	if c.rnd.Float64() < c.w.o.Hot {
		wh, d = 0, 0
	}
	switch n := c.rnd.IntN(100); {
	case n < newOrders:
		return harness.Op{Class: newOrder, Do: c.enter(wh, d)}
	case n < newOrders+allPayments:
		return harness.Op{Class: payment, Do: c.pay(wh, d)}
	}
	return harness.Op{Class: orderStatus, Do: c.status}
}

// one reads the only row of a query.
func one(ctx context.Context, conn *harness.Conn, to []any, q string, args ...any) (found bool, _ error) {
	rows, err := conn.Query(ctx, q, args...)
	if err != nil {
		return false, err
	}
	defer rows.Close()
	if found = rows.Next(); found {
		if err := rows.Scan(to...); err != nil {
			return false, err
		}
	}
	return found, errors.Join(rows.Err(), rows.Close())
}
