package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"time"
)

// java is a suite of the Java programs, which Suite.main finds by its name. Versions are those of pom.xml; Maven fetches them, javac compiles.
func java(name string, quick bool, artifact string) suite {
	return suite{name: name, quick: quick, needs: []string{"java", "javac", "mvn"}, limit: 5 * time.Minute,
		prepare: func(e *environment) (string, error) {
			pom := filepath.Join("java", "pom.xml")
			dir := filepath.Join(absolute(e.cache), "java")
			_, err := e.install("java", pom, exec.Command("mvn", "-q", "-B", "-f", filepath.Join(absolute(e.dir), pom),
				"org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies", "-DoutputDirectory="+filepath.Join(dir, "lib")))
			if err != nil {
				return "", err
			}
			return mavenVersion(filepath.Join(e.dir, pom), artifact), e.compileJava(dir)
		},
		command: func(e *environment) *exec.Cmd {
			dir := filepath.Join(absolute(e.cache), "java")
			path := filepath.Join(dir, "classes") + ":" + filepath.Join(absolute(e.dir), "java", "resources") + ":" + filepath.Join(dir, "lib") + "/*"
			return exec.Command("java", "-Xmx512m", "-XX:+UseSerialGC", "-cp", path, "Suite", name)
		}}
}

// compileJava compiles the programs, once in a run.
func (e *environment) compileJava(dir string) error {
	if e.javaCompiled {
		return nil
	}
	sources, err := filepath.Glob(filepath.Join(absolute(e.dir), "java", "src", "*.java"))
	if err != nil {
		return err
	}
	args := append([]string{"--release", "17", "-d", filepath.Join(dir, "classes"), "-cp", filepath.Join(dir, "lib") + "/*"}, sources...)
	if out, err := exec.Command("javac", args...).CombinedOutput(); err != nil {
		return errors.New("it cannot be compiled: " + lastLine(string(out), err))
	}
	e.javaCompiled = true
	return nil
}

// mavenVersion finds an artifact's version in pom.xml.
func mavenVersion(file, artifact string) string {
	b, err := os.ReadFile(file)
	if err != nil {
		return ""
	}
	m := regexp.MustCompile(`<artifactId>` + regexp.QuoteMeta(artifact) + `</artifactId><version>([^<]+)</version>`).FindSubmatch(b)
	if m == nil {
		return ""
	}
	return string(m[1])
}
