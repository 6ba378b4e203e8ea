<?php
// What a content management system does, through PDO (statements emulated and not) and mysqli: posts with meta data, terms, comments, options.
// The schema is of the kind that such systems have; it is not one of theirs.

$host = getenv('LONGITUDE_HOST') ?: '127.0.0.1';
$port = (int) getenv('LONGITUDE_PORT');

function equal($got, $want, string $what = ''): void {
    if ($got !== $want) {
        throw new Exception("$what got " . json_encode($got) . ', want ' . json_encode($want));
    }
}

function test(string $name, callable $run): void {
    try {
        $run();
        echo "ok php/$name\n";
    } catch (Throwable $e) {
        echo "not ok php/$name: " . preg_replace('/\s+/', ' ', get_class($e) . ': ' . $e->getMessage()) . "\n";
    }
}

/** Db is one way to the server: all three answer queries with rows of names to values. */
interface Db {
    public function query(string $sql, array $args = []): array;
    public function exec(string $sql, array $args = []): int;
    public function id(): int;
    public function begin(): void;
    public function end(bool $commit): void;
    /** the error's number and SQLSTATE */
    public function error(Throwable $e): array;
}

final class Pdo_ implements Db {
    public PDO $c;
    public function __construct(string $host, int $port, bool $emulate) {
        $this->c = new PDO("mysql:host=$host;port=$port;charset=utf8mb4", 'root', '', [PDO::ATTR_ERRMODE => PDO::ERRMODE_EXCEPTION, PDO::ATTR_EMULATE_PREPARES => $emulate,
            PDO::ATTR_DEFAULT_FETCH_MODE => PDO::FETCH_ASSOC, PDO::ATTR_STRINGIFY_FETCHES => true]);
    }
    private function run(string $sql, array $args): PDOStatement {
        $s = $this->c->prepare($sql);
        foreach ($args as $i => $a) {
            $s->bindValue($i + 1, $a, is_int($a) ? PDO::PARAM_INT : ($a === null ? PDO::PARAM_NULL : PDO::PARAM_STR));
        }
        $s->execute();
        return $s;
    }
    public function query(string $sql, array $args = []): array { return $this->run($sql, $args)->fetchAll(); }
    public function exec(string $sql, array $args = []): int { return $this->run($sql, $args)->rowCount(); }
    public function id(): int { return (int) $this->c->lastInsertId(); }
    public function begin(): void { $this->c->beginTransaction(); }
    public function end(bool $commit): void { $commit ? $this->c->commit() : $this->c->rollBack(); }
    public function error(Throwable $e): array { return [$e->errorInfo[1], $e->errorInfo[0]]; }
}

final class Mysqli_ implements Db {
    public mysqli $c;
    public function __construct(string $host, int $port) {
        mysqli_report(MYSQLI_REPORT_ERROR | MYSQLI_REPORT_STRICT);
        $this->c = new mysqli($host, 'root', '', '', $port);
        $this->c->set_charset('utf8mb4');
    }
    private function run(string $sql, array $args) {
        if (!$args) {
            return $this->c->query($sql);
        }
        $s = $this->c->prepare($sql);
        $s->bind_param(implode('', array_map(fn ($a) => is_int($a) ? 'i' : 's', $args)), ...$args);
        $s->execute();
        return $s->get_result();
    }
    public function query(string $sql, array $args = []): array {
        return array_map(fn ($r) => array_map(fn ($v) => $v === null ? null : (string) $v, $r), $this->run($sql, $args)->fetch_all(MYSQLI_ASSOC));
    }
    public function exec(string $sql, array $args = []): int {
        if (!$args) {
            $this->c->query($sql);
            return $this->c->affected_rows;
        }
        $s = $this->c->prepare($sql);
        $s->execute($args);
        return $s->affected_rows;
    }
    public function id(): int { return (int) $this->c->insert_id; }
    public function begin(): void { $this->c->begin_transaction(); }
    public function end(bool $commit): void { $commit ? $this->c->commit() : $this->c->rollback(); }
    public function error(Throwable $e): array { return [$e->getCode(), $e->getSqlState()]; }
}

