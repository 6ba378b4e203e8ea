// Command clock uses package clock alone: it takes a reading, and waits until the moment at which it began is certainly past,
// for everybody whose clock is within its bound.
package main

import (
	"flag"
	"fmt"
	"log"
	"time"

	"github.com/longitude-db/longitude/clock"
)

func run(spec string) error {
	src, err := clock.Parse(spec)
	if err != nil {
		return err
	}
	c := clock.New(src, clock.Options{})
	c.Start() // asks the source at once, and ten times a second from now on
	defer c.Stop()
	began, err := c.Now()
	if err != nil {
		return fmt.Errorf("no reading: %w\n%s", err, c.Status())
	}
	fmt.Printf("true time is in %s\n%s\n", began, c.Status())
	for now := began; !now.Passed(began.Latest); {
		time.Sleep(began.Latest.Sub(now.Earliest)) // the bound may have grown meanwhile, so the clock is read again
		if now, err = c.Now(); err != nil {
			return err
		}
	}
	fmt.Println("everything up to then is certainly past")
	return nil
}

func main() {
	spec := flag.String("source", "auto", "where readings come from; accepted are\n"+clock.Accepted)
	flag.Parse()
	if err := run(*spec); err != nil {
		log.Fatal(err)
	}
}
