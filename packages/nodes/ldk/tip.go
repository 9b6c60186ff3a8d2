package main

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"strings"
	"time"
)

// The time of LDK's newest block. After a long stop, the chain source may itself be behind, and LDK then reads
// it up to an old block.

// Maximum age of LDK's newest block. Its time can be two hours ahead.
const tipAge = 3 * time.Hour

var tipClient = &http.Client{Timeout: 2 * time.Second}

// A block and its time in seconds.
type tip struct {
	hash string
	time int64
}

// Returns whether the newest block is recent. On regtest, blocks are mined only on demand.
func isTipRecent(network string, newest *tip, now int64) bool {
	return network == "regtest" || (newest != nil && now-newest.time < int64(tipAge.Seconds()))
}

// Asks for the time of LDK's newest block, once per block.
func (n *node) noteTip() {
	hash := n.Status().CurrentBestBlock.BlockHash
	if known := n.tip.Load(); n.settings.network == "regtest" || (known != nil && known.hash == hash) {
		return
	}
	time, err := n.settings.blockTime(hash)
	if err != nil {
		if n.untimed != hash {
			log.Printf("the time of block %s is not known: %v", hash, err)
		}
		n.untimed = hash
		return
	}
	n.tip.Store(&tip{hash, time})
}

// Returns a block's time, from its header. LDK asks for headers in the same way.
func (s settings) blockTime(hash string) (int64, error) {
	var got *http.Response
	var err error
	if s.esplora != "" {
		got, err = tipClient.Get(strings.TrimSuffix(s.esplora, "/") + "/block/" + hash + "/header")
	} else {
		ask, _ := json.Marshal(map[string]any{"id": 0, "method": "getblockheader", "params": []any{hash, false}})
		got, err = tipClient.Post(s.bitcoind, "application/json", bytes.NewReader(ask))
	}
	if err != nil {
		return 0, err
	}
	defer got.Body.Close()
	text, err := io.ReadAll(io.LimitReader(got.Body, 4096))
	if err != nil {
		return 0, err
	}
	if got.StatusCode != http.StatusOK {
		return 0, fmt.Errorf("the response has status %d", got.StatusCode)
	}
	header := string(text)
	if s.esplora == "" {
		var answer struct{ Result string }
		if err := json.Unmarshal(text, &answer); err != nil {
			return 0, err
		}
		header = answer.Result
	}
	raw, err := hex.DecodeString(strings.TrimSpace(header))
	if err != nil || len(raw) != 80 {
		return 0, errors.New("the response is not a block header")
	}
	return int64(binary.LittleEndian.Uint32(raw[68:])), nil
}
