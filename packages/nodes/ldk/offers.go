package main

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"log"
	"regexp"
	"time"

	ldk "github.com/getAlby/ldk-node-go/ldk_node"
	"go.etcd.io/bbolt"
)

// Payments by offer (BOLT 12). LDK requests an invoice from the issuer and pays it in one call, under a
// random id. So each attempt passes its own id as the payer's note, which LDK stores with the payment, the
// request, and the issuer's invoice, wherever those are in its state.

var attempts = regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)

func isAttempt(key string) bool { return attempts.MatchString(key) }

type payOffer struct {
	Attempt  string `json:"attempt"`
	Offer    string `json:"offer"`
	Amount   string `json:"amount"`
	FeeLimit string `json:"feeLimit"`
	NotAfter int64  `json:"notAfter"`
}

type attemptOnly struct {
	Attempt string `json:"attempt"`
}

func (n *node) lookupOffer(ask attemptOnly) (any, error) {
	if err := n.runs(); err != nil {
		return nil, err
	}
	one, err := n.payment(ask.Attempt)
	if err != nil {
		return nil, err
	}
	return n.store.shownPayment(one), nil
}

func (n *node) payOffer(ask payOffer) (any, error) {
	if err := n.runs(); err != nil {
		return nil, err
	}
	if !isAttempt(ask.Attempt) {
		return nil, refuse(codeBadRequest, "attempt must be a UUID in lower case")
	}
	amount, limit, err := terms(ask.Amount, ask.FeeLimit)
	if err != nil {
		return nil, err
	}
	parsed, err := ldk.OfferFromStr(ask.Offer)
	if err != nil {
		return nil, refuse(codeBadRequest, "offer is none: %v", err)
	}
	defer parsed.Destroy()
	one := &payment{Attempt: ask.Attempt, Request: ask.Offer, Amount: amount, FeeLimit: limit, State: begun}
	n.awaitChain()
	if err := n.sendOffer(one, parsed, ask.NotAfter); err != nil {
		return nil, err
	}
	return n.ended(ask.Attempt)
}

// Stores the attempt, then passes it to LDK once. An ended attempt is unchanged.
func (n *node) sendOffer(one *payment, parsed *ldk.Offer, notAfter int64) error {
	n.deciding.Lock()
	defer n.deciding.Unlock()
	if time.Now().UnixMilli() > notAfter {
		return refuse(codeLate, "the time to begin this payment is over")
	}
	known, err := n.payment(one.Attempt)
	if err != nil || (known != nil && known.State != unsent) {
		return err
	}
	if !n.isBack() || !n.isCurrent() {
		return refuse(codeUnavailable, notBack)
	}
	lost, err := n.lost()
	if err != nil {
		return err
	}
	if lost != nil {
		return refuse(codeUnavailable, "of attempt %s it is not known yet whether it was sent before the node died: until then no other offer is paid", lost.Attempt)
	}
	if err := n.store.update(func(tx *bbolt.Tx) error { return write(tx, bucketPayments, one.Attempt, one) }); err != nil {
		return err
	}
	if reason := n.hopeless(one, parsed); reason != "" {
		return n.end(one, failed, reason)
	}
	dieAt("intent")
	refused := n.handOffer(one, parsed)
	dieAt("sent")
	switch {
	case refused == nil:
		return nil
	case errors.Is(refused, ldk.ErrNodeErrorNotRunning):
		return n.notSent(one)
	case errors.Is(refused, ldk.ErrNodeErrorInvalidAmount), errors.Is(refused, ldk.ErrNodeErrorUnsupportedCurrency), errors.Is(refused, ldk.ErrNodeErrorInvalidOffer):
		return n.end(one, failed, "error")
	case errors.Is(refused, ldk.ErrNodeErrorPersistenceFailed):
		log.Fatalf("attempt %s may be in progress, and LDK could not store its id. The next start will decide", one.Attempt)
	}
	// LDK may have stored the request, and may send it again and pay. Then its event ends the attempt.
	log.Printf("attempt %s: %v", one.Attempt, refused)
	n.doubts[one.Attempt] = time.Now()
	return nil
}

// Returns the reason why LDK need not be called.
func (n *node) hopeless(one *payment, parsed *ldk.Offer) string {
	least := uint64(1)
	switch asked := optional(parsed.Amount()).(type) {
	case ldk.OfferAmountBitcoin:
		least = max(least, asked.AmountMsats)
	case ldk.OfferAmountCurrency:
		return "error"
	}
	switch {
	case parsed.IsExpired(), !parsed.SupportsChain(networks[n.settings.network]), one.Amount < least:
		return "error"
	case outgoing(n.ListChannels()) < one.Amount:
		return "insufficient_balance"
	}
	return ""
}

// Always pass an amount, so that LDK accepts no invoice with another amount.
func (n *node) handOffer(one *payment, parsed *ldk.Offer) error {
	var quantity *uint64
	if parsed.ExpectsQuantity() {
		item := uint64(1)
		quantity = &item
	}
	_, err := n.Bolt12Payment().SendUsingAmount(parsed, one.Amount, quantity, &one.Attempt, routing(one))
	return err
}

// Returns the payment that LDK refers to: by the note stored with the id, or by the hash. If only the id is
// known, it is the lost attempt.
func (n *node) meant(id *ldk.PaymentId, hash string) (*payment, error) {
	if id == nil {
		return n.payment(hash)
	}
	details := n.Payment(*id)
	if details == nil {
		one, err := n.payment(*id) // for an invoice they are equal
		if err != nil || one != nil {
			return one, err
		}
		return n.lost()
	}
	if kind, is := details.Kind.(ldk.PaymentKindBolt12Offer); is && kind.PayerNote != nil && isAttempt(*kind.PayerNote) {
		return n.payment(*kind.PayerNote)
	}
	return n.payment(hash)
}

type quoteOffer struct {
	Destinations []string `json:"destinations"`
	Amount       string   `json:"amount"`
	FeeLimit     string   `json:"feeLimit"`
}

// Quotes the cost to the nodes where the offer's paths begin, or to its issuer. Only the invoice contains the
// cost of the rest of a blinded path. A channel and its side can stand for a node (BOLT 4).
func (n *node) quoteOffer(ask quoteOffer) (any, error) {
	if err := n.runs(); err != nil {
		return nil, err
	}
	amount, limit, err := terms(ask.Amount, ask.FeeLimit)
	if err != nil {
		return nil, err
	}
	var destinations []destination
	for _, text := range ask.Destinations {
		begins, err := hex.DecodeString(text)
		if err != nil || (len(begins) != 33 && len(begins) != 9) {
			return nil, refuse(codeBadRequest, "destinations must be nodes, or channels and their sides, in hex")
		}
		if len(begins) == 9 {
			text = n.sideOf(begins[0], binary.BigEndian.Uint64(begins[1:]))
		}
		destinations = append(destinations, destination{node: text})
	}
	return n.quoted(amount, limit, destinations), nil
}

func (n *node) sideOf(side byte, channel uint64) string {
	gossip := n.NetworkGraph()
	defer gossip.Destroy()
	known := gossip.Channel(channel)
	if known == nil {
		return ""
	}
	if side == 0 {
		return known.NodeOne
	}
	return known.NodeTwo
}
