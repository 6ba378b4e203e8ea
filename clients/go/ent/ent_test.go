// Package enttest does with ent what applications do: automatic migration, edges of each kind, eager loading, upserts, locks, aggregates.
package enttest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"reflect"
	"slices"
	"sync"
	"testing"
	"time"

	"entgo.io/ent/dialect/sql"
	"github.com/go-sql-driver/mysql"
	"github.com/google/uuid"

	"ent.test/ent"
	"ent.test/ent/card"
	"ent.test/ent/group"
	"ent.test/ent/migrate"
	"ent.test/ent/pet"
	"ent.test/ent/user"
)

var (
	client *ent.Client
	ctx    = context.Background()
)

func TestMain(m *testing.M) {
	c, err := ent.Open("mysql", os.Getenv("ENT_DSN"))
	if err != nil {
		panic(err)
	}
	if client = c; os.Getenv("DEBUG") != "" {
		client = c.Debug()
	}
	if err := client.Schema.Create(ctx, migrate.WithDropColumn(true), migrate.WithDropIndex(true)); err != nil {
		fmt.Println("the schema cannot be made:", err)
		os.Exit(2)
	}
	os.Exit(m.Run())
}

// must fails the test at an error.
func must[T any](t *testing.T) func(T, error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// writer keeps what a migration would do.
type writer struct{ text []byte }

func (w *writer) Write(p []byte) (int, error) { w.text = append(w.text, p...); return len(p), nil }

// A second migration finds nothing to change: what the catalog says of the tables is what was declared.
func TestMigrateAgain(t *testing.T) {
	w := &writer{}
	if err := client.Schema.WriteTo(ctx, w, migrate.WithDropColumn(true), migrate.WithDropIndex(true)); err != nil {
		t.Fatal(err)
	}
	if len(w.text) > 0 {
		t.Errorf("it would do:\n%s", w.text)
	}
	if err := client.Schema.Create(ctx); err != nil {
		t.Error(err)
	}
}

func TestKinds(t *testing.T) {
	token, when := uuid.New(), time.Date(2024, 2, 29, 12, 34, 56, 789012000, time.UTC)
	u := must[*ent.User](t)(client.User.Create().SetName("ü😀").SetEmail("kinds@x").SetAge(3).SetRole(user.RoleAdmin).SetActive(false).
		SetTags([]string{"a", "ü"}).SetBio("long").SetAvatar([]byte{0, 1, 255}).SetBig(1<<63 - 1).SetScore(0.1).SetPrice(12.34).SetToken(token).SetCreated(when).Save(ctx))
	for _, got := range []*ent.User{must[*ent.User](t)(client.User.Get(ctx, u.ID)), must[*ent.User](t)(client.User.Query().Where(user.Token(token)).Only(ctx))} {
		want := []any{"ü😀", "kinds@x", 3, user.RoleAdmin, false, []string{"a", "ü"}, "long", []byte{0, 1, 255}, uint64(1<<63 - 1), 0.1, 12.34, token, true}
		have := []any{got.Name, *got.Email, got.Age, got.Role, got.Active, got.Tags, got.Bio, *got.Avatar, got.Big, got.Score, got.Price, got.Token, got.Created.Equal(when)}
		if !reflect.DeepEqual(have, want) {
			t.Errorf("got %v, want %v", have, want)
		}
	}
	if n := must[int](t)(client.User.Query().Where(user.CreatedEQ(when), user.BigEQ(1<<63-1), user.BioContainsFold("LON")).Count(ctx)); n != 1 {
		t.Errorf("found %d", n)
	}
}

func TestConstraints(t *testing.T) {
	client.User.Create().SetName("one").SetEmail("same@x").SaveX(ctx)
	if _, err := client.User.Create().SetName("two").SetEmail("same@x").Save(ctx); !ent.IsConstraintError(err) {
		t.Errorf("a second e-mail address: %v", err)
	}
	if _, err := client.User.Create().SetName("two").SetAge(-1).Save(ctx); err == nil {
		t.Error("a negative age was taken")
	}
	if _, err := client.Card.Create().SetNumber("1").SetOwnerID(1 << 40).Save(ctx); !ent.IsConstraintError(err) {
		t.Errorf("a card of nobody: %v", err)
	}
	if _, err := client.User.Get(ctx, 1<<40); !ent.IsNotFound(err) {
		t.Errorf("a user who is not there: %v", err)
	}
}

func TestEdges(t *testing.T) {
	g1, g2 := client.Group.Create().SetName("g1").SaveX(ctx), client.Group.Create().SetName("g2").SaveX(ctx)
	ann := client.User.Create().SetName("Ann").AddGroups(g1, g2).SaveX(ctx)
	bob := client.User.Create().SetName("Bob").AddGroups(g2).SetParent(ann).AddFriends(ann).SaveX(ctx)
	client.Card.Create().SetNumber("4711").SetOwner(ann).ExecX(ctx)
	pets := client.Pet.CreateBulk(client.Pet.Create().SetName("Rex").SetOwner(ann).SetWeight(30), client.Pet.Create().SetName("Tom").SetOwner(ann).SetWeight(4),
		client.Pet.Create().SetName("Rex").SetOwner(bob), client.Pet.Create().SetName("stray")).SaveX(ctx)
	if ids := []int{pets[0].ID, pets[1].ID, pets[2].ID, pets[3].ID}; !slices.IsSorted(ids) || slices.Contains(ids, 0) {
		t.Errorf("ids %v", ids)
	}
	for i, p := range pets { // each got its own id
		if q := client.Pet.GetX(ctx, p.ID); q.Name != []string{"Rex", "Tom", "Rex", "stray"}[i] {
			t.Errorf("pet %d is %s", i, q.Name)
		}
	}
	all := client.User.Query().Where(user.IDIn(ann.ID, bob.ID)).Order(ent.Asc(user.FieldID)).WithCard().WithFriends().WithParent().WithChildren().
		WithPets(func(q *ent.PetQuery) { q.Order(ent.Desc(pet.FieldName)) }).WithGroups(func(q *ent.GroupQuery) { q.Order(ent.Asc(group.FieldName)) }).AllX(ctx)
	a, b := all[0], all[1]
	if a.Edges.Card == nil || len(a.Edges.Pets) != 2 || a.Edges.Pets[0].Name != "Tom" || len(a.Edges.Groups) != 2 || a.Edges.Groups[1].ID != g2.ID || len(a.Edges.Children) != 1 || len(a.Edges.Friends) != 1 {
		t.Errorf("Ann: %v", a.Edges)
	}
	if b.Edges.Card != nil || len(b.Edges.Pets) != 1 || len(b.Edges.Groups) != 1 || b.Edges.Parent == nil || b.Edges.Parent.ID != ann.ID {
		t.Errorf("Bob: %v", b.Edges)
	}
	if _, err := client.Pet.Create().SetName("Rex").SetOwner(ann).Save(ctx); !ent.IsConstraintError(err) {
		t.Errorf("a second Rex of Ann's: %v", err)
	}
	got := client.User.Query().Where(user.HasPetsWith(pet.WeightGT(3)), user.Not(user.HasParent()), user.HasGroupsWith(group.NameIn("g1", "g3"))).IDsX(ctx)
	if !slices.Equal(got, []int{ann.ID}) {
		t.Errorf("with heavy pets: %v", got)
	}
	if n := client.Pet.Query().Where(pet.Not(pet.HasOwner())).CountX(ctx); n != 1 {
		t.Errorf("strays: %d", n)
	}
	if names := g2.QueryUsers().QueryPets().Unique(true).Order(ent.Asc(pet.FieldName)).Select(pet.FieldName).StringsX(ctx); !slices.Equal(names, []string{"Rex", "Tom"}) {
		t.Errorf("pets of g2's users: %v", names)
	}
	few := client.User.Query().Where(user.IDIn(ann.ID, bob.ID)).Order(user.ByPetsCount(sql.OrderDesc()), user.ByName()).WithPets(func(q *ent.PetQuery) { q.Order(ent.Asc(pet.FieldName)).Limit(1) }).AllX(ctx)
	if few[0].ID != ann.ID || len(few[0].Edges.Pets) != 1 {
		t.Errorf("by pets: %v", few)
	}
	ann.Update().RemoveGroups(g1).ClearFriends().ExecX(ctx)
	if n := ann.QueryGroups().CountX(ctx); n != 1 {
		t.Errorf("Ann is in %d groups", n)
	}
}

func TestClearRequiredEdge(t *testing.T) {
	u := client.User.Create().SetName("owner").SaveX(ctx)
	c := client.Card.Create().SetNumber("0815").SetOwner(u).SaveX(ctx)
	if err := client.User.DeleteOne(u).Exec(ctx); err == nil {
		t.Error("the owner of a card was deleted")
	}
	client.Card.DeleteOne(c).ExecX(ctx)
	client.Pet.Create().SetName("p").SetOwner(u).ExecX(ctx)
	client.User.DeleteOne(u).ExecX(ctx)
	if n := client.Pet.Query().Where(pet.Name("p")).CountX(ctx); n != 0 {
		t.Errorf("%d pets outlived their owner", n)
	}
}

func TestUpsert(t *testing.T) {
	first := client.User.Create().SetName("up").SetEmail("up@x").SetAge(1).SaveX(ctx)
	id := client.User.Create().SetName("up2").SetEmail("up@x").SetAge(2).OnConflict().UpdateNewValues().IDX(ctx)
	if u := client.User.GetX(ctx, first.ID); id != first.ID || u.Name != "up2" || u.Age != 2 {
		t.Errorf("id %d, want %d: %v", id, first.ID, u)
	}
	id = client.User.Create().SetName("up3").SetEmail("up@x").OnConflict().Update(func(u *ent.UserUpsert) { u.AddAge(10) }).IDX(ctx)
	if u := client.User.GetX(ctx, first.ID); id != first.ID || u.Name != "up2" || u.Age != 12 {
		t.Errorf("id %d, want %d: %v", id, first.ID, u)
	}
	// Nothing changes.
	id = client.User.Create().SetName("up4").SetEmail("up@x").OnConflict().Ignore().IDX(ctx)
	if id != first.ID || client.User.GetX(ctx, id).Name != "up2" {
		t.Errorf("id %d, want %d", id, first.ID)
	}
	err := client.User.CreateBulk(client.User.Create().SetName("n1").SetEmail("n1@x"), client.User.Create().SetName("up5").SetEmail("up@x"), client.User.Create().SetName("n2").SetEmail("n2@x")).
		OnConflict().UpdateNewValues().Exec(ctx)
	if n := client.User.Query().Where(user.EmailIn("n1@x", "up@x", "n2@x"), user.NameIn("n1", "up5", "n2")).CountX(ctx); err != nil || n != 3 {
		t.Errorf("%d users: %v", n, err)
	}
	// The key is given.
	g := client.Group.Create().SetName("unique").SaveX(ctx)
	client.Group.Create().SetID(g.ID).SetName("renamed").OnConflict().UpdateNewValues().ExecX(ctx)
	if got := client.Group.GetX(ctx, g.ID).Name; got != "renamed" {
		t.Errorf("got %v", got)
	}
}

func TestBulk(t *testing.T) {
	var make []*ent.UserCreate
	for i := range 500 {
		make = append(make, client.User.Create().SetName(fmt.Sprint("bulk", i)).SetAge(i%50))
	}
	users := client.User.CreateBulk(make...).SaveX(ctx)
	for _, i := range []int{0, 1, 250, 499} {
		if u := client.User.GetX(ctx, users[i].ID); u.Name != fmt.Sprint("bulk", i) {
			t.Errorf("%d is %s", i, u.Name)
		}
	}
	bulk := user.NameHasPrefix("bulk")
	if n := client.User.Update().Where(bulk, user.AgeLT(10)).AddAge(100).SetRole(user.RoleAdmin).SaveX(ctx); n != 100 {
		t.Errorf("%d updated", n)
	}
	var by []struct {
		Role string `json:"role"`
		N    int    `json:"n"`
		Sum  int    `json:"sum"`
		Max  int    `json:"max"`
	}
	client.User.Query().Where(bulk).GroupBy(user.FieldRole).Aggregate(ent.As(ent.Count(), "n"), ent.As(ent.Sum(user.FieldAge), "sum"), ent.As(ent.Max(user.FieldAge), "max")).ScanX(ctx, &by)
	slices.SortFunc(by, func(a, b struct {
		Role string `json:"role"`
		N    int    `json:"n"`
		Sum  int    `json:"sum"`
		Max  int    `json:"max"`
	}) int {
		return a.N - b.N
	})
	if fmt.Sprint(by) != "[{admin 100 10450 109} {user 400 11800 49}]" {
		t.Errorf("groups: %v", by)
	}
	page := client.User.Query().Where(bulk).Order(ent.Desc(user.FieldAge), ent.Asc(user.FieldID)).Offset(10).Limit(3).Select(user.FieldName).StringsX(ctx)
	if !slices.Equal(page, []string{"bulk8", "bulk58", "bulk108"}) {
		t.Errorf("page: %v", page)
	}
	if mean := client.User.Query().Where(bulk).Aggregate(ent.Mean(user.FieldAge)).Float64X(ctx); mean != 44.5 {
		t.Errorf("mean %v", mean)
	}
	if n := client.User.Query().Where(bulk, func(s *sql.Selector) {
		u := sql.Table(user.Table)
		s.Where(sql.GT(s.C(user.FieldAge), sql.Select(sql.Avg(u.C(user.FieldAge))).From(u).Where(sql.HasPrefix(u.C(user.FieldName), "bulk"))))
	}).CountX(ctx); n != 150 {
		t.Errorf("above the mean: %d", n)
	}
	if n := client.User.Delete().Where(bulk).ExecX(ctx); n != 500 {
		t.Errorf("%d deleted", n)
	}
}

func TestTransactions(t *testing.T) {
	tx := must[*ent.Tx](t)(client.Tx(ctx))
	gone := tx.User.Create().SetName("gone").SaveX(ctx)
	if !tx.User.Query().Where(user.ID(gone.ID)).ExistX(ctx) || client.User.Query().Where(user.ID(gone.ID)).ExistX(ctx) {
		t.Error("a transaction does not see its own writes, or others do")
	}
	if err := tx.Rollback(); err != nil || client.User.Query().Where(user.ID(gone.ID)).ExistX(ctx) {
		t.Errorf("rolled back: %v", err)
	}
	c := client.User.Create().SetName("counter").SaveX(ctx)
	var all sync.WaitGroup
	for range 8 {
		all.Add(1)
		go func() {
			defer all.Done()
			for done := 0; done < 20; {
				err := func() error {
					tx, err := client.Tx(ctx)
					if err != nil {
						return err
					}
					defer tx.Rollback()
					u, err := tx.User.Query().Where(user.ID(c.ID)).ForUpdate().Only(ctx)
					if err != nil {
						return err
					}
					if err := tx.User.UpdateOneID(c.ID).SetAge(u.Age + 1).Exec(ctx); err != nil {
						return err
					}
					return tx.Commit()
				}()
				var m *mysql.MySQLError
				if errors.As(err, &m) && m.Number == 1213 {
					continue
				}
				if err != nil {
					t.Error(err)
					return
				}
				done++
			}
		}()
	}
	all.Wait()
	if age := client.User.GetX(ctx, c.ID).Age; age != 160 {
		t.Errorf("160 increments made %d", age)
	}
}

func TestRawAndModifiers(t *testing.T) {
	for i := range 3 {
		client.Card.Create().SetNumber(fmt.Sprint("raw", i)).SetOwner(client.User.Create().SetName("raw").SetAge(i).SaveX(ctx)).ExecX(ctx)
	}
	rows := must[*sql.Rows](t)(func() (*sql.Rows, error) {
		r, err := client.QueryContext(ctx, "SELECT c.number, u.age FROM cards c JOIN users u ON u.id = c.user_card WHERE u.name = ? ORDER BY 2 DESC", "raw")
		return &sql.Rows{ColumnScanner: r}, err
	}())
	defer rows.Close()
	var got []string
	for rows.Next() {
		var number string
		var age int
		if err := rows.Scan(&number, &age); err != nil {
			t.Fatal(err)
		}
		got = append(got, fmt.Sprint(number, "/", age))
	}
	if !slices.Equal(got, []string{"raw2/2", "raw1/1", "raw0/0"}) {
		t.Error(got)
	}
	var ranked []struct {
		Number string `json:"number"`
		Rank   int    `json:"r"`
	}
	client.Card.Query().Where(card.NumberHasPrefix("raw")).Modify(func(s *sql.Selector) {
		s.Select(s.C(card.FieldNumber)).AppendSelectExprAs(sql.RowNumber().OrderExpr(sql.ExprFunc(func(b *sql.Builder) { b.Ident(s.C(card.FieldNumber)).WriteString(" DESC") })), "r").OrderBy("r")
	}).ScanX(ctx, &ranked)
	if fmt.Sprint(ranked) != "[{raw2 1} {raw1 2} {raw0 3}]" {
		t.Error(ranked)
	}
}
