package main

import (
	"bytes"
	"encoding/json"
	"log"
	"strconv"

	ldk "github.com/getAlby/ldk-node-go/ldk_node"
	"go.etcd.io/bbolt"
)

// The node's own earnings and costs: fees of forwarded payments, and of cooperatively closed channels that it
// opened.

type ownItem struct {
	Kind   string `json:"kind"` // "forward" or "channel"
	Amount int64  `json:"amount"`
}

type forward struct {
	ownItem
	Amount   *uint64 `json:"forwarded"`
	Previous ldk.ChannelId
	Next     ldk.ChannelId
}

// LDK repeats a forward until its event is ended, and gives it no id. After a kill it is the first event of
// the next run, and the mark in our commit shows that it is already listed. A forward claimed on the chain is
// not listed, because LDK doesn't know its fee.
func (n *node) forwarded(event ldk.EventPaymentForwarded) error {
	if event.TotalFeeEarnedMsat == nil {
		return nil
	}
	earned := ownItem{"forward", int64(*event.TotalFeeEarnedMsat)}
	one, err := json.Marshal(forward{earned, event.OutboundAmountForwardedMsat, event.PrevChannelId, event.NextChannelId})
	if err != nil {
		return err
	}
	if err := n.store.listOnce(one); err != nil {
		return err
	}
	dieAt("forwarded")
	return nil
}

// Lists an event, unless it is the last one listed and has not been ended.
func (s *store) listOnce(event []byte) error {
	return s.update(func(tx *bbolt.Tx) error {
		meta := tx.Bucket(bucketMeta)
		if bytes.Equal(meta.Get(keyUnended), event) {
			return nil
		}
		if _, err := push(tx, bucketOwn, string(event)); err != nil {
			return err
		}
		return meta.Put(keyUnended, event)
	})
}

// LDK will not repeat the event.
func (s *store) ended() error {
	var is bool
	err := s.db.View(func(tx *bbolt.Tx) error {
		is = tx.Bucket(bucketMeta).Get(keyUnended) != nil
		return nil
	})
	if err != nil || !is {
		return err
	}
	return s.update(func(tx *bbolt.Tx) error { return tx.Bucket(bucketMeta).Delete(keyUnended) })
}

// The opener of a cooperatively closed channel, until its cost is listed.
var (
	openedByUs   = []byte("ours")
	openedByPeer = []byte("theirs")
)

// Available until the closing transaction is confirmed. The opener of a channel pays for its commitment (BOLT
// 3).
func (n *node) openerOf(channel ldk.ChannelId) []byte {
	for _, balance := range n.ListBalances().LightningBalances {
		if open, is := balance.(ldk.LightningBalanceClaimableOnChannelClose); is && open.ChannelId == channel {
			if open.TransactionFeeSatoshis > 0 {
				return openedByUs
			}
			return openedByPeer
		}
	}
	return []byte{}
}

// LDK lists a cooperatively closed channel from the first to the sixth block of its closing transaction.
const closedDepth = 6

// Lists the costs of cooperatively closed channels. A channel not seen within those blocks is not listed.
func (n *node) noteClosed() error {
	for _, balance := range n.ListBalances().LightningBalances {
		closed, is := balance.(ldk.LightningBalanceClaimableAwaitingConfirmations)
		if !is || closed.Source != ldk.BalanceSourceCoopClose {
			continue
		}
		channel := []byte(closed.ChannelId)
		opener := n.store.agreed(channel)
		if len(opener) == 0 {
			continue
		}
		item := ownItem{Kind: "channel"}
		if bytes.Equal(opener, openedByUs) {
			fee, err := n.settings.feeOf(coin{closed.FundingTxId, closed.FundingTxIndex}, closed.ConfirmationHeight+1-closedDepth)
			if err != nil {
				log.Printf("what it cost to close channel %s is not known yet: %v", closed.ChannelId, err)
				continue
			}
			item.Amount = -1000 * int64(fee)
		}
		if err := n.store.listClosed(channel, item); err != nil {
			return err
		}
	}
	return nil
}

func (n *node) isAgreed(channel ldk.ChannelId) bool { return n.store.agreed([]byte(channel)) != nil }

// Returns nil if the close was not cooperative.
func (s *store) agreed(channel []byte) (opener []byte) {
	s.db.View(func(tx *bbolt.Tx) error {
		opener = bytes.Clone(tx.Bucket(bucketAgreed).Get(channel))
		return nil
	})
	return opener
}

func (s *store) listClosed(channel []byte, item ownItem) error {
	one, err := json.Marshal(item)
	if err != nil {
		return err
	}
	return s.update(func(tx *bbolt.Tx) error {
		agreed := tx.Bucket(bucketAgreed)
		if len(agreed.Get(channel)) == 0 {
			return nil
		}
		if _, err := push(tx, bucketOwn, string(one)); err != nil {
			return err
		}
		return agreed.Put(channel, []byte{})
	})
}

// Without a cursor it only returns the end of the list.
func (n *node) own(ask after) (any, error) {
	if err := n.runs(); err != nil {
		return nil, err
	}
	if err := n.noteClosed(); err != nil {
		return nil, err
	}
	if ask.After == nil {
		return n.last(bucketOwn)
	}
	return n.page(ask, bucketOwn, func(_ *bbolt.Tx, _ uint64, text string) (any, error) {
		var one ownItem
		if err := json.Unmarshal([]byte(text), &one); err != nil {
			return nil, err
		}
		return map[string]any{"kind": one.Kind, "amount": strconv.FormatInt(one.Amount, 10)}, nil
	})
}
