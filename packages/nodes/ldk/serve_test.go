package main

import (
	"bufio"
	"encoding/json"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestAnInvalidRequestGetsAClearError(t *testing.T) {
	methods := map[string]method{
		"pay":   with(true, func(ask pay) (any, error) { return map[string]any{"amount": ask.Amount}, nil }),
		"hello": with(false, func(struct{}) (any, error) { return map[string]any{}, nil }),
	}
	for _, one := range []struct{ line, code, words string }{
		{`{"id":1,"run":"r","method":"pay","params":{"amount":"5"}}`, "", ""},
		{`{"id":1,"method":"hello"}`, "", ""},
		{`{"id":1,"run":"another","method":"pay","params":{}}`, codeRun, "started again"},
		{`{"id":1,"run":"r","method":"play","params":{}}`, codeBadRequest, `no method "play"`},
		{`{"id":1,"run":"r","method":"pay","params":{"amounts":"5"}}`, codeBadRequest, `unknown field "amounts"`},
		{`{"id":1,"run":"r","method":"pay","params":{"amount":5}}`, codeBadRequest, "amount"},
		{`{"id":1,"run":"r","method":"pay","params":{},"more":1}`, codeBadRequest, `unknown field "more"`},
		{`{"id":1,"method":"hello"}{}`, codeBadRequest, "more than one"},
		{`nothing`, codeBadRequest, "request"},
	} {
		said := handle([]byte(one.line), "r", methods)
		if one.code == "" && said.Error != nil {
			t.Errorf("%s: %s", one.line, said.Error.Message)
		}
		if one.code != "" && (said.Error == nil || said.Error.Code != one.code || !strings.Contains(said.Error.Message, one.words)) {
			t.Errorf("%s: %+v", one.line, said.Error)
		}
	}
}

func TestTheSocketIsPrivateAndLinesAreLimited(t *testing.T) {
	socket := filepath.Join(t.TempDir(), "socket")
	go serve(socket, "r", map[string]method{})
	var connection net.Conn
	for range 100 {
		var err error
		if connection, err = net.Dial("unix", socket); err == nil {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	if connection == nil {
		t.Fatal("no socket")
	}
	defer connection.Close()
	if about, err := os.Stat(socket); err != nil || about.Mode().Perm() != 0o600 {
		t.Fatalf("%v %v", about.Mode(), err)
	}
	go connection.Write([]byte(strings.Repeat("x", 2*maxLineBytes)))
	line, err := bufio.NewReader(connection).ReadBytes('\n')
	if err != nil {
		t.Fatal(err)
	}
	var said answer
	if err := json.Unmarshal(line, &said); err != nil || said.Error == nil || !strings.Contains(said.Error.Message, "at most") {
		t.Fatalf("%s %v", line, err)
	}
}

func TestMainnetRequiresAnExplicitAcceptance(t *testing.T) {
	env := map[string]string{"LDK_STORE": "/var/lib/ldk", "LDK_NETWORK": "mainnet", "LDK_ESPLORA": "https://esplora.example"}
	get := func(name string) string { return env[name] }
	if _, err := readSettings(get); err == nil || !strings.Contains(err.Error(), mainnetWords) {
		t.Fatalf("%v", err)
	}
	env["LDK_MAINNET"] = mainnetWords
	if _, err := readSettings(get); err != nil {
		t.Fatal(err)
	}
}

// Runs `satrail-ldk call` instead of the tests if the test below starts this program.
func TestMain(m *testing.M) {
	if os.Getenv("LDK_TEST_CALL") != "" {
		call([]string{os.Getenv("LDK_TEST_CALL")})
		return
	}
	os.Exit(m.Run())
}

func TestACallExitsWith1IfTheNodeRefusesIt(t *testing.T) {
	socket := filepath.Join(t.TempDir(), "socket")
	listener, err := listenPrivately(socket)
	must(t, err)
	defer listener.Close()
	methods := map[string]method{"hello": with(false, func(struct{}) (any, error) { return map[string]any{}, nil })}
	go func() {
		for range 2 {
			connection, err := listener.Accept()
			if err != nil {
				return
			}
			go converse(connection, "r", methods)
		}
	}()
	for name, code := range map[string]int{"hello": 0, "closeChanel": 1} {
		calling := exec.Command(os.Args[0])
		calling.Env = append(os.Environ(), "LDK_SOCKET="+socket, "LDK_TEST_CALL="+name)
		said, _ := calling.Output()
		if calling.ProcessState.ExitCode() != code || !strings.HasPrefix(string(said), `{"id":1,`) {
			t.Errorf("%s: %d %s", name, calling.ProcessState.ExitCode(), said)
		}
	}
}
