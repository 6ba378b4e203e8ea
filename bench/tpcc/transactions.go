package tpcc

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/longitude-db/longitude/bench/harness"
)

// errNoItem ends a new order on purpose.
var errNoItem = errors.New("there is no such item")

// enter is TPC-C's new-order. What it orders is chosen before, so that an attempt that is begun again is the same order.
func (c *client) enter(wh, d int) func(context.Context, *harness.Conn) error {
	customer, lines := c.rnd.IntN(customers), 5+c.rnd.IntN(11)
	wanted := map[int]int{} // item to quantity
	for len(wanted) < lines {
		wanted[c.rnd.IntN(items)] = 1 + c.rnd.IntN(10)
	}
	if c.rnd.IntN(100) == 0 {
		wanted[items] = 1 // does not exist
	}
	var ids []int
	for i := range wanted {
		ids = append(ids, i)
	}
	slices.Sort(ids) // stock rows are locked in one order, as TPC-C's own implementations do
	return func(ctx context.Context, conn *harness.Conn) error {
		var o int
		err := c.w.orders.Do(1, func() error {
			return conn.Tx(ctx, func() (err error) {
				o, err = c.order(ctx, conn, wh, d, customer, ids, wanted)
				return err
			})
		})
		if errors.Is(err, errNoItem) {
			return nil
		}
		if err == nil {
			c.last.w, c.last.d, c.last.o = wh, d, o
		}
		return err
	}
}

func (c *client) order(ctx context.Context, conn *harness.Conn, wh, d, customer int, ids []int, wanted map[int]int) (o int, err error) {
	if _, err := one(ctx, conn, []any{&o}, "SELECT next_o FROM tpcc_district WHERE w = ? AND d = ? FOR UPDATE", wh, d); err != nil {
		return 0, err
	}
	if _, err := conn.Exec(ctx, "UPDATE tpcc_district SET next_o = ? WHERE w = ? AND d = ?", o+1, wh, d); err != nil {
		return 0, err
	}
	if _, err := conn.Exec(ctx, "INSERT INTO tpcc_orders VALUES (?, ?, ?, ?, ?)", wh, d, o, customer, len(ids)); err != nil {
		return 0, err
	}
	if _, err := conn.Exec(ctx, "INSERT INTO tpcc_new_order VALUES (?, ?, ?)", wh, d, o); err != nil {
		return 0, err
	}
	prices, err := c.prices(ctx, conn, ids)
	if err != nil {
		return 0, err
	}
	var tuples []string
	var args []any
	for n, i := range ids {
		price, ok := prices[i]
		if !ok {
			return 0, errNoItem
		}
		q := wanted[i]
		if _, err := conn.Exec(ctx, "UPDATE tpcc_stock SET quantity = CASE WHEN quantity >= ? + 10 THEN quantity - ? ELSE quantity - ? + 91 END, ytd = ytd + ?, orders = orders + 1 WHERE w = ? AND i = ?",
			q, q, q, q, wh, i); err != nil {
			return 0, err
		}
		tuples = append(tuples, "(?, ?, ?, ?, ?, ?, ?)")
		args = append(args, wh, d, o, n, i, q, price*int64(q))
	}
	_, err = conn.Exec(ctx, "INSERT INTO tpcc_order_line VALUES "+strings.Join(tuples, ", "), args...)
	return o, err
}

// prices of items, of those that exist.
func (c *client) prices(ctx context.Context, conn *harness.Conn, ids []int) (map[int]int64, error) {
	var args []any
	for _, i := range ids {
		args = append(args, i)
	}
	rows, err := conn.Query(ctx, "SELECT i, price FROM tpcc_item WHERE i IN (?"+strings.Repeat(", ?", len(ids)-1)+")", args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	out := map[int]int64{}
	for rows.Next() {
		var i int
		var price int64
		if err := rows.Scan(&i, &price); err != nil {
			return nil, err
		}
		out[i] = price
	}
	return out, errors.Join(rows.Err(), rows.Close())
}

// pay is TPC-C's payment.
func (c *client) pay(wh, d int) func(context.Context, *harness.Conn) error {
	customer, amount, id := c.rnd.IntN(customers), 100+c.rnd.Int64N(500_000), harness.Scattered(c.w.paid.Add(1))
	return func(ctx context.Context, conn *harness.Conn) error {
		return c.w.payments.Do(1, func() error {
			return c.w.cents.Do(amount, func() error {
				return conn.Tx(ctx, func() error {
					for _, x := range []struct {
						q    string
						args []any
					}{
						{"UPDATE tpcc_warehouse SET ytd = ytd + ? WHERE w = ?", []any{amount, wh}},
						{"UPDATE tpcc_district SET ytd = ytd + ? WHERE w = ? AND d = ?", []any{amount, wh, d}},
						{"UPDATE tpcc_customer SET balance = balance - ?, paid = paid + ?, payments = payments + 1 WHERE w = ? AND d = ? AND c = ?", []any{amount, amount, wh, d, customer}},
						{"INSERT INTO tpcc_history VALUES (?, ?, ?, ?, ?)", []any{id, wh, d, customer, amount}},
					} {
						if _, err := conn.Exec(ctx, x.q, x.args...); err != nil {
							return err
						}
					}
					return nil
				})
			})
		})
	}
}

// status is TPC-C's order-status, of the order that this client entered last, and checks W3.
func (c *client) status(ctx context.Context, conn *harness.Conn) error {
	l := c.last
	return conn.TxReadOnly(ctx, func() error {
		if l.o == 0 {
			var n int64 // it has entered nothing yet
			_, err := one(ctx, conn, []any{&n}, "SELECT COUNT(*) FROM tpcc_orders WHERE w = 0 AND d = 0 AND o < 1")
			return err
		}
		var said, there int
		found, err := one(ctx, conn, []any{&said}, "SELECT ol_cnt FROM tpcc_orders WHERE w = ? AND d = ? AND o = ?", l.w, l.d, l.o)
		if err != nil {
			return err
		}
		if _, err := one(ctx, conn, []any{&there}, "SELECT COUNT(*) FROM tpcc_order_line WHERE w = ? AND d = ? AND o = ?", l.w, l.d, l.o); err != nil {
			return err
		}
		if !found || said != there {
			c.w.wrong.Add("W3: order %s, which had been acknowledged, was found: %v, and has %d lines of %d", fmt.Sprint(l), found, there, said)
		}
		return nil
	})
}
