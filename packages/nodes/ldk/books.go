package main

import (
	"strconv"
	"time"

	ldk "github.com/getAlby/ldk-node-go/ldk_node"
	"go.etcd.io/bbolt"
)

// What the node owns and what it has done, to be compared with a ledger.

const (
	pageSize    = 500
	longestWait = 30 * time.Second
	// Two nodes agree on an HTLC's end within this.
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

// A page of a list after a number, once it has a line, or as it is when the wait is over.
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

// Where a list ends.
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

// Receipts with a preimage, in the order in which they settled, after a cursor; from the first without one.
func (n *node) settlements(ask after) (any, error) {
	return n.page(ask, bucketSettled, func(tx *bbolt.Tx, at uint64, hash string) (any, error) {
		one, err := read[invoice](tx, bucketInvoices, hash)
		if err != nil || one.Preimage == "" {
			return nil, err
		}
		return map[string]any{"hash": hash, "received": decimal(one.Received), "preimage": one.Preimage, "settledAt": one.SettledAt, "offer": one.Offer, "cursor": decimal(at)}, nil
	})
}

// Receipts of any origin. Without a cursor only where they end.
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

// Payments as they were begun. Without a cursor only where they end.
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

// Payments of invoices as they end, or those by offer.
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
	ours, theirs, onItsWay uint64 // on its way out, with its fee: ours, until it has arrived
	apart                  uint64 // what is neither: on its way in, or just changing sides
	opening                uint64 // of channels whose funding may have left the wallet, or not yet
}

// The two anchors of a channel (BOLT 3). Who opened it pays for them, and LDK takes them out of what that side can send.
const anchorsMsat = 2 * 330_000

func (n *node) balances(whole ldk.BalanceDetails) (sums balances, open map[ldk.ChannelId]bool) {
	// LDK keeps satoshis and the rest of each apart.
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
	for _, channel := range n.ListChannels() {
		open[channel.ChannelId] = true
		if channel.IsOutbound && channel.FundingTxo == nil {
			continue // only talked about: its money is in the wallet
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
		sums.theirs += theirs
		sums.onItsWay += outbound[channel.ChannelId]
		sums.apart += apart
	}
	return sums, open
}

// What comes out of channels that are being closed, in msat. Ours is counted once: here until it is swept, and in the wallet then. How near that is to the truth
// depends on payments that have not ended on the chain, and on what the wallet may have seen already.
func closing(all ldk.BalanceDetails, open map[ldk.ChannelId]bool, isAgreed func(ldk.ChannelId) bool) (ours, within uint64) {
	var mayBeInWallet uint64
	for _, balance := range all.LightningBalances {
		switch balance := balance.(type) {
		case ldk.LightningBalanceClaimableOnChannelClose:
			if !open[balance.ChannelId] {
				ours += balance.AmountSatoshis*1000 + balance.OutboundPaymentHtlcRoundedMsat
				within += balance.OutboundPaymentHtlcRoundedMsat + balance.OutboundForwardedHtlcRoundedMsat + balance.InboundClaimingHtlcRoundedMsat + balance.InboundHtlcRoundedMsat
				mayBeInWallet += balance.AmountSatoshis * 1000
				// What both agreed on pays more than the commitment would, and may be in the wallet already.
				if isAgreed(balance.ChannelId) {
					within += balance.AmountSatoshis * 1000
				}
			}
		case ldk.LightningBalanceClaimableAwaitingConfirmations:
			// A channel that both have closed pays to the wallet at once.
			if balance.Source != ldk.BalanceSourceCoopClose {
				ours += balance.AmountSatoshis * 1000
			}
			// What is claimed of the other side's commitment pays to the wallet, which sees it before it is deep enough to be gone from here.
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

// Channels, channels that are being closed, and the wallet. To the millisatoshi, but for what is on its way in: the truth is as near as that. What is just changing
// sides is waited for.
func (n *node) balance(struct{}) (any, error) {
	if err := n.runs(); err != nil {
		return nil, err
	}
	all := n.ListBalances()
	sums, open := n.balances(all)
	for over := time.Now().Add(restPatience); sums.apart != 0 && time.Now().Before(over); sums, open = n.balances(all) {
		time.Sleep(20 * time.Millisecond)
		all = n.ListBalances()
	}
	ours, within := closing(all, open, n.isAgreed)
	onChain := ours + all.TotalOnchainBalanceSats*1000
	return map[string]any{
		"channels": n.countChannels(all),
		"owned":    decimal(sums.ours + sums.onItsWay + onChain), "onChain": decimal(onChain),
		"within": decimal(sums.apart + sums.opening + within), "outgoing": decimal(sums.ours), "incoming": decimal(sums.theirs),
	}, nil
}
