package clock

import (
	"fmt"
	"strings"
	"time"
)

// specBuilder writes the spec of a source: what Parse takes, without what is at its default.
type specBuilder struct{ strings.Builder }

func spec(kind, arg string) *specBuilder {
	b := &specBuilder{}
	b.WriteString(kind)
	if arg != "" {
		b.WriteString(":" + arg)
	}
	return b
}

func (b *specBuilder) rate(name string, v, standard int64) *specBuilder {
	if v != standard {
		fmt.Fprintf(b, ",%s=%gppm", name, float64(v)/1000)
	}
	return b
}

func (b *specBuilder) duration(name string, v, standard time.Duration) *specBuilder {
	if v != standard {
		fmt.Fprintf(b, ",%s=%s", name, v)
	}
	return b
}

func (b *specBuilder) number(name string, v, standard int64) *specBuilder {
	if v != standard {
		fmt.Fprintf(b, ",%s=%d", name, v)
	}
	return b
}

func (b *specBuilder) text(name, v string) *specBuilder {
	if v != "" {
		fmt.Fprintf(b, ",%s=%s", name, v)
	}
	return b
}
