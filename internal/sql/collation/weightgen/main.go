// Command weightgen writes weights.bin of package collation.
//
// The weights of the *_0900_* collations are made of allkeys.txt of Unicode 9.0.0 (https://www.unicode.org/Public/UCA/9.0.0/; the
// PyPI package pyuca carries it) and of the rules in rules.go. Those of the older collations are what a MariaDB of version 10.11
// answers to WEIGHT_STRING for each character: MariaDB has them from MySQL 5.6, as MySQL 8 does, where they were made of
// Unicode's tables 4.0.0 and 5.2.0. The output depends on nothing else.
//
//	go run ./internal/sql/collation/weightgen -allkeys allkeys-9.0.0.txt -mariadb 'root@unix(/run/mysqld/mysqld.sock)/test'
package main

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"flag"
	"log"
	"os"
)

// element is a collation element.
type element struct{ primary, secondary, tertiary uint16 }

// entry says which elements characters have: one character, or several that contract.
type entry struct {
	chars    []rune
	elements []element
}

type section struct {
	name, base string
	scheme     byte
	entries    []entry
}

func main() {
	log.SetFlags(0)
	allkeys := flag.String("allkeys", "", "allkeys.txt of Unicode 9.0.0")
	dsn := flag.String("mariadb", "", "a MariaDB 10.11, as a data source name of the Go driver")
	out := flag.String("out", "internal/sql/collation/weights.bin", "the file to write")
	flag.Parse()
	root, err := readKeys(*allkeys)
	if err != nil {
		log.Fatal(err)
	}
	sections := []section{{name: "0900", scheme: '9', entries: root}}
	for _, l := range languages {
		sections = append(sections, l.section(root))
	}
	older, err := readMariaDB(*dsn)
	if err != nil {
		log.Fatal(err)
	}
	var b []byte
	for _, s := range append(sections, older...) {
		n := len(b)
		b = s.append(b)
		log.Printf("%-32s %6d entries %7d bytes", s.name, len(s.entries), len(b)-n)
	}
	if err := os.WriteFile(*out, b, 0o644); err != nil {
		log.Fatal(err)
	}
	log.Printf("%s: %d bytes", *out, len(b))
}

// append writes a section; package collation's table.go says how.
func (s *section) append(dst []byte) []byte {
	var body []byte
	signed := func(v int64) { body = binary.AppendUvarint(body, uint64(v<<1)^uint64(v>>63)) }
	var at, primary int64
	for _, e := range s.entries {
		body = binary.AppendUvarint(body, uint64(len(e.chars)))
		signed(int64(e.chars[0]) - at)
		at = int64(e.chars[0])
		for _, r := range e.chars[1:] {
			body = binary.AppendUvarint(body, uint64(r))
		}
		body = binary.AppendUvarint(body, uint64(len(e.elements)))
		for _, x := range e.elements {
			signed(int64(x.primary) - primary)
			primary = int64(x.primary)
			body = binary.AppendUvarint(body, uint64(x.secondary))
			body = binary.AppendUvarint(body, uint64(x.tertiary))
		}
	}
	var z bytes.Buffer
	w, err := flate.NewWriter(&z, flate.BestCompression)
	if err != nil {
		log.Fatal(err)
	}
	if _, err = w.Write(body); err == nil {
		err = w.Close()
	}
	if err != nil {
		log.Fatal(err)
	}
	for _, t := range []string{s.name, s.base} {
		dst = append(append(dst, byte(len(t))), t...)
	}
	dst = binary.BigEndian.AppendUint32(append(dst, s.scheme), uint32(z.Len()))
	return append(dst, z.Bytes()...)
}
