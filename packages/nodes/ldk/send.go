package main

import (
	"errors"
	"log"
	"strconv"
	"time"

	ldk "github.com/getAlby/ldk-node-go/ldk_node"
	"go.etcd.io/bbolt"
)

// Payments. Each is stored before LDK receives it, and ends once: with LDK's report, or with a refusal before
// anything was sent. A payment of an invoice is identified by its hash, one by offer (offers.go) by its
// attempt.

const (
	begun     = "pending"
	succeeded = "settled"
	failed    = "failed"
	unsent    = "unsent" // stored, but LDK has never received it
)

// How long a call waits for the end of a payment. Most end within a second.
const settlePatience = 2 * time.Second

type payment struct {
	Hash     string `json:"hash"`              // for an offer, known once it is settled
	Attempt  string `json:"attempt,omitempty"` // for an offer
	Request  string `json:"request"`
	Amount   uint64 `json:"amount"`
	FeeLimit uint64 `json:"feeLimit"`
	State    string `json:"state"`
	Reason   string `json:"reason"`
	Preimage string `json:"preimage"`
	Fee      uint64 `json:"fee"`
	Number   uint64 `json:"number"`
	OnChain  bool   `json:"onChain,omitempty"` // its channel was closed while it was in flight
}

func (one *payment) key() string {
	if one.Attempt != "" {
		return one.Attempt
	}
	return one.Hash
}

type pay struct {
	Request  string `json:"request"`
	Amount   string `json:"amount"`
	FeeLimit string `json:"feeLimit"`
	NotAfter int64  `json:"notAfter"`
}

// Parses the amount and the fee limit of a request, in millisatoshis.
func terms(amount, feeLimit string) (uint64, uint64, error) {
	whole, wrongAmount := strconv.ParseUint(amount, 10, 64)
	limit, wrongLimit := strconv.ParseUint(feeLimit, 10, 64)
	if wrongAmount != nil || wrongLimit != nil {
		return 0, 0, refuse(codeBadRequest, "amount and feeLimit must be millisatoshis, as texts of digits")
	}
	return whole, limit, nil
}

func invoiceOf(request string) (*ldk.Bolt11Invoice, error) {
	parsed, err := ldk.Bolt11InvoiceFromStr(request)
	if err != nil {
		return nil, refuse(codeBadRequest, "request is not an invoice: %v", err)
	}
	return parsed, nil
}

type paymentShown struct {
	Hash     string `json:"hash"`
	State    string `json:"state"`
	Reason   string `json:"reason"`
	Preimage string `json:"preimage"`
	Fee      string `json:"fee"`
	Index    string `json:"index"`
	// If the payment is not found: the time before which it may have been sent and lost, in milliseconds.
	LostBefore uint64 `json:"lostBefore,omitempty"`
}

func (s *store) shownPayment(one *payment) paymentShown {
	if one == nil || one.State == unsent {
		return paymentShown{State: "notFound", LostBefore: s.lostBefore()}
	}
	return paymentShown{Hash: one.Hash, State: one.State, Reason: one.Reason, Preimage: one.Preimage, Fee: decimal(one.Fee), Index: decimal(one.Number)}
}

func (n *node) payment(key string) (found *payment, err error) {
	err = n.store.db.View(func(tx *bbolt.Tx) error {
		found, err = read[payment](tx, bucketPayments, key)
		return err
	})
	return found, err
}

func (n *node) lookupPayment(ask hashOnly) (any, error) {
	if err := n.runs(); err != nil {
		return nil, err
	}
	one, err := n.payment(ask.Hash)
	if err == nil && one != nil && one.State == begun {
		err = n.noteOnChain()
	}
	if err != nil {
		return nil, err
	}
	return n.store.shownPayment(one), nil
}

func (n *node) pay(ask pay) (any, error) {
	if err := n.runs(); err != nil {
		return nil, err
	}
	amount, limit, err := terms(ask.Amount, ask.FeeLimit)
	if err != nil {
		return nil, err
	}
	parsed, err := invoiceOf(ask.Request)
	if err != nil {
		return nil, err
	}
	defer parsed.Destroy()
	if asked := parsed.AmountMilliSatoshis(); asked != nil && *asked != amount {
		return nil, refuse(codeBadRequest, "amount must be the invoice's own, %d", *asked)
	}
	hash := parsed.PaymentHash()
	n.awaitChain()
	if err := n.send(&payment{Hash: hash, Request: ask.Request, Amount: amount, FeeLimit: limit, State: begun}, parsed, ask.NotAfter); err != nil {
		return nil, err
	}
	return n.ended(hash)
}

