// Package schema is what the tests of ent use: a column of each kind, and edges of each kind.
package schema

import (
	"errors"
	"time"

	"entgo.io/ent"
	"entgo.io/ent/dialect"
	"entgo.io/ent/dialect/entsql"
	"entgo.io/ent/schema"
	"entgo.io/ent/schema/edge"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
	"github.com/google/uuid"
)

// User has a card, pets, groups, friends and a parent.
type User struct{ ent.Schema }

func (User) Annotations() []schema.Annotation {
	return []schema.Annotation{entsql.Checks(map[string]string{"users_age": "age >= 0"})}
}

func (User) Fields() []ent.Field {
	return []ent.Field{
		field.String("name").MaxLen(100),
		field.String("email").MaxLen(100).Unique().Optional().Nillable(),
		field.Int("age").Default(0),
		field.Enum("role").Values("user", "admin").Default("user"),
		field.Bool("active").Default(true),
		field.JSON("tags", []string{}).Optional(),
		field.Text("bio").Optional(),
		field.Bytes("avatar").Optional().Nillable(),
		field.Uint64("big").Optional(),
		field.Float("score").Optional(),
		field.Float("price").SchemaType(map[string]string{dialect.MySQL: "decimal(10,2)"}).Optional(),
		field.UUID("token", uuid.UUID{}).Default(uuid.New),
		field.Time("created").Default(time.Now).SchemaType(map[string]string{dialect.MySQL: "datetime(6)"}).Immutable(),
	}
}

func (User) Edges() []ent.Edge {
	return []ent.Edge{
		edge.To("card", Card.Type).Unique(),
		edge.To("pets", Pet.Type).Annotations(entsql.OnDelete(entsql.Cascade)),
		edge.To("groups", Group.Type),
		edge.To("friends", User.Type),
		edge.To("children", User.Type).From("parent").Unique(),
	}
}

func (User) Indexes() []ent.Index {
	return []ent.Index{index.Fields("name", "age")}
}

// Pet belongs to at most one user.
type Pet struct{ ent.Schema }

func (Pet) Fields() []ent.Field {
	return []ent.Field{field.String("name"), field.Int("weight").Default(1)}
}

func (Pet) Edges() []ent.Edge {
	return []ent.Edge{edge.From("owner", User.Type).Ref("pets").Unique()}
}

func (Pet) Indexes() []ent.Index { return []ent.Index{index.Fields("name").Edges("owner").Unique()} }

// Card belongs to exactly one user.
type Card struct{ ent.Schema }

func (Card) Fields() []ent.Field {
	return []ent.Field{field.String("number").Unique().Validate(func(s string) error {
		if s == "" {
			return errors.New("empty")
		}
		return nil
	})}
}

func (Card) Edges() []ent.Edge {
	return []ent.Edge{edge.From("owner", User.Type).Ref("card").Unique().Required()}
}

// Group has users, and an id of its own kind.
type Group struct{ ent.Schema }

func (Group) Fields() []ent.Field {
	return []ent.Field{field.UUID("id", uuid.UUID{}).Default(uuid.New), field.String("name").Unique()}
}

func (Group) Edges() []ent.Edge { return []ent.Edge{edge.From("users", User.Type).Ref("groups")} }
