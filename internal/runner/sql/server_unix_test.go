//go:build unix

package sql_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
)

const password = "s3cret/with?odd#signs"

// server is a private PostgreSQL, started by the first test that asks for it.
var server struct {
	sync.Once
	dir  string
	port int
	cmd  *exec.Cmd
	err  error
}

// postgres gives the address of a fresh database on the private server.
func postgres(t *testing.T) string {
	t.Helper()
	server.Do(func() { server.err = start() })
	if server.err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatalf("no private PostgreSQL: %v", server.err)
		}
		t.Skipf("no private PostgreSQL (Debian: apt-get install postgresql): %v", server.err)
	}
	name := "db" + strconv.FormatInt(int64(os.Getpid()), 36) + strconv.Itoa(int(count.Add(1)))
	admin := address("postgres")
	if _, _, err := perform(t, "sql.exec", t.TempDir(), with("database", admin, "sql", `SELECT 1`)); err != nil {
		t.Fatal(err)
	}
	psql(t, "postgres", "CREATE DATABASE "+name+" TEMPLATE template0")
	return address(name)
}

func address(name string) string {
	u := url.URL{Scheme: "postgres", User: url.UserPassword("cairn", password), Host: net.JoinHostPort("127.0.0.1", strconv.Itoa(server.port)), Path: "/" + name}
	return u.String()
}

// psql does by hand what cannot be done in a transaction.
func psql(t *testing.T, name, sql string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "psql", "-XAtq", "-h", server.dir, "-p", strconv.Itoa(server.port), "-U", "cairn", "-d", name, "-c", sql)
	cmd.Env = append(os.Environ(), "PGOPTIONS=-c client_min_messages=warning")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("psql %s: %v\n%s", sql, err, out)
	}
	return strings.TrimSpace(string(out))
}

func start() error {
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	if len(found) == 0 {
		path, err := exec.LookPath("initdb")
		if err != nil {
			return errors.New("initdb is not there")
		}
		found = []string{path}
	}
	bin := filepath.Dir(found[len(found)-1])
	var err error
	if server.dir, err = os.MkdirTemp("/tmp", "cairn-pg-"); err != nil { // a socket's path must be short
		return err
	}
	as, err := owner(server.dir)
	if err != nil {
		return err
	}
	secret := filepath.Join(server.dir, "password")
	if err := os.WriteFile(secret, []byte(password), 0o644); err != nil {
		return err
	}
	data := filepath.Join(server.dir, "data")
	initdb := exec.Command(filepath.Join(bin, "initdb"), "-D", data, "-U", "cairn", "--auth-local=trust", "--auth-host=scram-sha-256", "--pwfile="+secret, "--no-sync", "-E", "UTF8", "--locale=C")
	initdb.SysProcAttr, initdb.Dir = as, server.dir
	if out, err := initdb.CombinedOutput(); err != nil {
		return fmt.Errorf("initdb: %w: %s", err, out)
	}
	free, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	server.port = free.Addr().(*net.TCPAddr).Port
	_ = free.Close()
	server.cmd = exec.Command(filepath.Join(bin, "postgres"), "-D", data, "-k", server.dir, "-h", "127.0.0.1", "-p", strconv.Itoa(server.port), "-c", "fsync=off", "-c", "log_min_messages=log", "-c", "shared_buffers=8MB")
	server.cmd.SysProcAttr, server.cmd.Dir = as, server.dir
	return ready()
}

// ready starts the server and waits until it says that it is.
func ready() error {
	log, err := server.cmd.StderrPipe()
	if err != nil {
		return err
	}
	if err := server.cmd.Start(); err != nil {
		return err
	}
	lines := bufio.NewScanner(log)
	for lines.Scan() {
		if strings.Contains(lines.Text(), "ready to accept connections") {
			go func() { // it must not block on a full pipe
				for lines.Scan() {
				}
			}()
			return nil
		}
	}
	return fmt.Errorf("the server did not start: %w", server.cmd.Wait())
}

// owner hands a folder to somebody who is not root, whom PostgreSQL refuses.
func owner(dir string) (*syscall.SysProcAttr, error) {
	if os.Getuid() != 0 {
		return nil, nil
	}
	u, err := user.Lookup("nobody")
	if err != nil {
		return nil, err
	}
	uid, _ := strconv.Atoi(u.Uid)
	gid, _ := strconv.Atoi(u.Gid)
	return &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}, os.Chown(dir, uid, gid)
}

func stop() {
	if server.cmd != nil && server.cmd.Process != nil {
		_ = server.cmd.Process.Signal(syscall.SIGQUIT) // at once, without a checkpoint
		_ = server.cmd.Wait()
	}
	if server.dir != "" {
		_ = os.RemoveAll(server.dir)
	}
}