function suite(string $p, string $database, Db $db): void {
    test("$p/schema", function () use ($db, $database) {
        $db->exec("DROP DATABASE IF EXISTS $database");
        $db->exec("CREATE DATABASE $database DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_520_ci");
        $db->exec("USE $database");
        $db->exec("SET SESSION sql_mode = 'NO_ENGINE_SUBSTITUTION'"); // such systems take strictness away, for their dates of zeros
        $rest = 'ENGINE=InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_520_ci';
        $db->exec("CREATE TABLE cms_posts (id BIGINT(20) UNSIGNED NOT NULL AUTO_INCREMENT, author BIGINT(20) UNSIGNED NOT NULL DEFAULT '0', made DATETIME NOT NULL DEFAULT '0000-00-00 00:00:00',
            content LONGTEXT NOT NULL, title TEXT NOT NULL, status VARCHAR(20) NOT NULL DEFAULT 'publish', slug VARCHAR(200) NOT NULL DEFAULT '', parent BIGINT(20) UNSIGNED NOT NULL DEFAULT '0',
            kind VARCHAR(20) NOT NULL DEFAULT 'post', comments BIGINT(20) NOT NULL DEFAULT '0', PRIMARY KEY (id), KEY slug (slug(191)), KEY kind_status_made (kind, status, made, id), KEY author (author)) $rest");
        $db->exec("CREATE TABLE cms_meta (id BIGINT(20) UNSIGNED NOT NULL AUTO_INCREMENT, post BIGINT(20) UNSIGNED NOT NULL DEFAULT '0', name VARCHAR(255) DEFAULT NULL, value LONGTEXT,
            PRIMARY KEY (id), KEY post (post), KEY name (name(191))) $rest");
        $db->exec("CREATE TABLE cms_terms (id BIGINT(20) UNSIGNED NOT NULL AUTO_INCREMENT, name VARCHAR(200) NOT NULL DEFAULT '', slug VARCHAR(200) NOT NULL DEFAULT '', taxonomy VARCHAR(32) NOT NULL DEFAULT '',
            parent BIGINT(20) UNSIGNED NOT NULL DEFAULT 0, uses BIGINT(20) NOT NULL DEFAULT '0', PRIMARY KEY (id), UNIQUE KEY slug_taxonomy (slug(100), taxonomy)) $rest");
        $db->exec("CREATE TABLE cms_links (post BIGINT(20) UNSIGNED NOT NULL DEFAULT '0', term BIGINT(20) UNSIGNED NOT NULL DEFAULT '0', place INT(11) NOT NULL DEFAULT '0', PRIMARY KEY (post, term), KEY term (term)) $rest");
        $db->exec("CREATE TABLE cms_options (id BIGINT(20) UNSIGNED NOT NULL AUTO_INCREMENT, name VARCHAR(191) NOT NULL DEFAULT '', value LONGTEXT NOT NULL, autoload VARCHAR(20) NOT NULL DEFAULT 'yes',
            PRIMARY KEY (id), UNIQUE KEY name (name), KEY autoload (autoload)) $rest");
        $db->exec("CREATE TABLE cms_comments (id BIGINT(20) UNSIGNED NOT NULL AUTO_INCREMENT, post BIGINT(20) UNSIGNED NOT NULL DEFAULT '0', author TINYTEXT NOT NULL, made DATETIME NOT NULL DEFAULT '0000-00-00 00:00:00',
            content TEXT NOT NULL, approved VARCHAR(20) NOT NULL DEFAULT '1', parent BIGINT(20) UNSIGNED NOT NULL DEFAULT '0', PRIMARY KEY (id), KEY post (post), KEY approved_made (approved, made)) $rest");
        equal(array_column($db->query("SHOW TABLES LIKE 'cms\\\\_%'"), "Tables_in_$database (cms\\_%)"), ['cms_comments', 'cms_links', 'cms_meta', 'cms_options', 'cms_posts', 'cms_terms']);
        // An upgrade compares what there is with what it wants.
        equal(array_map(fn ($r) => "$r[Field] $r[Type] $r[Null] $r[Key] $r[Extra]", $db->query('DESCRIBE cms_links')), ['post bigint unsigned NO PRI ', 'term bigint unsigned NO PRI ', 'place int NO  ']);
        equal(array_map(fn ($r) => "$r[Key_name] $r[Column_name] $r[Sub_part]", $db->query('SHOW INDEX FROM cms_terms')), ['PRIMARY id ', 'slug_taxonomy slug 100', 'slug_taxonomy taxonomy ']);
    });
    test("$p/options", function () use ($db) {
        $upsert = 'INSERT INTO `cms_options` (`name`, `value`, `autoload`) VALUES (?, ?, ?) ON DUPLICATE KEY UPDATE `name` = VALUES(`name`), `value` = VALUES(`value`), `autoload` = VALUES(`autoload`)';
        equal([$db->exec($upsert, ['siteurl', 'http://a', 'yes']), $db->exec($upsert, ['siteurl', 'http://b', 'yes']), $db->exec($upsert, ['siteurl', 'http://b', 'yes'])], [1, 2, 0], 'rows');
        $db->exec($upsert, ['big', serialize(array_fill(0, 2000, 'ü😀')), 'no']);
        $db->exec("UPDATE cms_options SET value = ? WHERE name = ?", ["it's \\ \"quoted\"\n\0", 'siteurl']);
        equal($db->query("SELECT name, value FROM cms_options WHERE autoload IN ('yes', 'on', 'auto')"), [['name' => 'siteurl', 'value' => "it's \\ \"quoted\"\n\0"]]);
        equal(count(unserialize($db->query('SELECT value FROM cms_options WHERE name = ? LIMIT 1', ['big'])[0]['value'])), 2000);
    });
    test("$p/posts", function () use ($db) {
        $kinds = ['post', 'page', 'attachment'];
        for ($i = 1; $i <= 60; $i++) {
            $db->exec('INSERT INTO cms_posts (author, made, content, title, status, slug, kind) VALUES (?, ?, ?, ?, ?, ?, ?)',
                [$i % 3, sprintf('2024-%02d-%02d 10:00:00', 1 + $i % 12, 1 + $i % 28), "Text of $i, about " . ($i % 7 ? 'cats' : 'dogs & Äpfel'), "Title $i", $i % 10 ? 'publish' : 'draft', "title-$i", $kinds[$i % 3]]);
            equal($db->id(), $i, 'insert id');
            $db->exec('INSERT INTO cms_meta (post, name, value) VALUES (?, ?, ?), (?, ?, ?)', [$i, 'views', (string) ($i * 3 % 50), $i, '_hidden', null]);
        }
        equal($db->exec("UPDATE cms_posts SET made = '0000-00-00 00:00:00' WHERE status = 'draft'"), 6);
        equal($db->query("SELECT COUNT(*) AS n FROM cms_posts WHERE made = '0000-00-00 00:00:00'"), [['n' => '6']]);
    });
    test("$p/pages", function () use ($db) {
        $rows = $db->query("SELECT SQL_CALC_FOUND_ROWS p.id FROM cms_posts p WHERE 1=1 AND ((p.kind = 'post' AND (p.status = 'publish' OR p.status = 'private'))) ORDER BY p.made DESC LIMIT ?, ?", [5, 5]);
        equal([count($rows), $db->query('SELECT FOUND_ROWS() AS n')], [5, [['n' => '18']]]);
        equal($db->query("SELECT DISTINCT YEAR(made) AS `year`, MONTH(made) AS `month`, COUNT(id) AS posts FROM cms_posts WHERE kind = 'post' AND status = 'publish' GROUP BY YEAR(made), MONTH(made) ORDER BY made DESC LIMIT 2"),
            [['year' => '2024', 'month' => '10', 'posts' => '5'], ['year' => '2024', 'month' => '7', 'posts' => '4']]);
        equal($db->query("SELECT status, COUNT(*) AS num_posts FROM cms_posts WHERE kind = 'page' GROUP BY status ORDER BY status"), [['status' => 'draft', 'num_posts' => '2'], ['status' => 'publish', 'num_posts' => '18']]);
        equal(count($db->query("SELECT id FROM cms_posts WHERE (title LIKE ? OR content LIKE ?) AND status = 'publish' ORDER BY title LIKE ? DESC, made DESC", ['%APFEL%', '%ÄPFEL%', '%x%'])), 8);
    });
    test("$p/meta", function () use ($db) {
        $rows = $db->query("SELECT p.id, m.value FROM cms_posts p INNER JOIN cms_meta m ON (p.id = m.post) LEFT JOIN cms_meta AS h ON (p.id = h.post AND h.name = 'featured')
            WHERE m.name = 'views' AND CAST(m.value AS SIGNED) BETWEEN ? AND ? AND h.post IS NULL AND p.status = 'publish' GROUP BY p.id ORDER BY m.value+0 DESC, p.id LIMIT 0, 3", [10, 40]);
        equal($rows, [['id' => '13', 'value' => '39'], ['id' => '46', 'value' => '38'], ['id' => '29', 'value' => '37']]);
        equal($db->query('SELECT post, name, value FROM cms_meta WHERE post IN (1, 2) ORDER BY id ASC')[1], ['post' => '1', 'name' => '_hidden', 'value' => null]);
        equal($db->exec("DELETE m FROM cms_meta m LEFT JOIN cms_posts p ON p.id = m.post WHERE p.id IS NULL"), 0);
        equal($db->exec("DELETE a, b FROM cms_meta a, cms_meta b WHERE a.name LIKE '\\_hidden' AND a.post = b.post AND b.name = 'views' AND b.value < 3"), 6);
    });
    test("$p/terms", function () use ($db) {
        foreach (['News', 'Sport', 'Über'] as $t) {
            $db->exec("INSERT IGNORE INTO cms_terms (name, slug, taxonomy) VALUES (?, ?, 'category')", [$t, strtolower($t)]);
        }
        equal($db->exec("INSERT IGNORE INTO cms_terms (name, slug, taxonomy) VALUES ('again', 'NEWS', 'category')"), 0);
        $db->exec("INSERT INTO cms_links (post, term) SELECT p.id, t.id FROM cms_posts p JOIN cms_terms t ON t.id = 1 + p.id % 3 WHERE p.kind <> 'attachment'");
        $db->exec("UPDATE cms_terms t SET uses = (SELECT COUNT(*) FROM cms_links l JOIN cms_posts p ON p.id = l.post AND p.status = 'publish' WHERE l.term = t.id)");
        equal($db->query('SELECT name, uses FROM cms_terms ORDER BY name'), [['name' => 'News', 'uses' => '18'], ['name' => 'Sport', 'uses' => '18'], ['name' => 'Über', 'uses' => '0']]);
        equal($db->query("SELECT t.*, l.post FROM cms_terms AS t INNER JOIN cms_links AS l ON t.id = l.term WHERE t.taxonomy IN ('category', 'tag') AND l.post IN (3, 4) ORDER BY t.name ASC")[0]['slug'], 'news');
        equal(count($db->query("SELECT p.id FROM cms_posts p WHERE p.id NOT IN (SELECT post FROM cms_links WHERE term IN (1)) AND p.kind = 'post' AND p.status = 'publish'")), 0);
    });
    test("$p/comments", function () use ($db) {
        $db->begin();
        for ($i = 0; $i < 10; $i++) {
            $db->exec("INSERT INTO cms_comments (post, author, made, content, approved, parent) VALUES (3, 'A', NOW(), ?, ?, ?)", ["c$i", $i % 4 ? '1' : 'spam', $i > 5 ? 1 : 0]);
        }
        $db->exec("UPDATE cms_posts SET comments = (SELECT COUNT(*) FROM cms_comments WHERE post = 3 AND approved = '1') WHERE id = 3");
        $db->end(true);
        equal($db->query('SELECT comments FROM cms_posts WHERE id = 3'), [['comments' => '7']]);
        equal($db->query("SELECT approved, COUNT(*) AS total FROM cms_comments GROUP BY approved ORDER BY 1"), [['approved' => '1', 'total' => '7'], ['approved' => 'spam', 'total' => '3']]);
        $db->begin();
        $db->exec('DELETE FROM cms_comments');
        $db->end(false);
        equal($db->query('SELECT COUNT(*) AS n FROM cms_comments'), [['n' => '10']]);
        equal($db->exec("DELETE FROM cms_comments WHERE approved = 'spam' AND made <= DATE_ADD(NOW(), INTERVAL 1 DAY) ORDER BY id LIMIT 2"), 2);
    });
    test("$p/administration", function () use ($db, $database) {
        foreach (['cms_posts', 'cms_meta'] as $t) {
            equal($db->query("CHECK TABLE $t")[0]['Msg_text'], 'OK');
            $db->query("ANALYZE TABLE $t");
        }
        equal($db->query("SHOW TABLE STATUS LIKE 'cms\\\\_terms'")[0]['Collation'], 'utf8mb4_unicode_520_ci');
        equal($db->query("SHOW FULL COLUMNS FROM cms_terms")[1]['Collation'], 'utf8mb4_unicode_520_ci');
        equal($db->query("SELECT table_name AS t FROM information_schema.tables WHERE table_schema = ? AND table_name LIKE 'cms\\_m%'", [$database]), [['t' => 'cms_meta']]);
        $db->exec('ALTER TABLE cms_posts ADD COLUMN extra VARCHAR(50) NULL AFTER slug, DROP KEY author, ADD KEY author_made (author, made)');
        $db->exec('ALTER TABLE cms_posts CHANGE COLUMN extra extra2 LONGTEXT NOT NULL');
        equal($db->query("SHOW COLUMNS FROM cms_posts LIKE 'extra%'")[0]['Type'], 'longtext');
    });
    test("$p/errors", function () use ($db) {
        foreach (["INSERT INTO cms_terms (slug, taxonomy) VALUES ('NEWS', 'category')" => [1062, '23000'], 'SELECT nothing FROM cms_posts' => [1054, '42S22'], 'SELECT * FROM nothing' => [1146, '42S02'],
            'SELEC 1' => [1064, '42000']] as $q => $want) {
            try {
                $db->exec($q);
            } catch (Throwable $e) {
                equal($db->error($e), $want, $q);
                continue;
            }
            throw new Exception("$q was not refused");
        }
    });
}

echo 'version ' . PHP_VERSION . "\n";
suite('pdo-emulated', 'php_emulated', new Pdo_($host, $port, true));
suite('pdo', 'php_pdo', new Pdo_($host, $port, false));
suite('mysqli', 'php_mysqli', new Mysqli_($host, $port));
