package main

// Manual operations of a node's owner: coins, peers, channels.

type channelAsk struct {
	Node     string  `json:"node"`
	Address  string  `json:"address"`
	Sats     uint64  `json:"sats"`
	PushMsat *uint64 `json:"pushMsat"`
	Announce bool    `json:"announce"`
}

type closeAsk struct {
	Channel string `json:"channel"`
	Node    string `json:"node"`
	Force   bool   `json:"force"`
}

func (n *node) operator() map[string]method {
	return map[string]method{
		"address": with(false, func(struct{}) (any, error) {
			if err := n.runs(); err != nil {
				return nil, err
			}
			address, err := n.OnchainPayment().NewAddress()
			return map[string]any{"address": address}, err
		}),
		"balances": with(false, func(struct{}) (any, error) {
			if err := n.runs(); err != nil {
				return nil, err
			}
			return n.ListBalances(), nil
		}),
		"channels": with(false, func(struct{}) (any, error) {
			if err := n.runs(); err != nil {
				return nil, err
			}
			shown := []any{}
			for _, one := range n.ListChannels() {
				shown = append(shown, map[string]any{
					"channel": one.UserChannelId, "node": one.CounterpartyNodeId, "sats": one.ChannelValueSats, "ready": one.IsChannelReady, "usable": one.IsUsable,
					"announced": one.IsAnnounced, "outgoing": decimal(one.OutboundCapacityMsat), "incoming": decimal(one.InboundCapacityMsat),
				})
			}
			return map[string]any{"channels": shown, "height": n.height(), "graph": len(n.knownChannels())}, nil
		}),
		"connect": with(false, func(ask channelAsk) (any, error) {
			if err := n.runs(); err != nil {
				return nil, err
			}
			return map[string]any{}, n.Connect(ask.Node, ask.Address, true)
		}),
		"openChannel": with(false, func(ask channelAsk) (any, error) {
			if err := n.runs(); err != nil {
				return nil, err
			}
			opening := n.OpenChannel
			if ask.Announce {
				opening = n.OpenAnnouncedChannel
			}
			channel, err := opening(ask.Node, ask.Address, ask.Sats, ask.PushMsat, nil)
			return map[string]any{"channel": channel}, err
		}),
		"closeChannel": with(false, func(ask closeAsk) (any, error) {
			if err := n.runs(); err != nil {
				return nil, err
			}
			if ask.Force {
				return map[string]any{}, n.ForceCloseChannel(ask.Channel, ask.Node, nil)
			}
			return map[string]any{}, n.CloseChannel(ask.Channel, ask.Node)
		}),
		"sync": with(false, func(struct{}) (any, error) {
			if err := n.runs(); err != nil {
				return nil, err
			}
			return map[string]any{}, n.SyncWallets()
		}),
	}
}

func (n *node) knownChannels() []uint64 {
	gossip := n.NetworkGraph()
	defer gossip.Destroy()
	return gossip.ListChannels()
}
