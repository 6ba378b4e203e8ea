"""SQLAlchemy and Alembic, over each driver: python alchemy.py pymysql|mysqldb|mysqlconnector."""
import datetime as dt
import decimal
import pathlib
import shutil
import sys
import tempfile

import alembic.command
import alembic.config
import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import orm
from sqlalchemy.dialects import mysql

from tap import HOST, PORT, check, run

driver = sys.argv[1]
DB = "sa_" + driver
root = sa.create_engine(f"mysql+{driver}://root@{HOST}:{PORT}/")
with root.begin() as c:
    c.execute(sa.text(f"DROP DATABASE IF EXISTS {DB}"))
    c.execute(sa.text(f"CREATE DATABASE {DB}"))
engine = sa.create_engine(f"mysql+{driver}://root@{HOST}:{PORT}/{DB}?charset=utf8mb4", pool_pre_ping=True)


class Base(orm.DeclarativeBase):
    pass


tagged = sa.Table("tagged", Base.metadata, sa.Column("post", sa.ForeignKey("post.id", ondelete="CASCADE"), primary_key=True),
                  sa.Column("tag", sa.ForeignKey("tag.id"), primary_key=True))


class Author(Base):
    __tablename__ = "author"
    id: orm.Mapped[int] = orm.mapped_column(primary_key=True)
    name: orm.Mapped[str] = orm.mapped_column(sa.String(50), unique=True)
    born: orm.Mapped[dt.date | None]
    posts: orm.Mapped[list["Post"]] = orm.relationship(back_populates="author", cascade="all, delete-orphan")


class Post(Base):
    __tablename__ = "post"
    __table_args__ = (sa.Index("post_title", "title", mysql_length=20), sa.CheckConstraint("price >= 0", name="price_positive"))
    id: orm.Mapped[int] = orm.mapped_column(sa.BigInteger, primary_key=True)
    author_id: orm.Mapped[int] = orm.mapped_column(sa.ForeignKey("author.id"))
    title: orm.Mapped[str] = orm.mapped_column(sa.String(200))
    body: orm.Mapped[str | None] = orm.mapped_column(sa.Text)
    price: orm.Mapped[decimal.Decimal | None] = orm.mapped_column(sa.Numeric(10, 2))
    data: orm.Mapped[dict | None] = orm.mapped_column(sa.JSON)
    state: orm.Mapped[str] = orm.mapped_column(sa.Enum("draft", "out", name="state"), server_default="draft")
    made: orm.Mapped[dt.datetime] = orm.mapped_column(server_default=sa.func.now())
    author: orm.Mapped[Author] = orm.relationship(back_populates="posts")
    tags: orm.Mapped[list["Tag"]] = orm.relationship(secondary=tagged)


class Tag(Base):
    __tablename__ = "tag"
    id: orm.Mapped[int] = orm.mapped_column(primary_key=True)
    name: orm.Mapped[str] = orm.mapped_column(sa.String(30))


def test_create_all():
    Base.metadata.create_all(engine)
    Base.metadata.create_all(engine)
    check(sorted(sa.inspect(engine).get_table_names()), ["author", "post", "tag", "tagged"], "tables")


def test_orm():
    with orm.Session(engine) as s:
        a = Author(name="Ann", born=dt.date(1980, 2, 29))
        tags = [Tag(name="x"), Tag(name="ü")]
        a.posts = [Post(title=f"t{i}", body="b" * i, price=decimal.Decimal("1.10") * i, data={"n": [i, None]}, tags=tags[: i % 3]) for i in range(5)]
        s.add(a)
        s.commit()
        check(a.posts[3].state, "draft", "server default")
        check((a.posts[4].price, a.posts[4].data), (decimal.Decimal("4.40"), {"n": [4, None]}), "values")
    with orm.Session(engine) as s:
        got = s.scalars(sa.select(Post).options(orm.joinedload(Post.author), orm.selectinload(Post.tags)).order_by(Post.id)).all()
        check([(p.title, p.author.name, sorted(t.name for t in p.tags)) for p in got][2], ("t2", "Ann", ["x", "ü"]), "eagerly loaded")
        n = s.execute(sa.select(Author.name, sa.func.count(Post.id), sa.func.sum(Post.price)).join(Post).group_by(Author.id).having(sa.func.count() > 1)).all()
        check(n, [("Ann", 5, decimal.Decimal("11.00"))], "groups")
        s.delete(got[0])
        s.commit()
        check(s.scalar(sa.select(sa.func.count()).select_from(Post)), 4, "after a delete")


def test_rollback_and_nested():
    with orm.Session(engine) as s:
        s.add(Author(name="gone"))
        s.flush()
        s.rollback()
        s.add(Author(name="stays"))
        try:
            with s.begin_nested():
                s.add(Author(name="Ann"))
        except sa.exc.IntegrityError:
            pass
        s.commit()
        check(sorted(s.scalars(sa.select(Author.name))), ["Ann", "stays"], "authors")


