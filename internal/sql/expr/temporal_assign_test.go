package expr

import (
	"fmt"
	"strings"
	"testing"
	"time"
	_ "time/tzdata" // Berlin, wherever the test runs
)

// TestAssignTemporal: what columns of dates and times hold after an assignment, in the default mode and without strict mode.
func TestAssignTemporal(t *testing.T) {
	const (
		out  = "1264 Out of range value for column 'c' at row 1"
		cut  = "1265 Data truncated for column 'c' at row 1"
		gap  = "1299 Invalid TIMESTAMP value in column 'c' at row 1"
		same = ""
	)
	bad := func(kind, v string) string {
		return fmt.Sprintf("ERROR 1292 Incorrect %s value: '%s' for column 'c' at row 1", kind, v)
	}
	dropped := func(kind, v string) string {
		return fmt.Sprintf("1292 Incorrect %s value: '%s' for column 'c' at row 1", kind, v)
	}
	const overflow = "1441 Datetime function: datetime field overflow"
	stamp := Type{Name: TimestampType}
	const zeroDate, zeroTime = "0000-00-00 | ", "0000-00-00 00:00:00 | "
	for _, c := range []struct {
		value         string
		to            Type
		strict, loose string
	}{
		{"'2024-02-29'", TDate, "2024-02-29", same},
		{"20240229", TDate, "2024-02-29", same},
		{"'20240229'", TDate, "2024-02-29", same},
		{"20240229.5", TDate, bad("date", "20240229.5"), "2024-02-29 | " + cut},
		{"'2024-02-29 10:11:12'", TDate, "2024-02-29 | " + dropped("date", "2024-02-29 10:11:12"), "2024-02-29 | " + cut},
		{"'2024-02-29 23:59:59.6'", TDate, "2024-03-01", same},
		{"'2024-02-29 00:00:00'", TDate, "2024-02-29", same},
		{"TIMESTAMP'2024-02-29 10:11:12.6'", TDate, "2024-02-29 | " + dropped("date", "2024-02-29 10:11:13"), "2024-02-29 | " + cut},
		{"TIME'10:11:12'", TDate, "2024-02-29 | " + dropped("date", "10:11:12"), "2024-02-29 | " + cut},
		{"-1", TDate, bad("date", "-1"), zeroDate + out},
		{"'10:11:12'", TDate, "2010-11-12 | 4095 Delimiter ':' in position 2 in datetime value '10:11:12' at row 1 is deprecated. " +
			"Prefer the standard '-'.", same},
		{"' 2024-02-29'", TDate, "2024-02-29 | 4096 Delimiter ' ' in position 0 in datetime value ' 2024-02-29' at row 1 is superfluous and is deprecated. " +
			"Please remove.", same},
		{"'0000-00-00'", TDate, bad("date", "0000-00-00"), zeroDate + out},
		{"'2024-00-00'", TDate, bad("date", "2024-00-00"), zeroDate + out},
		{"0", TDate, bad("date", "0"), zeroDate + out},
		{"'2024-02-30'", TDate, bad("date", "2024-02-30"), zeroDate + out},
		{"20240230", TDate, bad("date", "20240230"), zeroDate + cut},
		{"'abc'", TDate, bad("date", "abc"), zeroDate + cut},
		{"''", TDate, bad("date", ""), zeroDate + cut},
		{"'2024-02-29abc'", TDate, bad("date", "2024-02-29abc"), "2024-02-29 | " + cut},
		{"NULL", TDate, "NULL", same},
		{"'2024-02-29 10:11:12.6'", TDatetime(0), "2024-02-29 10:11:13", same},
		{"'2024-02-29 10:11:12.6'", TDatetime(2), "2024-02-29 10:11:12.60", same},
		{"DATE'2024-02-29'", TDatetime(3), "2024-02-29 00:00:00.000", same},
		{"'9999-12-31 23:59:59.9'", TDatetime(0), "ERROR " + overflow, zeroTime + overflow + " | " + out},
		{"'2024-02-29 25:00:00'", TDatetime(0), bad("datetime", "2024-02-29 25:00:00"), zeroTime + cut},
		{"'2024-02-29 10:11:12+02:00'", TDatetime(0), "2024-02-29 09:11:12", same},
		{"1.5", TDatetime(0), bad("datetime", "1.5"), zeroTime + cut},
		{"'2024-02-29 10:11:12'", stamp, "2024-02-29 10:11:12", same},
		{"'1970-01-01 01:00:01'", stamp, "1970-01-01 01:00:01", same},
		{"'1970-01-01 01:00:00'", stamp, bad("datetime", "1970-01-01 01:00:00"), zeroTime + out},
		{"'2038-01-19 04:14:07'", stamp, "2038-01-19 04:14:07", same},
		{"'2038-01-19 04:14:07.5'", stamp, bad("datetime", "2038-01-19 04:14:07.5"), zeroTime + out},
		{"'2024-03-31 02:30:00'", stamp, bad("datetime", "2024-03-31 02:30:00"), "2024-03-31 03:00:00 | " + gap},
		{"'0000-00-00 00:00:00'", stamp, bad("datetime", "0000-00-00 00:00:00"), zeroTime + out},
		{"'2024-00-01'", stamp, bad("datetime", "2024-00-01"), zeroTime + out},
		{"'10:11:12'", TTime(0), "10:11:12", same},
		{"'10:11:12.6'", TTime(0), "10:11:13", same},
		{"'10:11:12.6'", TTime(3), "10:11:12.600", same},
		{"101112", TTime(0), "10:11:12", same},
		{"'839:00:00'", TTime(0), bad("time", "839:00:00"), "838:59:59 | " + out},
		{"'-839:00:00'", TTime(0), bad("time", "-839:00:00"), "-838:59:59 | " + out},
		{"'838:59:59.9'", TTime(0), bad("time", "838:59:59.9"), "838:59:59 | " + out},
		{"9999999", TTime(0), bad("time", "9999999"), "838:59:59 | " + out},
		{"99999999999999999999", TTime(0), bad("time", "99999999999999999999"), "838:59:59 | " + out},
		{"-9999999", TTime(0), bad("time", "-9999999"), "-838:59:59 | " + out},
		{"'10:60:00'", TTime(0), bad("time", "10:60:00"), "00:00:00 | " + out},
		{"'abc'", TTime(0), bad("time", "abc"), "00:00:00 | " + cut},
		{"'10:11:12x'", TTime(0), bad("time", "10:11:12x"), "10:11:12 | " + cut},
		{"TIMESTAMP'2024-02-29 10:11:12'", TTime(0), "10:11:12", same},
		{"'2024-02-29 10:11:12'", TTime(0), "10:11:12 | " + dropped("time", "2024-02-29 10:11:12"), "10:11:12 | " + cut},
		{"DATE'2024-02-29'", TTime(0), "00:00:00", same},
		{"''", TTime(0), "00:00:00", same},
		{"'1e2'", TTime(0), "00:00:00", same},
	} {
		if c.loose == same {
			c.loose = c.strict
		}
		for _, m := range []struct {
			mode Mode
			want string
		}{{defaultMode, c.strict}, {defaultMode &^ StrictTables, c.loose}} {
			n, err := readSQL(t, c.value)
			if err != nil {
				t.Fatal(err)
			}
			if got := assignedTo(t, n, c.to, m.mode); got != m.want {
				t.Errorf("%s to %d(%d), mode %b\n   is %s\n want %s", c.value, c.to.Name, c.to.Scale, m.mode, got, m.want)
			}
		}
	}
	// what modes allow
	for _, c := range []struct {
		value string
		to    Type
		mode  Mode
		want  string
	}{
		{"'0000-00-00'", TDate, StrictTables, "0000-00-00"},
		{"'0000-00-00'", stamp, StrictTables, "0000-00-00 00:00:00"},
		{"'2024-00-00'", TDate, StrictTables, "2024-00-00"},
		{"'2024-02-31'", TDate, StrictTables | AllowInvalidDates, "2024-02-31"},
		{"'2024-02-31'", stamp, StrictTables | AllowInvalidDates, bad("datetime", "2024-02-31")},
		{"'10:11:12.6'", TTime(0), StrictTables | TimeTruncateFractional, "10:11:12"},
	} {
		n, err := readSQL(t, c.value)
		if err != nil {
			t.Fatal(err)
		}
		if got := assignedTo(t, n, c.to, c.mode); got != c.want {
			t.Errorf("%s to %d, mode %b\n   is %s\n want %s", c.value, c.to.Name, c.mode, got, c.want)
		}
	}
}

// assignedTo assigns in a session in Berlin.
func assignedTo(t *testing.T, n Node, to Type, mode Mode) string {
	t.Helper()
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	env := &Env{Mode: mode, Zone: berlin, Now: testNow, Change: true,
		Warn: func(code uint16, m string) { out = append(out, fmt.Sprintf("%d %s", code, m)) }}
	v, err := n.Eval(env)
	if err != nil {
		t.Fatal(err)
	}
	v, err = Assign(env, v, &Target{Type: to, Name: "c", Row: 1})
	if e, ok := err.(*Error); ok {
		return fmt.Sprintf("ERROR %d %s", e.Code, e.Message)
	} else if err != nil {
		t.Fatal(err)
	}
	s := "NULL"
	if !v.IsNull() {
		if v.Kind() != to.Kind() || v.Fsp() != to.Scale {
			t.Errorf("a value of kind %d with %d digits for a column of kind %d with %d", v.Kind(), v.Fsp(), to.Kind(), to.Scale)
		}
		s, _ = ToText(env, v)
	}
	return strings.Join(append([]string{s}, out...), " | ")
}
