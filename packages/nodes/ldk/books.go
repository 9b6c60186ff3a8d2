package main

import (
	"strconv"
	"time"

	ldk "github.com/getAlby/ldk-node-go/ldk_node"
	"go.etcd.io/bbolt"
)

// The node's funds and history, for reconciliation with a ledger.

const (
	pageSize    = 500
	longestWait = 30 * time.Second
	// Two nodes agree on an HTLC's end within this time.
	restPatience = 500 * time.Millisecond
)

type after struct {
	After      *string `json:"after"`
	WaitMillis int64   `json:"waitMillis"`
}

func (a after) number() (uint64, error) {
	if a.After == nil {
		return 0, nil
	}
	n, err := strconv.ParseUint(*a.After, 10, 64)
	if err != nil {
		return 0, refuse(codeBadRequest, "after must be a cursor, got %q", *a.After)
	}
	return n, nil
}

func (a after) wait() time.Duration {
	return min(time.Duration(a.WaitMillis)*time.Millisecond, longestWait)
}

type page struct {
	Lines  []any  `json:"lines"`
	Cursor string `json:"cursor"`
}

// Returns the page of a list after a number. Waits for the first line, up to a timeout.
func (n *node) page(ask after, bucket []byte, line func(tx *bbolt.Tx, at uint64, hash string) (any, error)) (any, error) {
	if err := n.runs(); err != nil {
		return nil, err
	}
	from, err := ask.number()
	if err != nil {
		return nil, err
	}
	var found page
	err = n.until(ask.wait(), func() (bool, error) {
		found = page{Lines: []any{}, Cursor: decimal(from)}
		err := n.store.db.View(func(tx *bbolt.Tx) error {
			return listed(tx, bucket, from, pageSize, func(at uint64, hash string) error {
				found.Cursor = decimal(at)
				one, err := line(tx, at, hash)
				if one != nil {
					found.Lines = append(found.Lines, one)
				}
				return err
			})
		})
		return len(found.Lines) > 0, err
	})
	return found, err
}

// Returns the end of a list.
func (n *node) last(bucket []byte) (any, error) {
	if err := n.runs(); err != nil {
		return nil, err
	}
	found := page{Lines: []any{}}
	err := n.store.db.View(func(tx *bbolt.Tx) error {
		found.Cursor = decimal(lastNumber(tx, bucket))
		return nil
	})
	return found, err
}

// Lists receipts with a preimage after a cursor, in settlement order. Without a cursor it starts at the
// first.
func (n *node) settlements(ask after) (any, error) {
	return n.page(ask, bucketSettled, func(tx *bbolt.Tx, at uint64, hash string) (any, error) {
		one, err := read[invoice](tx, bucketInvoices, hash)
		if err != nil || one.Preimage == "" {
			return nil, err
		}
		return map[string]any{"hash": hash, "received": decimal(one.Received), "preimage": one.Preimage, "settledAt": one.SettledAt, "offer": one.Offer, "cursor": decimal(at)}, nil
	})
}

// Lists receipts of any origin. Without a cursor it only returns the end.
func (n *node) taken(ask after) (any, error) {
	if ask.After == nil {
		return n.last(bucketSettled)
	}
	return n.page(ask, bucketSettled, func(tx *bbolt.Tx, _ uint64, hash string) (any, error) {
		one, err := read[invoice](tx, bucketInvoices, hash)
		if err != nil {
			return nil, err
		}
		return map[string]any{"hash": hash, "received": decimal(one.Received)}, nil
	})
}

// Lists payments in the order they were started. Without a cursor it only returns the end.
func (n *node) sent(ask after) (any, error) {
	if ask.After == nil {
		return n.last(bucketBegun)
	}
	return n.page(ask, bucketBegun, func(tx *bbolt.Tx, _ uint64, key string) (any, error) {
		one, err := read[payment](tx, bucketPayments, key)
		if err != nil || one.State == unsent {
			return nil, err
		}
		line := map[string]any{"hash": one.Hash, "amount": decimal(one.Amount), "fee": decimal(one.Fee), "state": one.State}
		if one.Attempt != "" {
			line["attempt"] = one.Attempt
		}
		return line, nil
	})
}

// Lists ended payments of invoices, or of offers.
func (n *node) ends(isByOffer bool) func(after) (any, error) {
	return func(ask after) (any, error) {
		if ask.After == nil {
			return n.last(bucketEnded)
		}
		return n.page(ask, bucketEnded, func(_ *bbolt.Tx, _ uint64, key string) (any, error) {
			if isAttempt(key) != isByOffer {
				return nil, nil
			}
			return key, nil
		})
	}
}

func outgoing(channels []ldk.ChannelDetails) (sum uint64) {
	for _, channel := range channels {
		sum += channel.OutboundCapacityMsat
	}
	return sum
}

func reserve(channel ldk.ChannelDetails) uint64 {
	if channel.UnspendablePunishmentReserve == nil {
		return 0
	}
	return *channel.UnspendablePunishmentReserve * 1000
}

type balances struct {
	ours, onItsWay       uint64 // outgoing and in flight, with its fee: ours until it has arrived
	sendable, receivable uint64 // above the reserves
	apart                uint64 // neither side's: incoming and in flight, or just changing sides
	opening              uint64 // channels whose funding may or may not have left the wallet
}

// The two anchors of a channel (BOLT 3). Its opener pays for them, and LDK subtracts them from what that side
// can send.
const anchorsMsat = 2 * 330_000

