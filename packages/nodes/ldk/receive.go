package main

import (
	"crypto/sha256"
	"encoding/hex"
	"log"
	"strconv"
	"time"

	ldk "github.com/getAlby/ldk-node-go/ldk_node"
	"go.etcd.io/bbolt"
)

// Invoices. LDK has none of their preimages. It reports incoming payments, and this program claims or fails
// them.

type invoiceState string

const (
	open     invoiceState = "open"
	held     invoiceState = "held"     // a hold invoice whose payment is held
	claiming invoiceState = "claiming" // we have decided to claim the payment
	canceled invoiceState = "canceled"
	settled  invoiceState = "settled"
)

type invoice struct {
	Hash      string       `json:"hash"`
	Request   string       `json:"request"`
	Preimage  string       `json:"preimage"` // empty if only its owner has it
	Hold      bool         `json:"hold"`
	Amount    *uint64      `json:"amount"`
	Expires   int64        `json:"expires"`
	State     invoiceState `json:"state"`
	Received  uint64       `json:"received"`
	Deadline  uint32       `json:"deadline"` // the height at which LDK fails a held payment
	SettledAt int64        `json:"settledAt"`
	Number    uint64       `json:"number"`
	Foreign   bool         `json:"foreign"`         // received by this node, but not for our invoice
	Offer     string       `json:"offer,omitempty"` // satrail's id of the invoice's offer
}

// Returns whether LDK's record of the invoice must stay: it may still be paid, or was.
func (one *invoice) needsRecord() bool {
	return one.State != canceled && (one.State != open || time.Now().Unix() < one.Expires)
}

type hashOnly struct {
	Hash string `json:"hash"`
}

type makeInvoice struct {
	Hash            string  `json:"hash"`
	Preimage        string  `json:"preimage"`
	Hold            bool    `json:"hold"`
	Amount          *string `json:"amount"`
	Description     *string `json:"description"`
	DescriptionHash *string `json:"descriptionHash"`
	ExpirySeconds   uint32  `json:"expirySeconds"`
}

func isHash(text string) bool {
	bytes, err := hex.DecodeString(text)
	return err == nil && len(bytes) == 32
}

func proves(preimage, hash string) bool {
	bytes, err := hex.DecodeString(preimage)
	sum := sha256.Sum256(bytes)
	return err == nil && len(bytes) == 32 && hex.EncodeToString(sum[:]) == hash
}

func (n *node) invoice(hash string) (found *invoice, err error) {
	err = n.store.db.View(func(tx *bbolt.Tx) error {
		found, err = read[invoice](tx, bucketInvoices, hash)
		return err
	})
	return found, err
}

// Commits a change of one invoice.
func (n *node) keep(one *invoice, also func(tx *bbolt.Tx) error) error {
	return n.store.update(func(tx *bbolt.Tx) error {
		if also != nil {
			if err := also(tx); err != nil {
				return err
			}
		}
		return write(tx, bucketInvoices, one.Hash, one)
	})
}

func (n *node) createInvoice(ask makeInvoice) (any, error) {
	if err := n.runs(); err != nil {
		return nil, err
	}
	if !isHash(ask.Hash) {
		return nil, refuse(codeBadRequest, "hash must be 32 bytes in hex")
	}
	if ask.Preimage != "" && !proves(ask.Preimage, ask.Hash) {
		return nil, refuse(codeBadRequest, "preimage must be that of the hash")
	}
	if ask.Preimage == "" && !ask.Hold {
		return nil, refuse(codeBadRequest, "preimage is missing: only a hold invoice is made without")
	}
	if (ask.Description == nil) == (ask.DescriptionHash == nil) {
		return nil, refuse(codeBadRequest, "either description or descriptionHash")
	}
	n.deciding.Lock()
	defer n.deciding.Unlock()
	known, err := n.invoice(ask.Hash)
	if err != nil {
		return nil, err
	}
	if known != nil {
		// The caller has the preimage, so it is a repeated request. With only the hash, the owner is unknown.
		if ask.Preimage == "" || known.Preimage != ask.Preimage || known.Hold != ask.Hold {
			return nil, refuse(codeTaken, "there is an invoice with this payment hash")
		}
		return map[string]any{"request": known.Request}, nil
	}
	made, amount, err := n.receive(ask)
	if err != nil {
		return nil, err
	}
	one := invoice{
		Hash: ask.Hash, Request: made, Preimage: ask.Preimage, Hold: ask.Hold, Amount: amount,
		Expires: time.Now().Unix() + int64(ask.ExpirySeconds), State: open,
	}
	if err := n.keep(&one, nil); err != nil {
		return nil, err
	}
	return map[string]any{"request": one.Request}, nil
}