// Returns a payment once it has ended, or its status after a timeout.
func (n *node) ended(key string) (any, error) {
	var one *payment
	err := n.until(settlePatience, func() (bool, error) {
		var err error
		one, err = n.payment(key)
		return err == nil && one.State != begun, err
	})
	if err != nil {
		return nil, err
	}
	return n.store.shownPayment(one), nil
}

// Stores the payment, then sends it. An existing payment is not sent again unless it failed. LDK identifies
// payments in both directions by their hash, so it cannot pay the hash of our invoice: the payment fails
// without being sent.
func (n *node) send(one *payment, parsed *ldk.Bolt11Invoice, notAfter int64) error {
	n.deciding.Lock()
	defer n.deciding.Unlock()
	if time.Now().UnixMilli() > notAfter {
		return refuse(codeLate, "the time to begin this payment is over")
	}
	known, err := n.payment(one.Hash)
	if err != nil || (known != nil && known.State != failed && known.State != unsent) {
		return err
	}
	if known != nil && known.State == failed {
		if time.Now().UnixMilli()-n.started.Load() < quietStart.Milliseconds() {
			return refuse(codeUnavailable, "the node has just been started: a payment that was tried before is begun anew in a minute")
		}
	}
	issued, err := n.invoice(one.Hash)
	if err != nil {
		return err
	}
	if issued != nil && issued.needsRecord() {
		one.State, one.Reason = failed, "error"
		return n.intend(one, known)
	}
	// With an old height, HTLCs would expire too soon, and every node would refuse them.
	if !n.isCurrent() {
		return refuse(codeUnavailable, notBack)
	}
	if known != nil || n.isReceiving(one.Hash) {
		// Otherwise LDK would treat it as a duplicate.
		if err := n.RemovePayment(one.Hash); err != nil {
			return refuse(codeUnavailable, "an earlier attempt cannot be removed: %v", err)
		}
	}
	if err := n.intend(one, known); err != nil {
		return err
	}
	dieAt("intent")
	refused := n.hand(one, parsed)
	dieAt("sent")
	if refused == nil {
		return nil
	}
	isEarly := errors.Is(refused, ldk.ErrNodeErrorPaymentSendingFailed) && !n.isBack()
	if isEarly || errors.Is(refused, ldk.ErrNodeErrorNotRunning) {
		return n.notSent(one)
	}
	reason, isFinal := n.meaning(refused, one, parsed)
	log.Printf("payment %s: %v", one.Hash, refused)
	if !isFinal {
		return nil // it may be in flight; an event ends it
	}
	return n.end(one, failed, reason)
}

// Returns whether LDK's record of this hash is of an invoice, which may be forgotten in the store.
func (n *node) isReceiving(hash string) bool {
	details := n.Payment(hash)
	return details != nil && details.Direction == ldk.PaymentDirectionInbound
}

// Stores a payment before it is sent, or one that is not sent, in place of an earlier attempt.
func (n *node) intend(one, known *payment) error {
	return n.store.update(func(tx *bbolt.Tx) error {
		if known != nil {
			if err := tx.Bucket(bucketBegun).Delete(number(known.Number)); err != nil {
				return err
			}
		}
		var err error
		if one.Number, err = push(tx, bucketBegun, one.Hash); err != nil {
			return err
		}
		return write(tx, bucketPayments, one.Hash, one)
	})
}

const notBack = "the node does not run, or its channels and its view of the chain and the network are not back yet"

// LDK has reported that it did not send it, and its state was complete.
func (n *node) notSent(one *payment) error {
	if err := n.store.forget(one); err != nil {
		return err
	}
	return refuse(codeUnavailable, notBack)
}

func (s *store) forget(one *payment) error {
	return s.update(func(tx *bbolt.Tx) error { return markUnsent(tx, one) })
}

func markUnsent(tx *bbolt.Tx, one *payment) error {
	one.State = unsent
	if err := find(tx, one); err != nil {
		return err
	}
	return write(tx, bucketPayments, one.key(), one)
}

// Returns whether the node has recovered from its start. Before that, a missing route says nothing about the
// payment: peers are not connected yet, and after a kill part of the network graph may be lost, because LDK
// stores it only from time to time.
func (n *node) isBack() bool {
	if time.Now().UnixMilli()-n.started.Load() >= quietStart.Milliseconds() {
		return true
	}
	for _, channel := range n.ListChannels() {
		if channel.IsChannelReady && !channel.IsUsable {
			return false
		}
	}
	return uint64(len(n.knownChannels()))*2 > n.store.graphSize()
}

func routing(one *payment) *ldk.RouteParametersConfig {
	return &ldk.RouteParametersConfig{
		MaxTotalRoutingFeeMsat: &one.FeeLimit, MaxTotalCltvExpiryDelta: 1008, MaxPathCount: 10, MaxChannelSaturationPowerOfHalf: 2,
	}
}