def test_upsert_and_bulk():
    with engine.begin() as c:
        q = mysql.insert(Tag).values([{"id": 1, "name": "first"}, {"id": 90, "name": "new"}])
        c.execute(q.on_duplicate_key_update(name=q.inserted.name))
        c.execute(sa.insert(Tag), [{"name": f"b{i}"} for i in range(500)])
        check(c.scalar(sa.select(sa.func.count()).select_from(Tag)), 503, "tags")
        check(c.scalar(sa.select(Tag.name).where(Tag.id == 1)), "first", "name")


def test_for_update():
    with orm.Session(engine) as s:
        a = s.scalars(sa.select(Author).where(Author.name == "Ann").with_for_update()).one()
        a.born = None
        s.commit()


def test_reflection():
    i = sa.inspect(engine)
    check(i.get_pk_constraint("post")["constrained_columns"], ["id"], "primary key")
    fk = i.get_foreign_keys("post")[0]
    check((fk["constrained_columns"], fk["referred_table"], fk["referred_columns"]), (["author_id"], "author", ["id"]), "foreign key")
    check(i.get_foreign_keys("tagged")[0]["options"], {"ondelete": "CASCADE"}, "options of a foreign key")
    ix = [x for x in i.get_indexes("post") if x["name"] == "post_title"][0]
    check((ix["column_names"], ix["dialect_options"].get("mysql_length")), (["title"], {"title": 20}), "index")
    check(i.get_unique_constraints("author")[0]["column_names"], ["name"], "unique")
    columns = {c["name"]: c for c in i.get_columns("post")}
    check((str(columns["price"]["type"]), str(columns["title"]["type"]), columns["state"]["default"], columns["body"]["nullable"]),
          ("DECIMAL(10, 2)", "VARCHAR(200)", "'draft'", True), "columns")
    check([c["name"] for c in i.get_check_constraints("post")], ["price_positive"], "checks")
    m = sa.MetaData()
    m.reflect(engine)
    check(sorted(m.tables), ["author", "post", "tag", "tagged"], "reflected tables")


def test_alembic_sees_no_difference():
    with engine.connect() as c:
        check([str(d) for d in compare_metadata(MigrationContext.configure(c, opts={"compare_type": True}), Base.metadata)], [], "differences")


def test_alembic_migrations():
    home = pathlib.Path(tempfile.mkdtemp())
    try:
        cfg = alembic.config.Config()
        cfg.set_main_option("script_location", str(home / "m"))
        cfg.set_main_option("sqlalchemy.url", f"mysql+{driver}://root@{HOST}:{PORT}/{DB}")
        cfg.config_file_name = str(home / "alembic.ini")
        sys.stdout, out = open("/dev/null", "w"), sys.stdout
        try:
            alembic.command.init(cfg, str(home / "m"))
            (home / "m" / "env.py").write_text("from alembic import context\nimport sqlalchemy as sa\n"
                                              "e = sa.create_engine(context.config.get_main_option('sqlalchemy.url'))\n"
                                              "with e.connect() as c:\n    context.configure(connection=c)\n"
                                              "    with context.begin_transaction():\n        context.run_migrations()\n")
            (home / "m" / "versions").mkdir(exist_ok=True)
            (home / "m" / "versions" / "a.py").write_text(
                "from alembic import op\nimport sqlalchemy as sa\nrevision, down_revision = 'a', None\n"
                "def upgrade():\n    op.create_table('moved', sa.Column('id', sa.Integer, primary_key=True), sa.Column('n', sa.String(20)))\n"
                "    op.create_index('n_ix', 'moved', ['n'])\n"
                "def downgrade():\n    op.drop_table('moved')\n")
            (home / "m" / "versions" / "b.py").write_text(
                "from alembic import op\nimport sqlalchemy as sa\nrevision, down_revision = 'b', 'a'\n"
                "def upgrade():\n    op.add_column('moved', sa.Column('k', sa.Integer, nullable=False, server_default='3'))\n"
                "    op.alter_column('moved', 'n', new_column_name='m', existing_type=sa.String(20), nullable=False)\n"
                "    op.create_unique_constraint('k_u', 'moved', ['k'])\n"
                "def downgrade():\n    op.drop_constraint('k_u', 'moved', type_='unique')\n    op.drop_column('moved', 'k')\n"
                "    op.alter_column('moved', 'm', new_column_name='n', existing_type=sa.String(20), nullable=True)\n")
            alembic.command.upgrade(cfg, "head")
            have = [c["name"] for c in sa.inspect(engine).get_columns("moved")]
            alembic.command.downgrade(cfg, "base")
        finally:
            sys.stdout = out
        check(have, ["id", "m", "k"], "columns after the migrations")
        check(sa.inspect(engine).has_table("moved"), False, "table after going back")
    finally:
        shutil.rmtree(home)


def test_drop_all():
    Base.metadata.drop_all(engine)
    check(sa.inspect(engine).get_table_names(), ["alembic_version"], "tables")


run("sqlalchemy/" + driver, [test_create_all, test_orm, test_rollback_and_nested, test_upsert_and_bulk, test_for_update, test_reflection,
                             test_alembic_sees_no_difference, test_alembic_migrations, test_drop_all])