func balancesOf(channels []ldk.ChannelDetails, whole ldk.BalanceDetails) (sums balances, open map[ldk.ChannelId]bool) {
	// LDK reports satoshis and the millisatoshi remainder separately.
	outbound := map[ldk.ChannelId]uint64{}
	for _, balance := range whole.LightningBalances {
		switch balance := balance.(type) {
		case ldk.LightningBalanceClaimableOnChannelClose:
			outbound[balance.ChannelId] += balance.OutboundPaymentHtlcRoundedMsat
		case ldk.LightningBalanceMaybeTimeoutClaimableHtlc:
			if balance.OutboundPayment {
				outbound[balance.ChannelId] += balance.AmountSatoshis * 1000
			}
		}
	}
	open = map[ldk.ChannelId]bool{}
	for _, channel := range channels {
		open[channel.ChannelId] = true
		if channel.IsOutbound && channel.FundingTxo == nil {
			continue // not funded yet: its money is in the wallet
		}
		ours := channel.OutboundCapacityMsat + reserve(channel)
		theirs := channel.InboundCapacityMsat + channel.CounterpartyUnspendablePunishmentReserve*1000
		whole, known := channel.ChannelValueSats*1000, ours+theirs+outbound[channel.ChannelId]
		apart := max(whole, known) - min(whole, known)
		if channel.IsOutbound && whole >= known+anchorsMsat {
			ours += anchorsMsat
		}
		if apart == anchorsMsat {
			apart = 0
		}
		if channel.IsOutbound && (channel.Confirmations == nil || *channel.Confirmations == 0) {
			sums.opening += whole
		}
		sums.ours += ours
		sums.sendable += channel.OutboundCapacityMsat
		sums.receivable += channel.InboundCapacityMsat
		sums.onItsWay += outbound[channel.ChannelId]
		sums.apart += apart
	}
	return sums, open
}

// Returns the funds of closing channels in msat. They are counted once: here until they are swept, then in
// the wallet. The uncertainty comes from payments not resolved on the chain, and from funds that the wallet
// may already have seen.
func closing(all ldk.BalanceDetails, open map[ldk.ChannelId]bool, isAgreed func(ldk.ChannelId) bool) (ours, within uint64) {
	var mayBeInWallet uint64
	for _, balance := range all.LightningBalances {
		switch balance := balance.(type) {
		case ldk.LightningBalanceClaimableOnChannelClose:
			if !open[balance.ChannelId] {
				ours += balance.AmountSatoshis*1000 + balance.OutboundPaymentHtlcRoundedMsat
				within += balance.OutboundPaymentHtlcRoundedMsat + balance.OutboundForwardedHtlcRoundedMsat + balance.InboundClaimingHtlcRoundedMsat + balance.InboundHtlcRoundedMsat
				mayBeInWallet += balance.AmountSatoshis * 1000
				// A cooperative close pays more than the commitment would, and the wallet may already contain it.
				if isAgreed(balance.ChannelId) {
					within += balance.AmountSatoshis * 1000
				}
			}
		case ldk.LightningBalanceClaimableAwaitingConfirmations:
			// A cooperatively closed channel pays to the wallet immediately.
			if balance.Source != ldk.BalanceSourceCoopClose {
				ours += balance.AmountSatoshis * 1000
			}
			// A claim on the peer's commitment pays to the wallet, which sees it before it is deep enough to
			// disappear here.
			if balance.Source == ldk.BalanceSourceHtlc {
				within += balance.AmountSatoshis * 1000
			}
		case ldk.LightningBalanceContentiousClaimable:
			ours += balance.AmountSatoshis * 1000
			within += balance.AmountSatoshis * 1000
		case ldk.LightningBalanceMaybeTimeoutClaimableHtlc:
			if !open[balance.ChannelId] {
				if balance.OutboundPayment {
					ours += balance.AmountSatoshis * 1000
				}
				within += balance.AmountSatoshis * 1000
			}
		case ldk.LightningBalanceMaybePreimageClaimableHtlc:
			if !open[balance.ChannelId] {
				within += balance.AmountSatoshis * 1000
			}
		case ldk.LightningBalanceCounterpartyRevokedOutputClaimable:
			ours += balance.AmountSatoshis * 1000
			within += balance.AmountSatoshis * 1000
		}
	}
	for _, balance := range all.PendingBalancesFromChannelClosures {
		switch balance := balance.(type) {
		case ldk.PendingSweepBalancePendingBroadcast:
			ours += balance.AmountSatoshis * 1000
		case ldk.PendingSweepBalanceBroadcastAwaitingConfirmation:
			within += balance.AmountSatoshis * 1000
		}
	}
	unconfirmed := all.TotalOnchainBalanceSats*1000 - min(all.TotalOnchainBalanceSats, all.SpendableOnchainBalanceSats)*1000
	return ours, within + min(mayBeInWallet, unconfirmed)
}

// Returns the funds in channels, closing channels and the wallet. Exact to the millisatoshi, except for
// incoming payments in flight, which are the uncertainty. Waits for payments that are just changing sides.
func (n *node) balance(struct{}) (any, error) {
	if err := n.runs(); err != nil {
		return nil, err
	}
	all := n.ListBalances()
	sums, open := balancesOf(n.ListChannels(), all)
	for over := time.Now().Add(restPatience); sums.apart != 0 && time.Now().Before(over); sums, open = balancesOf(n.ListChannels(), all) {
		time.Sleep(20 * time.Millisecond)
		all = n.ListBalances()
	}
	ours, within := closing(all, open, n.isAgreed)
	onChain := ours + all.TotalOnchainBalanceSats*1000
	return map[string]any{
		"channels": n.countChannels(all),
		"owned":    decimal(sums.ours + sums.onItsWay + onChain), "onChain": decimal(onChain),
		"within": decimal(sums.apart + sums.opening + within), "outgoing": decimal(sums.sendable), "incoming": decimal(sums.receivable),
	}, nil
}
