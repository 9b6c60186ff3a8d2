package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"time"
)

// LDK reports neither the transaction that closed a channel nor its fee. The chain has both, by the outpoint
// that the transaction spends.

var chainClient = http.Client{Timeout: 10 * time.Second}

func fetch(request *http.Request, into any) error {
	answer, err := chainClient.Do(request)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("%s answered %s", request.URL.Redacted(), answer.Status)
	}
	return json.NewDecoder(answer.Body).Decode(into)
}

type coin struct {
	txid  string
	index uint16
}

// Returns the fee in satoshis of the transaction in the block at this height that spends this outpoint.
func (s settings) feeOf(spent coin, height uint32) (uint64, error) {
	if s.esplora != "" {
		return s.feeByEsplora(spent)
	}
	return s.feeByBitcoind(spent, height)
}

func (s settings) feeByEsplora(spent coin) (uint64, error) {
	get := func(path string, into any) error {
		request, err := http.NewRequest(http.MethodGet, s.esplora+path, nil)
		if err != nil {
			return err
		}
		return fetch(request, into)
	}
	var spending struct{ Txid string }
	if err := get(fmt.Sprintf("/tx/%s/outspend/%d", spent.txid, spent.index), &spending); err != nil {
		return 0, err
	}
	if spending.Txid == "" {
		return 0, errors.New("the channel's coin is not spent")
	}
	var found struct{ Fee *uint64 }
	err := get("/tx/"+url.PathEscape(spending.Txid), &found)
	if err != nil || found.Fee == nil {
		return 0, errors.Join(err, errors.New("Esplora does not say the fee"))
	}
	return *found.Fee, nil
}

func (s settings) feeByBitcoind(spent coin, height uint32) (uint64, error) {
	call := func(method string, params []any, result any) error {
		asked, err := json.Marshal(map[string]any{"jsonrpc": "1.0", "id": 1, "method": method, "params": params})
		if err != nil {
			return err
		}
		// net/http takes the user and password from the URL.
		request, err := http.NewRequest(http.MethodPost, s.bitcoind, bytes.NewReader(asked))
		if err != nil {
			return err
		}
		request.Header.Set("content-type", "application/json")
		return fetch(request, &struct{ Result any }{result})
	}
	var hash string
	if err := call("getblockhash", []any{height}, &hash); err != nil {
		return 0, err
	}
	var block struct {
		Tx []struct {
			Fee *float64 // in bitcoin
			Vin []struct {
				Txid string
				Vout uint16
			}
		}
	}
	if err := call("getblock", []any{hash, 2}, &block); err != nil {
		return 0, err
	}
	for _, one := range block.Tx {
		for _, input := range one.Vin {
			if (coin{input.Txid, input.Vout}) == spent && one.Fee != nil {
				return uint64(math.Round(*one.Fee * 1e8)), nil
			}
		}
	}
	return 0, fmt.Errorf("no transaction with a fee spends %s:%d in block %d", spent.txid, spent.index, height)
}
