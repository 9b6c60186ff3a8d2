package main

import (
	"container/heap"
	"log"
	"math"
	"sync"
	"time"

	ldk "github.com/getAlby/ldk-node-go/ldk_node"
)

// Quotes a payment's cost, which LDK doesn't report before it pays. This finds the cheapest path over the
// gossiped channels, in as many equal parts as needed. LDK also considers how reliable a channel has been,
// and may choose another path.

const (
	graphAge      = time.Minute     // maximum age of the network graph
	graphAgeNoWay = 2 * time.Second // maximum age if it contains no path
)

type edge struct {
	to                string
	base, ppm         uint64
	min, max          uint64
	capacity          uint64 // 0 if unknown
	isHint, isEnabled bool
}

type graph struct {
	mu   sync.Mutex
	at   time.Time
	into map[string]map[string][]edge // payee side → payer side → channels
}

func (n *node) network(most time.Duration) map[string]map[string][]edge {
	n.graph.mu.Lock()
	defer n.graph.mu.Unlock()
	if n.graph.into != nil && time.Since(n.graph.at) < most {
		return n.graph.into
	}
	into := map[string]map[string][]edge{}
	gossip := n.NetworkGraph()
	defer gossip.Destroy()
	add := func(from, to string, update *ldk.ChannelUpdateInfo, capacity *uint64) {
		if update == nil || !update.Enabled {
			return
		}
		one := edge{to: to, base: uint64(update.Fees.BaseMsat), ppm: uint64(update.Fees.ProportionalMillionths), min: update.HtlcMinimumMsat, max: update.HtlcMaximumMsat}
		if capacity != nil {
			one.capacity = *capacity * 1000
		}
		if into[to] == nil {
			into[to] = map[string][]edge{}
		}
		into[to][from] = append(into[to][from], one)
	}
	ids := gossip.ListChannels()
	for _, id := range ids {
		if channel := gossip.Channel(id); channel != nil {
			add(channel.NodeOne, channel.NodeTwo, channel.OneToTwo, channel.CapacitySats)
			add(channel.NodeTwo, channel.NodeOne, channel.TwoToOne, channel.CapacitySats)
		}
	}
	n.graph.into, n.graph.at = into, time.Now()
	if n.isBack() {
		if err := n.store.keepGraphSize(uint64(len(ids))); err != nil {
			log.Printf("the size of the network could not be kept: %v", err)
		}
	}
	return into
}

type stop struct {
	node   string
	amount uint64 // amount that must arrive here
	odds   float64
}

type queue []stop

func (q queue) Len() int           { return len(q) }
func (q queue) Less(i, j int) bool { return q[i].amount < q[j].amount }
func (q queue) Swap(i, j int)      { q[i], q[j] = q[j], q[i] }
func (q *queue) Push(one any)      { *q = append(*q, one.(stop)) }
func (q *queue) Pop() any {
	last := len(*q) - 1
	one := (*q)[last]
	*q = (*q)[:last]
	return one
}

// Returns for each node the amount that must arrive there so that `amount` arrives at the payee. Paths never
// go through our node.
func reach(into map[string]map[string][]edge, hints map[string]map[string][]edge, us, payee string, amount uint64) map[string]stop {
	best := map[string]stop{}
	waiting := &queue{{payee, amount, 1}}
	for waiting.Len() > 0 {
		here := heap.Pop(waiting).(stop)
		if known, is := best[here.node]; is && known.amount <= here.amount {
			continue
		}
		best[here.node] = here
		for _, edges := range []map[string][]edge{into[here.node], hints[here.node]} {
			for from, channels := range edges {
				if _, is := best[from]; is || from == us {
					continue
				}
				for _, one := range channels {
					if here.amount < one.min || here.amount > one.max {
						continue
					}
					odds := here.odds
					if !one.isHint {
						odds *= likely(here.amount, one)
					}
					heap.Push(waiting, stop{from, here.amount + one.base + here.amount*one.ppm/1_000_000, odds})
				}
			}
		}
	}
	return best
}

// A channel's balance may be anything up to its capacity. The more a payment needs, the less likely it
// succeeds.
func likely(amount uint64, one edge) float64 {
	whole := one.capacity
	if whole == 0 {
		whole = one.max
	}
	if whole == 0 {
		return 1
	}
	return math.Max(0.01, 1-float64(amount)/float64(whole))
}

func hintsOf(invoice *ldk.Bolt11Invoice, payee string) map[string]map[string][]edge {
	hints := map[string]map[string][]edge{}
	for _, hops := range invoice.RouteHints() {
		for i, hop := range hops {
			to := payee
			if i+1 < len(hops) {
				to = hops[i+1].SrcNodeId
			}
			one := edge{to: to, base: uint64(hop.Fees.BaseMsat), ppm: uint64(hop.Fees.ProportionalMillionths), max: math.MaxUint64, isHint: true}
			if hop.HtlcMinimumMsat != nil {
				one.min = *hop.HtlcMinimumMsat
			}
			if hop.HtlcMaximumMsat != nil {
				one.max = *hop.HtlcMaximumMsat
			}
			if hints[to] == nil {
				hints[to] = map[string][]edge{}
			}
			hints[to][hop.SrcNodeId] = append(hints[to][hop.SrcNodeId], one)
		}
	}
	return hints
}

// Returns the cheapest path for one part: which of our channels to use, and the amount that leaves us.
func cheapest(reached map[string]stop, channels []ldk.ChannelDetails) *stop {
	var best *stop
	for _, channel := range channels {
		at, is := reached[channel.CounterpartyNodeId]
		if !is || !channel.IsUsable || at.amount > channel.NextOutboundHtlcLimitMsat || at.amount < channel.NextOutboundHtlcMinimumMsat {
			continue
		}
		if best == nil || at.amount < best.amount {
			best = &at
		}
	}
	return best
}

type quoteAsk struct {
	Request  string `json:"request"`
	Amount   string `json:"amount"`
	FeeLimit string `json:"feeLimit"`
}

func (n *node) quote(ask quoteAsk) (any, error) {
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
	payee := parsed.RecoverPayeePubKey()
	return n.quoted(amount, limit, []destination{{payee, hintsOf(parsed, payee)}}), nil
}

// A node to reach, with its invoice's routing hints.
type destination struct {
	node  string
	hints map[string]map[string][]edge
}

// Quotes the cheapest path to any of these.
func (n *node) quoted(amount, limit uint64, destinations []destination) any {
	for _, age := range []time.Duration{graphAge, graphAgeNoWay} {
		into, found := n.network(age), map[string]any(nil)
		for _, payee := range destinations {
			if fee, odds, is := n.price(into, payee, amount); is && fee <= limit {
				limit, found = fee, map[string]any{"fee": decimal(fee), "probability": odds}
			}
		}
		if found != nil {
			return found
		}
	}
	return map[string]any{"fee": nil, "probability": 0}
}

func (n *node) price(into map[string]map[string][]edge, payee destination, amount uint64) (fee uint64, odds float64, is bool) {
	us, channels := n.NodeId(), n.ListChannels()
	var all uint64
	for _, channel := range channels {
		if channel.IsUsable {
			all += channel.NextOutboundHtlcLimitMsat
		}
	}
	if payee.node == us || all < amount {
		return 0, 0, false
	}
	for _, parts := range []uint64{1, 2, 4, 8} {
		part := (amount + parts - 1) / parts
		if best := cheapest(reach(into, payee.hints, us, payee.node, part), channels); best != nil {
			return (best.amount - part) * parts, math.Pow(best.odds, float64(parts)), true
		}
	}
	return 0, 0, false
}
