package engine

import (
	"regexp"
	"strconv"
	"strings"
)

// The parser takes many words for keywords that MySQL lets name tables and columns without quotes: yes, name (behind AFTER), and so on. A
// text that does not parse is therefore tried again with such a word in quotes.

var nearWord = regexp.MustCompile(`^syntax error at position (\d+) near '(\w+)'`)

// mostQuoted is how many words of a text are put in quotes at most.
const mostQuoted = 32

// quoteNear puts the word at which the parser has stopped in quotes. ok: there is such a word, and MySQL does not reserve it.
func quoteNear(query, problem string) (quoted string, ok bool) {
	m := nearWord.FindStringSubmatch(problem)
	if m == nil {
		return "", false
	}
	at, err := strconv.Atoi(m[1])
	if err != nil {
		return "", false
	}
	words := wordsOf(query)
	for _, w := range words {
		// Within a comment that is executed the parser counts otherwise.
		if !w.is(query, m[2]) || w.to > at || w.to < at-2 && !strings.Contains(query, "/*!") {
			continue
		}
		word := strings.ToLower(m[2])
		if valueWords[word] && words[0].is(query, "set") {
			return query[:w.from] + "'" + query[w.from:w.to] + "'" + query[w.to:], true
		}
		if reservedWords[word] || word[0] >= '0' && word[0] <= '9' {
			return "", false
		}
		return query[:w.from] + "`" + query[w.from:w.to] + "`" + query[w.to:], true
	}
	return "", false
}

// valueWords are values of system variables without quotes: SET character_set_database = binary.
var valueWords = map[string]bool{"binary": true, "row": true, "system": true, "all": true}

// reservedWords are MySQL 8's (Reference Manual 8.0, 9.3).
var reservedWords = func() map[string]bool {
	out := map[string]bool{}
	for _, w := range strings.Fields(`accessible add all alter analyze and as asc asensitive before between bigint binary blob both by call cascade case
		change char character check collate column condition constraint continue convert create cross cube cume_dist current_date current_time
		current_timestamp current_user cursor database databases day_hour day_microsecond day_minute day_second dec decimal declare default delayed
		delete dense_rank desc describe deterministic distinct distinctrow div double drop dual each else elseif empty enclosed escaped except exists
		exit explain false fetch first_value float float4 float8 for force foreign from fulltext function generated get grant group grouping groups
		having high_priority hour_microsecond hour_minute hour_second if ignore in index infile inner inout insensitive insert int int1 int2 int3
		int4 int8 integer intersect interval into io_after_gtids io_before_gtids is iterate join json_table key keys kill lag last_value lateral lead
		leading leave left like limit linear lines load localtime localtimestamp lock long longblob longtext loop low_priority master_bind
		master_ssl_verify_server_cert match maxvalue mediumblob mediumint mediumtext middleint minute_microsecond minute_second mod modifies natural
		not no_write_to_binlog nth_value ntile null numeric of on optimize optimizer_costs option optionally or order out outer outfile over
		partition percent_rank precision primary procedure purge range rank read reads read_write real recursive references regexp release rename
		repeat replace require resignal restrict return revoke right rlike row rows row_number schema schemas second_microsecond select sensitive
		separator set show signal smallint spatial specific sql sqlexception sqlstate sqlwarning sql_big_result sql_calc_found_rows sql_small_result
		ssl starting stored straight_join system table terminated then tinyblob tinyint tinytext to trailing trigger true undo union unique unlock
		unsigned update usage use using utc_date utc_time utc_timestamp values varbinary varchar varcharacter varying virtual when where while window
		with write xor year_month zerofill`) {
		out[w] = true
	}
	return out
}()
