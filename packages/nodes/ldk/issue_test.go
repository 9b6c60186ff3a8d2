package main

import (
	"errors"
	"testing"
	"time"
)

func TestAnOfferWithoutAPathIsRefusedByARunningNode(t *testing.T) {
	s := opened(t, t.TempDir())
	defer s.close()
	n, err := buildNode(s, settings{network: "regtest", bitcoind: "http://u:p@127.0.0.1:1"})
	must(t, err)
	n.started.Store(time.Now().UnixMilli())
	_, err = n.createOffer(makeOffer{ID: "11111111-0000-7000-8000-000000000000", Description: "coffee"})
	var refused *refusal
	if !errors.As(err, &refused) || refused.Code != codeRefused {
		t.Fatalf("%+v", err)
	}
}