func (n *node) receive(ask makeInvoice) (request string, amount *uint64, err error) {
	var description ldk.Bolt11InvoiceDescription
	if ask.Description != nil {
		description = ldk.Bolt11InvoiceDescriptionDirect{Description: *ask.Description}
	} else {
		description = ldk.Bolt11InvoiceDescriptionHash{Hash: *ask.DescriptionHash}
	}
	var made *ldk.Bolt11Invoice
	if ask.Amount == nil {
		made, err = n.Bolt11Payment().ReceiveVariableAmountForHash(description, ask.ExpirySeconds, ask.Hash)
	} else {
		msat, wrong := strconv.ParseUint(*ask.Amount, 10, 64)
		if wrong != nil {
			return "", nil, refuse(codeBadRequest, "amount must be millisatoshis, as a string of digits")
		}
		amount = &msat
		made, err = n.Bolt11Payment().ReceiveForHash(msat, description, ask.ExpirySeconds, ask.Hash)
	}
	if err != nil {
		return "", nil, refuse(codeRefused, "no invoice: %v", err)
	}
	defer made.Destroy()
	if !ask.Hold {
		return made.String(), amount, nil
	}
	request, err = lasting(made.String(), holdBlocks, n.key)
	return request, amount, err
}

// Handles the arrival of all parts of a payment. Requires `deciding`. The decision is on disk before LDK is
// notified.
func (n *node) arrived(event ldk.EventPaymentClaimable) error {
	one, err := n.invoice(event.PaymentHash)
	if err != nil {
		return err
	}
	if one == nil {
		return n.sendBack(event.PaymentHash)
	}
	isOver := one.State == held && n.height() >= one.Deadline // LDK has failed the earlier payment
	isEnough := one.Amount == nil || event.ClaimableAmountMsat >= *one.Amount
	switch {
	case one.State == claiming:
		return n.claim(one) // reported again after a restart
	case one.State == held && !isOver:
		return nil
	case one.State == open && isEnough && time.Now().Unix() < one.Expires:
		one.Received = event.ClaimableAmountMsat
		one.Deadline = n.height()
		if event.ClaimDeadline != nil {
			one.Deadline = *event.ClaimDeadline
		}
		if one.Hold {
			one.State = held
			return n.keep(one, nil)
		}
		return n.take(one)
	}
	return n.sendBack(one.Hash)
}

// Stores the decision to claim it, then claims it.
func (n *node) take(one *invoice) error {
	one.State = claiming
	err := n.keep(one, func(tx *bbolt.Tx) error { return tx.Bucket(bucketTodo).Put([]byte(one.Hash), []byte{}) })
	if err != nil {
		return err
	}
	dieAt("claim")
	return n.claim(one)
}

func (n *node) sendBack(hash string) error {
	if err := n.Bolt11Payment().FailForHash(hash); err != nil {
		log.Printf("payment %s could not be sent back, and ends by itself: %v", hash, err)
	}
	return nil
}

// Records a claimed payment. Requires `deciding`.
func (n *node) received(hash string, amount uint64) error {
	one, err := n.invoice(hash)
	if err != nil {
		return err
	}
	if one == nil {
		one = &invoice{Hash: hash, Foreign: true}
		if details := n.Payment(hash); details != nil {
			switch kind := details.Kind.(type) {
			case ldk.PaymentKindSpontaneous:
				one.Preimage = textOf(kind.Preimage)
			case ldk.PaymentKindBolt12Offer:
				one.Preimage = textOf(kind.Preimage)
				if one.Offer, err = n.offerOf(kind.OfferId); err != nil {
					return err
				}
			}
		}
	}
	if one.State == settled {
		return nil // reported again after a restart
	}
	dieAt("received")
	one.State, one.Received, one.SettledAt = settled, amount, time.Now().UnixMilli()
	return n.keep(one, func(tx *bbolt.Tx) error {
		one.Number, err = push(tx, bucketSettled, hash)
		if err != nil {
			return err
		}
		return tx.Bucket(bucketTodo).Delete([]byte(hash))
	})
}

