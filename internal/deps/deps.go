// Package deps keeps modules in go.mod until the rooms that use them are written.
package deps

import (
	_ "github.com/HdrHistogram/hdrhistogram-go"
	_ "github.com/anishathalye/porcupine"
	_ "github.com/cockroachdb/datadriven"
	_ "github.com/cockroachdb/pebble/v2"
	_ "github.com/cockroachdb/pebble/v2/cockroachkvs"
	_ "github.com/dolthub/go-mysql-server"
	_ "github.com/dolthub/go-mysql-server/server"
	_ "github.com/facebook/time/ntp/chrony"
	_ "github.com/go-sql-driver/mysql"
	_ "github.com/google/btree"
	_ "github.com/google/uuid"
	_ "github.com/peterh/liner"
	_ "github.com/prometheus/client_golang/prometheus/promhttp"
	_ "github.com/rogpeppe/go-internal/testscript"
	_ "github.com/spf13/cobra"
	_ "github.com/tinylib/msgp/msgp"
	_ "go.etcd.io/raft/v3"
	_ "golang.org/x/sys/unix"
	_ "golang.org/x/term"
	_ "google.golang.org/grpc"
	_ "storj.io/drpc"
)
