package main

import (
	"testing"

	ldk "github.com/getAlby/ldk-node-go/ldk_node"
)

func TestReservesAreOwnedButNeitherSentNorReceived(t *testing.T) {
	reserve := uint64(10_000)
	funding := ldk.OutPoint{Txid: "aa"}
	confirmations := uint32(6)
	channel := ldk.ChannelDetails{
		ChannelId: "aa", FundingTxo: &funding, Confirmations: &confirmations, ChannelValueSats: 1_000_000,
		UnspendablePunishmentReserve: &reserve, CounterpartyUnspendablePunishmentReserve: 50_000,
		OutboundCapacityMsat: 940_000_000, InboundCapacityMsat: 0,
	}
	sums, open := balancesOf([]ldk.ChannelDetails{channel}, ldk.BalanceDetails{})
	if want := (balances{ours: 950_000_000, sendable: 940_000_000}); sums != want || !open["aa"] {
		t.Fatalf("%+v, not %+v", sums, want)
	}
}
