package main

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

const tipHash = "000000000019d6689c085ae165831e934ff763ae46a2a6c172b3f1b60a8ce26f"

func genesisHeader() string {
	raw := make([]byte, 80)
	copy(raw[68:], []byte{0x29, 0xab, 0x5f, 0x49}) // 1231006505
	return hex.EncodeToString(raw)
}

func TestTheNewestBlockMustBeRecentExceptOnRegtest(t *testing.T) {
	at := func(time int64) *tip { return &tip{tipHash, time} }
	for _, one := range []struct {
		network string
		newest  *tip
		is      bool
	}{
		{"mainnet", nil, false},
		{"mainnet", at(100_000 - 10_800), false},
		{"mainnet", at(100_000 - 10_799), true},
		{"signet", at(100_000 + 7200), true}, // a miner's clock is ahead
		{"signet", at(0), false},
		{"regtest", nil, true},
	} {
		if isTipRecent(one.network, one.newest, 100_000) != one.is {
			t.Fatalf("%+v", one)
		}
	}
}

func TestTheTimeOfABlockIsReadFromBitcoindAndFromEsplora(t *testing.T) {
	answer := func(response http.ResponseWriter, request *http.Request) {
		if request.Method == http.MethodGet && request.URL.Path == "/api/block/"+tipHash+"/header" {
			fmt.Fprint(response, genesisHeader())
			return
		}
		var ask struct {
			Method string
			Params []any
		}
		json.NewDecoder(request.Body).Decode(&ask)
		user, password, _ := request.BasicAuth()
		if user != "user" || password != "secret" || ask.Method != "getblockheader" || ask.Params[0] != tipHash || ask.Params[1] != false {
			response.WriteHeader(http.StatusInternalServerError)
			return
		}
		fmt.Fprintf(response, `{"result":%q,"error":null,"id":0}`, genesisHeader())
	}
	server := httptest.NewServer(http.HandlerFunc(answer))
	bitcoind := strings.Replace(server.URL, "http://", "http://user:secret@", 1)
	for _, one := range []settings{{bitcoind: bitcoind}, {esplora: server.URL + "/api"}, {esplora: server.URL + "/api/"}} {
		if time, err := one.blockTime(tipHash); err != nil || time != 1231006505 {
			t.Fatalf("%d %v", time, err)
		}
	}
	if _, err := (settings{bitcoind: server.URL}).blockTime(tipHash); err == nil {
		t.Fatal("it took a refusal for a header")
	}
	server.Close()
	if _, err := (settings{bitcoind: bitcoind}).blockTime(tipHash); err == nil || strings.Contains(err.Error(), "secret") {
		t.Fatalf("%v", err)
	}
}
