package main

import (
	ldk "github.com/getAlby/ldk-node-go/ldk_node"
	"go.etcd.io/bbolt"
)

// Channels by their state. An inactive one is open, and its peer is away.
type channelCounts struct {
	Active       int `json:"active"`
	Inactive     int `json:"inactive"`
	Opening      int `json:"opening"`
	Closing      int `json:"closing"`
	ForceClosing int `json:"forceClosing"`
}

// LDK tells once why a channel was closed, and its balances do not say it before the closing transaction is confirmed.
func (n *node) closed(event ldk.EventChannelClosed) error {
	switch optional(event.Reason).(type) {
	case ldk.ClosureReasonLegacyCooperativeClosure, ldk.ClosureReasonCounterpartyInitiatedCooperativeClosure, ldk.ClosureReasonLocallyInitiatedCooperativeClosure:
		return n.store.update(func(tx *bbolt.Tx) error { return tx.Bucket(bucketAgreed).Put([]byte(event.ChannelId), []byte{}) })
	}
	return nil
}

// The channels that LDK lists, and those that were closed and whose money is not back in the wallet yet.
func (n *node) countChannels(all ldk.BalanceDetails) (counts channelCounts, err error) {
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
	err = n.store.db.View(func(tx *bbolt.Tx) error {
		for channel := range leaving(all) {
			switch {
			case open[channel]:
			case tx.Bucket(bucketAgreed).Get([]byte(channel)) != nil:
				counts.Closing++
			default:
				counts.ForceClosing++
			}
		}
		return nil
	})
	return counts, err
}

// Channels with money that is in no wallet yet: open ones too.
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
