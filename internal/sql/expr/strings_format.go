package expr

import (
	"fmt"
	"math"
	"strings"

	"github.com/cockroachdb/apd/v3"

	"github.com/longitude-db/longitude/internal/sql/number"
)

// numberForm is how a locale writes numbers.
type numberForm struct {
	point, group string
	indian       bool // groups of two digits from the second on
}

// numberForms are those of the locales that do not write 1,234.5.
var numberForms = func() map[string]numberForm {
	out := map[string]numberForm{}
	for form, locales := range map[numberForm]string{
		{",", "", false}: "bg_BG ca_ES de_AT el_GR eu_ES fr_BE fr_CA fr_CH fr_FR fr_LU gl_ES hr_HR it_IT nl_BE nl_NL pl_PL pt_BR pt_PT sl_SI",
		{",", ".", false}: "be_BY da_DK de_BE de_DE de_LU es_AR es_BO es_CL es_CO es_EC es_ES es_PY es_UY es_VE fo_FO hu_HU id_ID is_IS lt_LT mn_MN" +
			" nb_NO no_NO ro_RO ru_UA sq_AL tr_TR uk_UA vi_VN",
		{",", " ", false}: "cs_CZ es_CR et_EE fi_FI lv_LV mk_MK ru_RU sk_SK sv_FI sv_SE",
		{",", "'", false}: "it_CH rm_CH",
		{".", "'", false}: "de_CH",
		{".", "", false}:  "ar_SA sr_RS",
		{".", ",", true}:  "en_IN ta_IN te_IN",
	} {
		for _, l := range strings.Fields(locales) {
			out[strings.ToLower(l)] = form
		}
	}
	return out
}()

// evalFormat is FORMAT(x, digits [, locale]).
func evalFormat(env *Env, c *Call) (Value, error) {
	digits, null, err := c.intArg(env, 1)
	if err != nil || null {
		return Null, err
	}
	v, err := c.Arg(env, 0)
	if err != nil || v.IsNull() {
		return Null, err
	}
	form := numberForm{".", ",", false}
	if len(c.Args) == 3 {
		locale, null, err := c.textArg(env, 2)
		if err != nil {
			return Null, err
		}
		if f, ok := numberForms[strings.ToLower(locale)]; ok && !null {
			form = f
		} else if l := strings.ToLower(locale); null || len(l) != 5 || l[2] != '_' {
			env.Warning(1649, "Unknown locale: '%s'", locale)
		}
	}
	s, err := rounded(env, v, int(min(max(digits, 0), 30)))
	if err != nil {
		return Null, err
	}
	return c.text(form.grouped(s)), nil
}

// rounded writes a number with so many digits behind the point: exact ones rounded half away from zero, texts and DOUBLEs as DOUBLEs.
func rounded(env *Env, v Value, digits int) (string, error) {
	switch v.Kind() {
	case KindInt, KindUint, KindDecimal, KindDate, KindDatetime, KindTime, KindBit:
		d, err := ToDecimal(env, v)
		if err != nil {
			return "", err
		}
		out := rescale(d, digits)
		if out.IsZero() && out.Negative {
			out = new(apd.Decimal).Abs(out)
		}
		return out.Text('f'), nil
	}
	f, err := ToFloat(env, v)
	if err != nil {
		return "", err
	}
	s := number.FormatFixed(number.RoundDouble(f, int64(digits)), digits)
	if strings.Trim(s, "-0.") == "" {
		s = strings.TrimPrefix(s, "-")
	}
	return s, nil
}

// grouped puts separators between the digits of a number.
func (f numberForm) grouped(s string) string {
	sign := ""
	if strings.HasPrefix(s, "-") {
		sign, s = "-", s[1:]
	}
	whole, fraction, hasFraction := strings.Cut(s, ".")
	var groups []string
	for size := 3; len(whole) > size && f.group != ""; {
		groups = append([]string{whole[len(whole)-size:]}, groups...)
		whole = whole[:len(whole)-size]
		if f.indian {
			size = 2
		}
	}
	out := sign + strings.Join(append([]string{whole}, groups...), f.group)
	if hasFraction {
		out += f.point + fraction
	}
	return out
}

// unit is a unit of FORMAT_BYTES and FORMAT_PICO_TIME, as many of the smallest one.
type unit struct {
	size float64
	name string
}

var (
	byteUnits = []unit{{1 << 60, "EiB"}, {1 << 50, "PiB"}, {1 << 40, "TiB"}, {1 << 30, "GiB"}, {1 << 20, "MiB"}, {1 << 10, "KiB"}, {1, "bytes"}}
	timeUnits = []unit{{86400e12, "d"}, {3600e12, "h"}, {60e12, "min"}, {1e12, "s"}, {1e9, "ms"}, {1e6, "us"}, {1e3, "ns"}, {1, "ps"}}
)

// evalUnits writes a number in the largest unit of which there is one: with two decimals, but for the smallest unit, which is whole.
func evalUnits(units []unit) func(*Env, *Call) (Value, error) {
	return func(env *Env, c *Call) (Value, error) {
		v, err := c.Arg(env, 0)
		if err != nil || v.IsNull() {
			return Null, err
		}
		f, err := ToFloat(env, v)
		if err != nil {
			return Null, err
		}
		for _, u := range units[:len(units)-1] {
			if math.Abs(f) < u.size {
				continue
			}
			n := f / u.size
			if math.Abs(n) >= 100_000 {
				return c.text(fmt.Sprintf("%.2e %s", n, u.name)), nil
			}
			return c.text(fmt.Sprintf("%.2f %s", n, u.name)), nil
		}
		least := units[len(units)-1].name
		width := 4
		if least == "ps" {
			width = 3
		}
		return c.text(fmt.Sprintf("%*d %s", width, int64(f), least)), nil
	}
}
