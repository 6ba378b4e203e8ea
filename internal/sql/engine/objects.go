package engine

import (
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/vitess/go/mysql"

	"github.com/longitude-db/longitude/internal/sql/catalog"
)

// CreateView implements sql.ViewDatabase.
func (d *database) CreateView(ctx *sql.Context, name, text, create string) error {
	return d.change(ctx, func(desc *catalog.Database) error {
		if slices.ContainsFunc(desc.Views, func(v catalog.View) bool { return strings.EqualFold(v.Name, name) }) {
			return sql.ErrExistingView.New(d.name, name)
		}
		desc.Views = append(desc.Views, catalog.View{Name: name, Text: text, Create: create, SQLMode: sql.LoadSqlMode(ctx).String()})
		return nil
	})
}

// DropView implements sql.ViewDatabase.
func (d *database) DropView(ctx *sql.Context, name string) error {
	return d.change(ctx, func(desc *catalog.Database) error {
		n := len(desc.Views)
		desc.Views = slices.DeleteFunc(desc.Views, func(v catalog.View) bool { return strings.EqualFold(v.Name, name) })
		if len(desc.Views) == n {
			return sql.ErrViewDoesNotExist.New(d.name, name)
		}
		return nil
	})
}

func viewDefinition(v catalog.View) sql.ViewDefinition {
	return sql.ViewDefinition{Name: v.Name, TextDefinition: v.Text, CreateViewStatement: v.Create, SqlMode: v.SQLMode}
}

// GetViewDefinition implements sql.ViewDatabase.
func (d *database) GetViewDefinition(ctx *sql.Context, name string) (sql.ViewDefinition, bool, error) {
	desc, err := d.whole(ctx)
	if err != nil {
		return sql.ViewDefinition{}, false, err
	}
	if s, err := sessionOf(ctx); err == nil && s.temporary.plain == 0 {
		if t, err := s.temporaryNamed(ctx, d.name, name); err != nil || t != nil {
			return sql.ViewDefinition{}, false, err // the table stands in front of the view
		}
	}
	for _, v := range desc.Views {
		if strings.EqualFold(v.Name, name) {
			if listsSchema(v.Text) {
				d.e.used(ctx, (*uses).everything)
			}
			return viewDefinition(v), true, nil
		}
	}
	return sql.ViewDefinition{}, false, nil
}

// AllViews implements sql.ViewDatabase.
func (d *database) AllViews(ctx *sql.Context) (out []sql.ViewDefinition, err error) {
	desc, err := d.whole(ctx)
	if err != nil {
		return nil, err
	}
	for _, v := range desc.Views {
		out = append(out, viewDefinition(v))
	}
	return out, nil
}

// GetTriggers implements sql.TriggerDatabase.
func (d *database) GetTriggers(ctx *sql.Context) (out []sql.TriggerDefinition, err error) {
	desc, err := d.whole(ctx)
	if err != nil {
		return nil, err
	}
	s, err := sessionOf(ctx)
	within := err == nil && s.stmt != nil && s.stmt.kind != reading
	for _, t := range desc.Triggers {
		if within {
			if t.Create, err = outerTrigger(t.Create, d.name); err != nil {
				return nil, err
			}
		}
		out = append(out, sql.TriggerDefinition{Name: t.Name, CreateStatement: t.Create, CreatedAt: time.Unix(0, t.Created), SqlMode: t.SQLMode})
	}
	return out, nil
}

// CreateTrigger implements sql.TriggerDatabase.
func (d *database) CreateTrigger(ctx *sql.Context, def sql.TriggerDefinition) error {
	return d.change(ctx, func(desc *catalog.Database) error {
		if s, err := sessionOf(ctx); err == nil && s.stmt.trigger != "" {
			def.CreateStatement, def.SqlMode = s.stmt.trigger, s.settings(ctx).sqlMode
			if slices.ContainsFunc(desc.Triggers, func(t catalog.Trigger) bool { return strings.EqualFold(t.Name, def.Name) }) {
				return mysql.NewSQLError(1359, "HY000", "Trigger already exists")
			}
			now, err := s.schema(ctx)
			if err != nil {
				return err
			}
			if m := triggerTable.FindStringSubmatch(def.CreateStatement); m != nil {
				if t := now.snap.Base(d.id, strings.Trim(m[3], "`")); t != nil {
					if err := checkTriggerColumns(def.CreateStatement, t); err != nil {
						return err
					}
				}
			}
		}
		desc.Triggers = append(desc.Triggers, catalog.Trigger{Name: def.Name, Create: def.CreateStatement, Created: def.CreatedAt.UnixNano(), SQLMode: def.SqlMode})
		return nil
	})
}

// DropTrigger implements sql.TriggerDatabase.
func (d *database) DropTrigger(ctx *sql.Context, name string) error {
	return d.change(ctx, func(desc *catalog.Database) error {
		n := len(desc.Triggers)
		desc.Triggers = slices.DeleteFunc(desc.Triggers, func(t catalog.Trigger) bool { return strings.EqualFold(t.Name, name) })
		if len(desc.Triggers) == n {
			return sql.ErrTriggerDoesNotExist.New(name)
		}
		return nil
	})
}

// triggerTable finds the table of a CREATE TRIGGER: what stands before it, its database if that is named, its name, and the rest.
var triggerTable = regexp.MustCompile("(?is)^(\\s*CREATE\\s.*?\\bTRIGGER\\s.*?\\b(?:BEFORE|AFTER)\\s+(?:INSERT|UPDATE|DELETE)\\s+ON\\s+)" +
	"((?:`[^`]+`|[\\w$]+)\\s*\\.\\s*)?(`[^`]+`|[\\w$]+)(\\s+FOR\\s+EACH\\s+ROW\\b.*)$")

// moveTriggers has the triggers of a table follow it to its new name. Which table a trigger is for stands in its text alone.
func (d *database) moveTriggers(ctx *sql.Context, from, to string) error {
	_, desc, err := d.desc(ctx)
	if err != nil || len(desc.Triggers) == 0 {
		return err
	}
	return d.change(ctx, func(desc *catalog.Database) error {
		for i := range desc.Triggers {
			m := triggerTable.FindStringSubmatch(desc.Triggers[i].Create)
			if m != nil && strings.EqualFold(strings.Trim(m[3], "`"), from) {
				desc.Triggers[i].Create = m[1] + m[2] + "`" + to + "`" + m[4]
			}
		}
		return nil
	})
}
