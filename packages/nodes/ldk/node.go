package main

import (
	"errors"
	"log"
	"net/url"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/decred/dcrd/dcrec/secp256k1/v4"
	ldk "github.com/getAlby/ldk-node-go/ldk_node"
)

type node struct {
	*ldk.Node
	store    *store
	settings settings
	graph    graph
	key      *secp256k1.PrivateKey

	// Serializes decisions about the store.
	deciding sync.Mutex
	overdue  map[string]bool      // decisions whose deadline had passed at the last beat; guarded by `deciding`
	doubts   map[string]time.Time // attempts that LDK may never have received, with their start times; guarded by `deciding`
	starting sync.Mutex
	started  atomic.Int64 // in milliseconds; 0 if not started
	drained  atomic.Bool

	readBefore *uint64 // when LDK last read the chain before this start, in seconds
	tip        atomic.Pointer[tip]
	untimed    string // the last block whose time could not be read; used by `noteTip` only

	postponed atomic.Bool // claims wait until the chain is read
}

type logs struct{}

// Logs LDK's records about the start, channels and problems. At this level they contain neither keys nor
// preimages.
func (logs) Log(record ldk.LogRecord) {
	if record.Level >= ldk.LogLevelWarn || (record.Level == ldk.LogLevelInfo && os.Getenv("LDK_LOG") == "info") {
		log.Printf("%s: %s", record.ModulePath, record.Args)
	}
}

var networks = map[string]ldk.Network{
	"mainnet": ldk.NetworkBitcoin, "testnet": ldk.NetworkTestnet, "signet": ldk.NetworkSignet, "regtest": ldk.NetworkRegtest,
}

func buildNode(s *store, settings settings) (*node, error) {
	seed, err := s.seed()
	if err != nil {
		return nil, err
	}
	doubts, err := forgetUnsent(s)
	if err != nil {
		return nil, err
	}
	config := ldk.DefaultConfig()
	config.StorageDirPath = s.ldkFolder()
	config.Network = networks[settings.network]
	builder := ldk.BuilderFromConfig(config)
	if err := builder.SetEntropySeedBytes(seed); err != nil {
		return nil, err
	}
	builder.SetCustomLogger(logs{})
	builder.SetGossipSourceP2p()
	if settings.listen != "" {
		if err := builder.SetListeningAddresses([]ldk.SocketAddress{settings.listen}); err != nil {
			return nil, err
		}
	}
	if settings.alias != "" {
		if err := builder.SetNodeAlias(settings.alias); err != nil {
			return nil, err
		}
	}
	if err := setChain(builder, settings); err != nil {
		return nil, err
	}
	// One file per key, so that the contents can be searched before the node starts (forgetUnsent).
	built, err := builder.BuildWithFsStore()
	if err != nil {
		return nil, err
	}
	key := nodeKey(seed)
	if publicKey(key) != built.NodeId() {
		return nil, errors.New("the node's key is not derived from its seed as it was: this program and its LDK do not belong together")
	}
	return &node{Node: built, store: s, settings: settings, key: key, doubts: doubts, overdue: map[string]bool{}}, nil
}

func setChain(builder *ldk.Builder, settings settings) error {
	if settings.esplora != "" {
		builder.SetChainSourceEsplora(settings.esplora, nil)
		return nil
	}
	at, err := url.Parse(settings.bitcoind)
	if err != nil || at.User == nil || at.Port() == "" {
		return errors.New("LDK_BITCOIND must be http://user:password@host:port")
	}
	port, err := strconv.ParseUint(at.Port(), 10, 16)
	if err != nil {
		return errors.New("LDK_BITCOIND must be http://user:password@host:port")
	}
	password, _ := at.User.Password()
	builder.SetChainSourceBitcoindRpc(at.Hostname(), uint16(port), at.User.Username(), password)
	return nil
}

