package engine

import (
	"time"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/vitess/go/mysql"
)

// noEvents is a database without events, which cannot be made in this version. go-mysql-server asks each database for them, and a database
// that cannot answer breaks information_schema.EVENTS and SHOW EVENTS for all, and so mysqldump --events.
type noEvents struct{}

var errEvents = mysql.NewSQLError(1235, "42000", "This version of Longitude doesn't yet support 'events'")

// GetEvent implements sql.EventDatabase.
func (noEvents) GetEvent(*sql.Context, string) (sql.EventDefinition, bool, error) {
	return sql.EventDefinition{}, false, nil
}

// GetEvents implements sql.EventDatabase.
func (noEvents) GetEvents(*sql.Context) ([]sql.EventDefinition, any, error) { return nil, nil, nil }

// SaveEvent implements sql.EventDatabase.
func (noEvents) SaveEvent(*sql.Context, sql.EventDefinition) (bool, error) { return false, errEvents }

// DropEvent implements sql.EventDatabase.
func (noEvents) DropEvent(_ *sql.Context, name string) error {
	return mysql.NewSQLError(1539, "HY000", "Unknown event '%s'", name)
}

// UpdateEvent implements sql.EventDatabase.
func (noEvents) UpdateEvent(*sql.Context, string, sql.EventDefinition) (bool, error) {
	return false, errEvents
}

// UpdateLastExecuted implements sql.EventDatabase.
func (noEvents) UpdateLastExecuted(*sql.Context, string, time.Time) error { return errEvents }

// NeedsToReloadEvents implements sql.EventDatabase.
func (noEvents) NeedsToReloadEvents(*sql.Context, any) (bool, error) { return false, nil }

// noPrograms is a database without triggers: for the same reason.
type noPrograms struct{}

// GetTriggers implements sql.TriggerDatabase.
func (noPrograms) GetTriggers(*sql.Context) ([]sql.TriggerDefinition, error) { return nil, nil }

// CreateTrigger implements sql.TriggerDatabase.
func (noPrograms) CreateTrigger(*sql.Context, sql.TriggerDefinition) error { return errSystem }

// DropTrigger implements sql.TriggerDatabase.
func (noPrograms) DropTrigger(_ *sql.Context, name string) error {
	return sql.ErrTriggerDoesNotExist.New(name)
}

var (
	_ sql.EventDatabase   = (*database)(nil)
	_ sql.EventDatabase   = (*systemDatabase)(nil)
	_ sql.TriggerDatabase = (*systemDatabase)(nil)
)
