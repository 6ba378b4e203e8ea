package client

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

// Metrics are sums over everything that nodes export under a name: of all labels and nodes, counters and gauges by
// value, histograms by their sum (name_sum) and count (name_count).
type Metrics map[string]float64

// Scrape adds up the metrics of the nodes at these HTTP addresses.
func Scrape(ctx context.Context, addrs []string) (Metrics, error) {
	out := Metrics{}
	for _, a := range addrs {
		if err := out.add(ctx, a); err != nil {
			return nil, fmt.Errorf("reading the metrics of %s: %w", a, err)
		}
	}
	return out, nil
}

func (m Metrics) add(ctx context.Context, addr string) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+addr+"/metrics", nil)
	if err != nil {
		return err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("it answered %s", resp.Status)
	}
	return m.parse(resp.Body)
}

// parse adds up the Prometheus text format.
func (m Metrics) parse(r io.Reader) error {
	p := expfmt.NewTextParser(model.UTF8Validation)
	families, err := p.TextToMetricFamilies(r)
	if err != nil {
		return err
	}
	for name, f := range families {
		for _, x := range f.GetMetric() {
			switch {
			case x.Histogram != nil:
				m[name+"_sum"] += x.Histogram.GetSampleSum()
				m[name+"_count"] += float64(x.Histogram.GetSampleCount())
				continue
			case x.Summary != nil:
				m[name+"_sum"] += x.Summary.GetSampleSum()
				m[name+"_count"] += float64(x.Summary.GetSampleCount())
				continue
			}
			v := x.GetCounter().GetValue() + x.GetGauge().GetValue() + x.GetUntyped().GetValue()
			m[name] += v
			for _, l := range x.GetLabel() {
				m[name+"{"+l.GetName()+"="+l.GetValue()+"}"] += v
			}
		}
	}
	return nil
}

// HTTPAddrs are the HTTP addresses of the nodes of a cluster, as one of them knows it.
func HTTPAddrs(ctx context.Context, db *sql.DB) ([]string, error) {
	rows, err := db.QueryContext(ctx, "SELECT http_addr FROM longitude.nodes")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []string
	for rows.Next() {
		var a string
		if err := rows.Scan(&a); err != nil {
			return nil, err
		}
		out = append(out, a)
	}
	return out, rows.Err()
}

// CreateDatabase makes the database that a configuration names, if it is missing.
func CreateDatabase(ctx context.Context, c *mysql.Config) error {
	without := c.Clone()
	without.DBName = ""
	db, err := Open(without)
	if err != nil {
		return err
	}
	defer db.Close()
	if _, err := db.ExecContext(ctx, "CREATE DATABASE IF NOT EXISTS "+QuoteName(c.DBName)); err != nil {
		return fmt.Errorf("creating database %s on %s: %w", c.DBName, c.Addr, err)
	}
	return nil
}

// FewestVoters is the number of voting replicas of the range that has the fewest, as a node of the cluster knows it.
func FewestVoters(ctx context.Context, db *sql.DB) (fewest int, err error) {
	rows, err := db.QueryContext(ctx, "SELECT replicas FROM longitude.ranges")
	if err != nil {
		return 0, err
	}
	defer rows.Close()
	fewest = math.MaxInt
	for rows.Next() {
		var replicas string
		if err := rows.Scan(&replicas); err != nil {
			return 0, err
		}
		voters := 0
		for r := range strings.SplitSeq(replicas, ",") {
			if !strings.Contains(r, "learner") {
				voters++
			}
		}
		fewest = min(fewest, voters)
	}
	if err := rows.Err(); err != nil {
		return 0, err
	}
	if fewest == math.MaxInt {
		return 0, errors.New("no node shows its ranges")
	}
	return fewest, nil
}
