package main

import (
	"log"
	"time"

	"go.etcd.io/bbolt"
)

// Payments are claimed only while LDK's height is that of the chain. After a long stop, LDK still has its old
// height until it has read the blocks since. The payer may have taken the payment back on the chain by then,
// and LDK would nevertheless report the claim as successful.
//
// LDK itself claims payments by offer, and those without an invoice, without this wait. A payer could send one part before a
// long stop, take it back on the chain, and send the other part before LDK has read the blocks since.

const (
	// Maximum age of LDK's last reading of the chain. LDK's margin between a payment's deadline and its
	// expiry is 39 blocks.
	chainAge = time.Hour
	// How long a call waits for the chain to be read. After a short stop, it takes a second or two.
	chainPatience = 5 * time.Second
	chainBeat     = 200 * time.Millisecond
)

// Returns whether the chain was read since the start, and recently. `before` is the last reading before the
// start, which LDK reports until the next one. Times are in seconds of a clock that can be set back, so
// they are not compared with the time of the start, and a reading in the far future is not recent either.
func isReadSince(read, before *uint64, now int64) bool {
	if read == nil || (before != nil && *read == *before) {
		return false
	}
	age := now - int64(*read)
	return max(age, -age) < int64(chainAge.Seconds())
}

func (n *node) isCurrent() bool {
	now := time.Now().Unix()
	return isReadSince(n.Status().LatestLightningWalletSyncTimestamp, n.readBefore, now) &&
		isTipRecent(n.settings.network, n.tip.Load(), now)
}

// Waits for the chain to be read, up to a timeout.
func (n *node) awaitChain() bool {
	for over := time.Now().Add(chainPatience); !n.isCurrent(); time.Sleep(chainBeat) {
		if time.Now().After(over) {
			return false
		}
	}
	return true
}

// Claims a payment, or leaves it to `keepClaiming`.
func (n *node) claim(one *invoice) error {
	if !n.isCurrent() {
		n.postponed.Store(true)
		return nil
	}
	if err := n.Bolt11Payment().ClaimForHash(one.Hash, one.Received, one.Preimage); err != nil {
		// LDK has no record of it, so it holds no payment of it either.
		log.Printf("invoice %s could not be claimed: %v", one.Hash, err)
	}
	dieAt("claimed")
	return nil
}

// Makes the claims that were postponed until the chain is read, and notes its newest block.
func (n *node) keepClaiming() {
	for range time.Tick(chainBeat) {
		n.noteTip()
		if !n.postponed.Load() || !n.isCurrent() {
			continue
		}
		n.deciding.Lock()
		n.postponed.Store(false)
		err := n.carryOn()
		n.deciding.Unlock()
		if err != nil {
			log.Fatalf("the decided payments cannot be read: %v", err)
		}
	}
}

// Forgets decisions about payments that LDK has failed at their deadline.
func (n *node) endOverdue() error {
	if !n.isCurrent() {
		return nil
	}
	n.deciding.Lock()
	defer n.deciding.Unlock()
	return n.store.endOverdue(n.height(), n.overdue)
}

// LDK reports a claim at once. So a claim that is still not reported one beat after the deadline was made too
// late, and its payment was returned to the payer.
func (s *store) endOverdue(height uint32, overdue map[string]bool) error {
	var over []*invoice
	err := s.db.View(func(tx *bbolt.Tx) error {
		return tx.Bucket(bucketTodo).ForEach(func(hash, _ []byte) error {
			one, err := read[invoice](tx, bucketInvoices, string(hash))
			if err == nil && height > one.Deadline {
				over = append(over, one)
			}
			return err
		})
	})
	if err != nil {
		return err
	}
	seen := map[string]bool{}
	for _, one := range over {
		seen[one.Hash] = true
	}
	for hash := range overdue {
		if !seen[hash] {
			delete(overdue, hash)
		}
	}
	for _, one := range over {
		if !overdue[one.Hash] {
			overdue[one.Hash] = true
			continue
		}
		if one.State == claiming {
			log.Printf("invoice %s was claimed after block %d, too late: its payment was returned to the payer", one.Hash, one.Deadline)
			one.State = canceled
		}
		err := s.update(func(tx *bbolt.Tx) error {
			if err := tx.Bucket(bucketTodo).Delete([]byte(one.Hash)); err != nil {
				return err
			}
			return write(tx, bucketInvoices, one.Hash, one)
		})
		if err != nil {
			return err
		}
		delete(overdue, one.Hash)
	}
	return nil
}
