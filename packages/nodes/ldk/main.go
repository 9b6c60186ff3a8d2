// satrail-ldk is a Lightning node in a separate process for satrail: LDK (through ldk-node), its store, and a
// socket that satrail calls. It is configured by the environment; see docs/guides/ldk.md.
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"
)

const version = "ldk-node 0.7 (lightning 0.2.0)"

type settings struct {
	store, socket, network     string
	bitcoind, esplora          string
	listen, alias, acceptStore string
}

// The words with which an operator accepts the risks of mainnet.
const mainnetWords = "hot-keys-one-machine-no-watchtower"

func readSettings(env func(string) string) (settings, error) {
	read := settings{
		store: env("LDK_STORE"), socket: env("LDK_SOCKET"), network: env("LDK_NETWORK"), bitcoind: env("LDK_BITCOIND"), esplora: env("LDK_ESPLORA"),
		listen: env("LDK_LISTEN"), alias: env("LDK_ALIAS"), acceptStore: env("LDK_ACCEPT_STORE"),
	}
	if read.network == "" {
		read.network = "regtest"
	}
	if read.store == "" {
		return read, errors.New("LDK_STORE is missing: the folder of the node's keys and channels, on a disk of this machine")
	}
	if read.socket == "" {
		read.socket = filepath.Join(read.store, "socket")
	}
	if _, is := networks[read.network]; !is {
		return read, fmt.Errorf("LDK_NETWORK must be mainnet, testnet, signet or regtest, got %q", read.network)
	}
	if (read.bitcoind == "") == (read.esplora == "") {
		return read, errors.New("set either LDK_BITCOIND (http://user:password@host:port) or LDK_ESPLORA (https://…)")
	}
	if read.network == "mainnet" && env("LDK_MAINNET") != mainnetWords {
		return read, fmt.Errorf("on mainnet the keys of all channels are on this machine, its store must never be started from a backup, and nobody watches the channels while it is down. "+
			"Who accepts that sets LDK_MAINNET=%s", mainnetWords)
	}
	return read, nil
}

func main() {
	log.SetFlags(log.LstdFlags | log.LUTC)
	if len(os.Args) >= 3 && os.Args[1] == "call" {
		call(os.Args[2:])
		return
	}
	settings, err := readSettings(os.Getenv)
	if err != nil {
		log.Fatal(err)
	}
	// The parent process holds the other end of standard input. When the parent dies, this process stops, and
	// its successor waits for that.
	stopsWithStdin := os.Getenv("LDK_STOPS_WITH_STDIN") == "yes"
	opened, err := openStore(settings.store)
	for waited := time.Duration(0); errors.Is(err, errOwned) && stopsWithStdin && waited < 20*time.Second; waited += 100 * time.Millisecond {
		time.Sleep(100 * time.Millisecond)
		opened, err = openStore(settings.store)
	}
	if err != nil {
		log.Fatal(err)
	}
	built, err := buildNode(opened, settings)
	if err != nil {
		log.Fatal(err)
	}
	go built.keepCounting()
	ending := make(chan os.Signal, 1)
	signal.Notify(ending, syscall.SIGTERM, syscall.SIGINT)
	if stopsWithStdin {
		go func() {
			io.Copy(io.Discard, os.Stdin)
			ending <- syscall.SIGTERM
		}()
	}
	go func() {
		<-ending
		os.Remove(settings.socket) // so that no client takes this node for a running one
		built.deciding.Lock()      // no decision is made after this
		if built.started.Load() != 0 {
			if err := built.Stop(); err != nil {
				log.Printf("the node did not stop well: %v", err)
			}
		}
		os.Exit(0)
	}()
	log.Printf("node %s on %s, waiting for satrail at %s", built.NodeId(), settings.network, settings.socket)
	log.Fatal(serve(settings.socket, opened.run, built.methods()))
}

func (n *node) methods() map[string]method {
	all := n.operator()
	for name, one := range map[string]method{
		"hello":         with(false, func(struct{}) (any, error) { return n.here() }),
		"start":         with(false, func(ask struct{ Seen *mark }) (any, error) { return n.begin(ask.Seen) }),
		"createInvoice": with(true, n.createInvoice),
		"lookupInvoice": with(true, n.lookupInvoice),
		"cancelInvoice": with(true, n.cancelInvoice),
		"settle":        with(true, n.settle),
		"settlements":   with(true, n.settlements),
		"pay":           with(true, n.pay),
		"lookupPayment": with(true, n.lookupPayment),
		"ends":          with(true, n.ends(false)),
		"quote":         with(true, n.quote),
		"payOffer":      with(true, n.payOffer),
		"lookupOffer":   with(true, n.lookupOffer),
		"offerEnds":     with(true, n.ends(true)),
		"quoteOffer":    with(true, n.quoteOffer),
		"createOffer":   with(true, n.createOffer),
		"balance":       with(true, n.balance),
		"sent":          with(true, n.sent),
		"taken":         with(true, n.taken),
		"own":           with(true, n.own),
	} {
		all[name] = one
	}
	return all
}

// `satrail-ldk call METHOD [PARAMS]` calls a running node, for its operator. Exits with 1 if the node refuses.
func call(words []string) {
	socket := os.Getenv("LDK_SOCKET")
	if socket == "" {
		socket = filepath.Join(os.Getenv("LDK_STORE"), "socket")
	}
	connection, err := net.Dial("unix", socket)
	if err != nil {
		log.Fatal(err)
	}
	params := json.RawMessage("{}")
	if len(words) > 1 {
		params = json.RawMessage(words[1])
	}
	line, err := json.Marshal(request{ID: "1", Method: words[0], Params: params})
	if err != nil {
		log.Fatal(err)
	}
	if _, err := connection.Write(append(line, '\n')); err != nil {
		log.Fatal(err)
	}
	answered, err := bufio.NewReader(connection).ReadString('\n')
	if err != nil {
		log.Fatal(err)
	}
	fmt.Print(answered)
	var said answer
	if err := json.Unmarshal([]byte(answered), &said); err != nil || said.Error != nil {
		os.Exit(1)
	}
}
