package main

import (
	ldk "github.com/getAlby/ldk-node-go/ldk_node"
	"go.etcd.io/bbolt"
)

// Channels by state. An inactive one is open, but its peer is disconnected.
type channelCounts struct {
	Active       int `json:"active"`
	Inactive     int `json:"inactive"`
	Opening      int `json:"opening"`
	Closing      int `json:"closing"`
	ForceClosing int `json:"forceClosing"`
}

// LDK reports once why a channel was closed. Its balances don't show the reason before the closing
// transaction is confirmed.
func (n *node) closed(event ldk.EventChannelClosed) error {
	switch optional(event.Reason).(type) {
	case ldk.ClosureReasonLegacyCooperativeClosure, ldk.ClosureReasonCounterpartyInitiatedCooperativeClosure, ldk.ClosureReasonLocallyInitiatedCooperativeClosure:
		opener := n.openerOf(event.ChannelId)
		return n.store.update(func(tx *bbolt.Tx) error {
			agreed, channel := tx.Bucket(bucketAgreed), []byte(event.ChannelId)
			if agreed.Get(channel) != nil {
				return nil // reported again after a kill
			}
			return agreed.Put(channel, opener)
		})
	}
	return nil
}

// Counts the channels that LDK lists, and closed ones whose money has not returned to the wallet.
func (n *node) countChannels(all ldk.BalanceDetails) (counts channelCounts) {
	open := map[ldk.ChannelId]bool{}
	for _, channel := range n.ListChannels() {
		open[channel.ChannelId] = true
		switch {
		case !channel.IsChannelReady:
			counts.Opening++
		case channel.IsUsable:
			counts.Active++
		default:
			counts.Inactive++
		}
	}
	for channel := range leaving(all) {
		switch {
		case open[channel]:
		case n.isAgreed(channel):
			counts.Closing++
		default:
			counts.ForceClosing++
		}
	}
	return counts
}

// Returns the channels with money outside the wallet, including open ones.
func leaving(all ldk.BalanceDetails) map[ldk.ChannelId]bool {
	found := map[ldk.ChannelId]bool{}
	for _, balance := range all.LightningBalances {
		switch balance := balance.(type) {
		case ldk.LightningBalanceClaimableOnChannelClose:
			found[balance.ChannelId] = true
		case ldk.LightningBalanceClaimableAwaitingConfirmations:
			found[balance.ChannelId] = true
		case ldk.LightningBalanceContentiousClaimable:
			found[balance.ChannelId] = true
		case ldk.LightningBalanceMaybeTimeoutClaimableHtlc:
			found[balance.ChannelId] = true
		case ldk.LightningBalanceMaybePreimageClaimableHtlc:
			found[balance.ChannelId] = true
		case ldk.LightningBalanceCounterpartyRevokedOutputClaimable:
			found[balance.ChannelId] = true
		}
	}
	for _, balance := range all.PendingBalancesFromChannelClosures {
		switch balance := balance.(type) {
		case ldk.PendingSweepBalancePendingBroadcast:
			if balance.ChannelId != nil {
				found[*balance.ChannelId] = true
			}
		case ldk.PendingSweepBalanceBroadcastAwaitingConfirmation:
			if balance.ChannelId != nil {
				found[*balance.ChannelId] = true
			}
		}
	}
	return found
}

// Records which payments are in closed channels. When such a payment fails, LDK no longer reports the
// channel.
func (n *node) noteOnChain() error {
	open := map[ldk.ChannelId]bool{}
	for _, channel := range n.ListChannels() {
		open[channel.ChannelId] = true
	}
	for _, balance := range n.ListBalances().LightningBalances {
		htlc, is := balance.(ldk.LightningBalanceMaybeTimeoutClaimableHtlc)
		if !is || !htlc.OutboundPayment || open[htlc.ChannelId] {
			continue
		}
		if err := n.noteOne(htlc.PaymentHash); err != nil {
			return err
		}
	}
	return nil
}

func (n *node) noteOne(hash string) error {
	// Returns nil if the payment is by offer, unknown, ended, or already recorded.
	unnoted := func(tx *bbolt.Tx) (*payment, error) {
		one, err := read[payment](tx, bucketPayments, hash)
		if err != nil || one == nil || one.State != begun || one.OnChain {
			return nil, err
		}
		return one, nil
	}
	var found *payment
	err := n.store.db.View(func(tx *bbolt.Tx) (err error) {
		found, err = unnoted(tx)
		return err
	})
	if err != nil || found == nil {
		return err
	}
	return n.store.update(func(tx *bbolt.Tx) error {
		one, err := unnoted(tx)
		if err != nil || one == nil {
			return err
		}
		one.OnChain = true
		return write(tx, bucketPayments, hash, one)
	})
}