func (n *node) hand(one *payment, parsed *ldk.Bolt11Invoice) error {
	route := routing(one)
	var err error
	if parsed.AmountMilliSatoshis() == nil {
		_, err = n.Bolt11Payment().SendUsingAmount(parsed, one.Amount, route)
	} else {
		_, err = n.Bolt11Payment().Send(parsed, route)
	}
	return err
}

// LDK has not sent a payment that it refuses with these errors. A duplicate is already being sent, and a
// payment it could not store may be in flight.
func (n *node) meaning(refused error, one *payment, parsed *ldk.Bolt11Invoice) (reason string, isFinal bool) {
	switch {
	case errors.Is(refused, ldk.ErrNodeErrorPaymentSendingFailed):
		if parsed.IsExpired() {
			return "error", true
		}
		if outgoing(n.ListChannels()) < one.Amount {
			return "insufficient_balance", true
		}
		return "no_route", true
	case errors.Is(refused, ldk.ErrNodeErrorInvalidInvoice), errors.Is(refused, ldk.ErrNodeErrorInvalidAmount):
		return "error", true
	}
	return "", false
}

// Ends a payment. Requires `deciding`.
func (n *node) end(one *payment, state, reason string) error {
	one.State, one.Reason = state, reason
	return n.store.update(func(tx *bbolt.Tx) error {
		if err := find(tx, one); err != nil {
			return err
		}
		if _, err := push(tx, bucketEnded, one.key()); err != nil {
			return err
		}
		if one.Attempt != "" && state == succeeded {
			// Its hash, by which a line of the books is identified, is known only now.
			var err error
			if one.Number, err = push(tx, bucketBegun, one.Attempt); err != nil {
				return err
			}
		}
		return write(tx, bucketPayments, one.key(), one)
	})
}

func (n *node) succeeded(event ldk.EventPaymentSuccessful) error {
	one, err := n.meant(event.PaymentId, event.PaymentHash)
	if err != nil || (one != nil && one.State == succeeded) {
		return err
	}
	dieAt("succeeded")
	if one == nil {
		if one, err = n.foreign(event.PaymentHash, event.PaymentId); err != nil {
			return err
		}
	}
	if one.State == failed {
		log.Printf("payment %s had failed, and is settled: reconcile", one.key())
	}
	one.Hash = event.PaymentHash
	if event.PaymentPreimage != nil {
		one.Preimage = *event.PaymentPreimage
	}
	if event.FeePaidMsat != nil {
		one.Fee = *event.FeePaidMsat
	}
	return n.end(one, succeeded, "")
}

// A payment sent from this node by other means is also listed in the books.
func (n *node) foreign(hash string, id *ldk.PaymentId) (*payment, error) {
	one := &payment{Hash: hash, State: begun}
	if id != nil {
		if details := n.Payment(*id); details != nil && details.AmountMsat != nil {
			one.Amount = *details.AmountMsat
		}
	}
	return one, n.store.update(func(tx *bbolt.Tx) error {
		var err error
		if one.Number, err = push(tx, bucketBegun, hash); err != nil {
			return err
		}
		return write(tx, bucketPayments, hash, one)
	})
}

var reasons = map[ldk.PaymentFailureReason]string{
	ldk.PaymentFailureReasonRecipientRejected: "incorrect_payment_details",
	ldk.PaymentFailureReasonUserAbandoned:     "canceled",
	ldk.PaymentFailureReasonRetriesExhausted:  "no_route",
	ldk.PaymentFailureReasonPaymentExpired:    "timeout",
	ldk.PaymentFailureReasonRouteNotFound:     "no_route",
	// For an offer: its issuer did not respond in time, or refused.
	ldk.PaymentFailureReasonInvoiceRequestExpired:  "timeout",
	ldk.PaymentFailureReasonInvoiceRequestRejected: "incorrect_payment_details",
}

func (n *node) failed(event ldk.EventPaymentFailed) error {
	hash := ""
	if event.PaymentHash != nil {
		hash = *event.PaymentHash
	} else if event.PaymentId != nil {
		hash = *event.PaymentId // for a BOLT 11 invoice they are equal
	}
	one, err := n.meant(event.PaymentId, hash)
	if err != nil || one == nil || one.State != begun {
		return err
	}
	reason := "error"
	if event.Reason != nil && reasons[*event.Reason] != "" {
		reason = reasons[*event.Reason]
	}
	if one.OnChain {
		reason = "channel_closed" // LDK's reason is about later attempts that it could not make
	}
	return n.end(one, failed, reason)
}