// Starts the node once satrail has sent how far it has seen this store.
func (n *node) begin(seen *mark) (any, error) {
	n.starting.Lock()
	defer n.starting.Unlock()
	if seen != nil {
		has, err := n.store.has(*seen)
		if err != nil {
			return nil, err
		}
		if !has && n.settings.acceptStore != seen.String() {
			return nil, refuse(codeStale, "the store %s is older than satrail has seen it (%s), or another copy of it was in use since: it was restored from a backup. "+
				"An old state loses the money of the channels, so the node is not started. Bring back the newest store. If there is none: let the peers close the channels, then set LDK_ACCEPT_STORE=%s once",
				n.store.folder, seen, seen)
		}
		if !has {
			if err := n.store.accept(); err != nil {
				return nil, err
			}
		}
	}
	if n.started.Load() == 0 {
		n.readBefore = n.Status().LatestLightningWalletSyncTimestamp
		if err := n.Start(); err != nil {
			return nil, refuse(codeUnavailable, "the node does not start: %v", err)
		}
		n.started.Store(time.Now().UnixMilli())
		if err := n.carryOn(); err != nil {
			return nil, err
		}
		go n.keepClaiming()
		go n.listen()
	}
	// Past events must be in our books before the books are read.
	for !n.drained.Load() {
		time.Sleep(20 * time.Millisecond)
	}
	return n.here()
}

func (n *node) here() (any, error) {
	if err := n.store.observe(); err != nil {
		return nil, err
	}
	here, err := n.store.mark()
	if err != nil {
		return nil, err
	}
	is := map[string]any{
		"node": n.NodeId(), "network": n.settings.network, "version": version, "run": here.Run, "count": strconv.FormatUint(here.Count, 10), "started": n.started.Load() != 0,
	}
	if n.started.Load() != 0 {
		// Until the first block's time was read, the node counts as current.
		newest := n.tip.Load()
		recent := newest == nil || isTipRecent(n.settings.network, newest, time.Now().Unix())
		is["block"] = map[string]any{"height": n.height(), "isRecent": recent}
	}
	return is, nil
}

// Each event is stored in our books before LDK is notified that it was handled. If it cannot be written, the
// process ends and the event comes again.
func (n *node) listen() {
	for {
		event := n.NextEvent()
		if event == nil {
			n.drained.Store(true)
			waited := n.WaitNextEvent()
			event = &waited
		}
		if err := n.handle(*event); err != nil {
			log.Fatalf("an event could not be written down: %v", err)
		}
		if err := n.EventHandled(); err != nil {
			log.Fatalf("an event could not be ended: %v", err)
		}
		dieAt("ended")
		if err := n.store.ended(); err != nil {
			log.Fatalf("it could not be written down that an event is ended: %v", err)
		}
	}
}

func (n *node) handle(event ldk.Event) error {
	n.deciding.Lock()
	defer n.deciding.Unlock()
	switch event := event.(type) {
	case ldk.EventPaymentClaimable:
		return n.arrived(event)
	case ldk.EventPaymentReceived:
		return n.received(event.PaymentHash, event.AmountMsat)
	case ldk.EventPaymentSuccessful:
		return n.succeeded(event)
	case ldk.EventPaymentFailed:
		return n.failed(event)
	case ldk.EventPaymentForwarded:
		return n.forwarded(event)
	case ldk.EventChannelPending:
		log.Printf("a channel with %s waits for its funding transaction %s", event.CounterpartyNodeId, event.FundingTxo.Txid)
	case ldk.EventChannelReady:
		log.Printf("a channel is ready: %s", event.UserChannelId)
	case ldk.EventChannelClosed:
		log.Printf("a channel was closed: %s, %T", event.UserChannelId, optional(event.Reason))
		return n.closed(event)
	}
	return nil
}

func optional[T any](value *T) any {
	if value == nil {
		return nil
	}
	return *value
}

// Fails unless the node is running.
func (n *node) runs() error {
	if n.started.Load() == 0 {
		return refuse(codeUnavailable, "the node was not started")
	}
	return nil
}

func (n *node) height() uint32 { return n.Status().CurrentBestBlock.Height }

// LDK's writes are counted when satrail asks, every second, and on every beat.
func (n *node) keepCounting() {
	for range time.Tick(beat) {
		err := n.store.tick()
		if err == nil && n.started.Load() != 0 && n.isBack() {
			err = n.store.keepGraphSize(uint64(len(n.knownChannels())))
		}
		if err == nil && n.started.Load() != 0 {
			err = n.noteOnChain()
		}
		if err == nil && n.started.Load() != 0 {
			err = n.noteClosed()
		}
		if err == nil && n.started.Load() != 0 {
			err = n.decideDoubts()
		}
		if err == nil && n.started.Load() != 0 {
			err = n.endOverdue()
		}
		if err != nil {
			log.Fatalf("the store cannot be written: %v", err)
		}
	}
}