// Repeats decisions after a start, because LDK may not have received them.
func (n *node) carryOn() error {
	var todo []string
	err := n.store.db.View(func(tx *bbolt.Tx) error {
		return tx.Bucket(bucketTodo).ForEach(func(hash, _ []byte) error {
			todo = append(todo, string(hash))
			return nil
		})
	})
	if err != nil {
		return err
	}
	for _, hash := range todo {
		one, err := n.invoice(hash)
		if err != nil {
			return err
		}
		if one.State == claiming {
			err = n.claim(one)
		} else {
			err = n.sendBack(hash)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

type heldShown struct {
	Received   string `json:"received"`
	BlocksLeft int64  `json:"blocksLeft"`
}

type invoiceShown struct {
	State    string     `json:"state"`
	Hold     bool       `json:"hold"`
	Received string     `json:"received"`
	Preimage string     `json:"preimage"`
	Held     *heldShown `json:"held"`
}

// Returns the status. LDK fails a held payment at its deadline.
func (n *node) shown(one *invoice) invoiceShown {
	shown := invoiceShown{State: string(one.State), Hold: one.Hold, Received: decimal(one.Received)}
	switch one.State {
	case settled:
		shown.Preimage = one.Preimage
	case held:
		left := int64(one.Deadline) - int64(n.height())
		shown.Held = &heldShown{decimal(one.Received), left}
		if left <= 0 {
			shown.State, shown.Held = string(canceled), nil
		}
	}
	return shown
}

func textOf(text *string) string {
	if text == nil {
		return ""
	}
	return *text
}

func decimal(n uint64) string { return strconv.FormatUint(n, 10) }

func (n *node) lookupInvoice(ask hashOnly) (any, error) {
	if err := n.runs(); err != nil {
		return nil, err
	}
	one, err := n.invoice(ask.Hash)
	if err != nil {
		return nil, err
	}
	if one == nil || (one.Foreign && one.Offer == "") {
		return invoiceShown{State: "unknown"}, nil
	}
	return n.shown(one), nil
}

// Cancels an invoice, so that no payment of it is accepted, or reports that it is too late. The preimage of a
// canceled ordinary invoice is returned, because it can no longer be paid.
func (n *node) cancelInvoice(ask hashOnly) (any, error) {
	if err := n.runs(); err != nil {
		return nil, err
	}
	n.deciding.Lock()
	defer n.deciding.Unlock()
	one, err := n.invoice(ask.Hash)
	if err != nil {
		return nil, err
	}
	if one == nil || one.Foreign {
		return nil, refuse(codeRefused, "there is no such invoice")
	}
	if one.State == open || one.State == held {
		wasHeld := one.State == held
		one.State = canceled
		err := n.keep(one, func(tx *bbolt.Tx) error {
			if !wasHeld {
				return nil
			}
			return tx.Bucket(bucketTodo).Put([]byte(one.Hash), []byte{})
		})
		if err != nil {
			return nil, err
		}
		if wasHeld {
			if err := n.sendBack(one.Hash); err != nil {
				return nil, err
			}
		}
	}
	shown := n.shown(one)
	if one.State == canceled && !one.Hold {
		shown.Preimage = one.Preimage
	}
	return shown, nil
}

type settleInvoice struct {
	Hash     string `json:"hash"`
	Preimage string `json:"preimage"`
}

// Claims a held payment. Returns the invoice once LDK has claimed it, or its status after a timeout.
func (n *node) settle(ask settleInvoice) (any, error) {
	if err := n.runs(); err != nil {
		return nil, err
	}
	if !proves(ask.Preimage, ask.Hash) {
		return nil, refuse(codeRefused, "this is not the preimage of the hash")
	}
	isCurrent := n.awaitChain()
	if err := n.decideToSettle(ask, isCurrent); err != nil {
		return nil, err
	}
	var one *invoice
	err := n.until(5*time.Second, func() (bool, error) {
		var err error
		one, err = n.invoice(ask.Hash)
		return err == nil && one.State != claiming, err
	})
	if err != nil {
		return nil, err
	}
	return n.shown(one), nil
}

func (n *node) decideToSettle(ask settleInvoice, isCurrent bool) error {
	n.deciding.Lock()
	defer n.deciding.Unlock()
	one, err := n.invoice(ask.Hash)
	if err != nil {
		return err
	}
	if one == nil || !one.Hold {
		return refuse(codeRefused, "there is no such hold invoice")
	}
	if one.State != held {
		return nil
	}
	if !isCurrent {
		return refuse(codeUnavailable, "the newest blocks are not read yet: the held payment may have timed out")
	}
	if n.height() >= one.Deadline {
		return nil
	}
	one.Preimage = ask.Preimage
	return n.take(one)
}

// Checks after each commit, up to a timeout.
func (n *node) until(most time.Duration, look func() (bool, error)) error {
	over := time.After(most)
	for {
		next := n.store.next()
		if is, err := look(); is || err != nil {
			return err
		}
		select {
		case <-next:
		case <-over:
			return nil
		}
	}
}
