package main

import (
	"context"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/longitude-db/longitude/internal/client"
	"github.com/longitude-db/longitude/internal/shell"
)

func newSQL() *cobra.Command {
	var url string
	var execute []string
	c := &cobra.Command{
		Use:   "sql",
		Short: "talk SQL to a node",
		Long: `Talk SQL to a node: interactively at a terminal, from standard input otherwise, or with -e.
Results are tables at a terminal and tab-separated lines with a head otherwise.`,
		Example: `  longitude sql --url mysql://root@127.0.0.1:26257/shop
  longitude sql -e 'SELECT * FROM longitude.nodes'
  longitude sql < schema.sql`,
		Args: noArgs,
	}
	c.Flags().StringVar(&url, "url", "127.0.0.1:"+client.DefaultPort, "SQL address of a node: mysql://user@host:port/database, or host:port")
	c.Flags().StringArrayVarP(&execute, "execute", "e", nil, "carry out these statements and leave; can be given more than once")
	c.RunE = func(c *cobra.Command, _ []string) error {
		cfg, err := client.Parse(url)
		if err != nil {
			return &usageError{c.CommandPath(), err}
		}
		db, err := client.Open(cfg)
		if err != nil {
			return &usageError{c.CommandPath(), err}
		}
		defer db.Close()
		s := &shell.Shell{DB: db, Addr: cfg.Addr, Out: c.OutOrStdout(), Err: c.ErrOrStderr(), Table: isTerminal(c.OutOrStdout())}
		defer s.Close()
		switch {
		case len(execute) > 0:
			err = s.Run(c.Context(), strings.Join(execute, ";\n"))
		case isTerminal(c.InOrStdin()):
			return s.Interact(c.Context())
		default:
			err = s.Read(c.Context(), c.InOrStdin())
		}
		if err != nil && err != context.Canceled {
			return shell.Explain(err, cfg.Addr)
		}
		return err
	}
	return c
}

// isTerminal reports whether a stream is a person's.
func isTerminal(s any) bool {
	f, ok := s.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}
