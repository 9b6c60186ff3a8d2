package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
)

// The protocol: one JSON object per line over a Unix socket. A request {"id", "run", "method", "params"} has
// one response {"id", "result"} or {"id", "error"}.

const (
	maxLineBytes   = 64 * 1024
	maxConnections = 256
)

type request struct {
	ID     json.Number     `json:"id"`
	Run    string          `json:"run"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
}

// A refusal with a message and a machine-readable code. Any other error is `internal`.
type refusal struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

func (r *refusal) Error() string { return r.Message }

func refuse(code, format string, args ...any) error {
	return &refusal{Code: code, Message: fmt.Sprintf(format, args...)}
}

const (
	codeBadRequest  = "bad_request" // malformed; nothing was done
	codeRun         = "run"         // the request names another run of this program, or none; nothing was done
	codeStale       = "stale"       // the store is older than last seen
	codeLate        = "late"        // the request arrived too late; nothing was done
	codeUnavailable = "unavailable" // the node is not running; nothing was done
	codeTaken       = "taken"       // there is an invoice with this payment hash
	codeRefused     = "refused"     // not possible in the current state
)

type answer struct {
	ID     json.Number `json:"id"`
	Result any         `json:"result,omitempty"`
	Error  *refusal    `json:"error,omitempty"`
}

// A method with its parameters. Unknown parameters are an error that names them.
type method struct {
	needsRun bool
	call     func(params json.RawMessage) (any, error)
}

func with[P any](needsRun bool, call func(P) (any, error)) method {
	return method{needsRun, func(raw json.RawMessage) (any, error) {
		var params P
		if len(raw) == 0 {
			raw = []byte("{}")
		}
		if err := strictly(raw, &params); err != nil {
			return nil, refuse(codeBadRequest, "params: %v", err)
		}
		return call(params)
	}}
}

func strictly(raw []byte, into any) error {
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(into); err != nil {
		return err
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return errors.New("more than one value")
	}
	return nil
}

// Serves requests for as long as the process lives.
func serve(socket string, run string, methods map[string]method) error {
	if _, err := os.Stat(socket); err == nil {
		// The holder of the store's lock owns the socket, so an existing socket belongs to a dead process.
		if err := os.Remove(socket); err != nil {
			return err
		}
	}
	listener, err := listenPrivately(socket)
	if err != nil {
		return err
	}
	places := make(chan struct{}, maxConnections)
	for {
		connection, err := listener.Accept()
		if err != nil {
			return err
		}
		places <- struct{}{}
		go func() {
			defer func() { <-places }()
			defer connection.Close()
			converse(connection, run, methods)
		}()
	}
}

func converse(connection net.Conn, run string, methods map[string]method) {
	var writing sync.Mutex
	say := func(said answer) {
		bytes, err := json.Marshal(said)
		if err != nil {
			bytes, _ = json.Marshal(answer{ID: said.ID, Error: &refusal{Code: "internal", Message: err.Error()}})
		}
		writing.Lock()
		defer writing.Unlock()
		connection.Write(append(bytes, '\n'))
	}
	lines := bufio.NewScanner(connection)
	lines.Buffer(make([]byte, 4096), maxLineBytes)
	for lines.Scan() {
		say(handle(lines.Bytes(), run, methods))
	}
	if errors.Is(lines.Err(), bufio.ErrTooLong) {
		say(answer{ID: "0", Error: &refusal{codeBadRequest, fmt.Sprintf("a line is at most %d bytes", maxLineBytes)}})
	}
}

func handle(line []byte, run string, methods map[string]method) answer {
	var asked request
	if err := strictly(line, &asked); err != nil {
		return answer{ID: "0", Error: &refusal{codeBadRequest, fmt.Sprintf("request: %v", err)}}
	}
	if asked.ID == "" {
		asked.ID = "0"
	}
	known, is := methods[asked.Method]
	if !is {
		return answer{ID: asked.ID, Error: &refusal{codeBadRequest, fmt.Sprintf("no method %q", asked.Method)}}
	}
	if known.needsRun && asked.Run != run {
		return answer{ID: asked.ID, Error: &refusal{codeRun, "the node was started again: say hello, and start"}}
	}
	result, err := known.call(asked.Params)
	if err == nil {
		return answer{ID: asked.ID, Result: result}
	}
	var refused *refusal
	if errors.As(err, &refused) {
		return answer{ID: asked.ID, Error: refused}
	}
	return answer{ID: asked.ID, Error: &refusal{"internal", err.Error()}}
}
