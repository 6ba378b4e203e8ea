package main

import (
	"os/exec"
	"path/filepath"
)

// php is a content management system's statements through PDO and mysqli, whose version is PHP's.
func php() suite {
	return suite{name: "php", quick: true, needs: []string{"php"},
		prepare: func(*environment) (string, error) {
			for _, extension := range []string{"pdo_mysql", "mysqli"} {
				if err := exec.Command("php", "-r", "exit(extension_loaded('"+extension+"') ? 0 : 1);").Run(); err != nil {
					return "", errNoExtension(extension)
				}
			}
			return "", nil
		},
		command: func(*environment) *exec.Cmd { return exec.Command("php", filepath.Join("php", "cms.php")) }}
}

type errNoExtension string

func (e errNoExtension) Error() string {
	return "PHP has no extension " + string(e) + " on this machine"
}

// sysbench is its transactions for a few seconds each. What it counted is printed with -v.
func sysbench() suite {
	return suite{name: "sysbench", quick: true, needs: []string{"bash", "mariadb", "sysbench"},
		command: func(*environment) *exec.Cmd { return exec.Command("bash", filepath.Join("shell", "sysbench.sh")) }}
}
