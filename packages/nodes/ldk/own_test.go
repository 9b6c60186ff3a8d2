package main

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"go.etcd.io/bbolt"
)

func (s *store) listedOwn(t *testing.T) (all []string) {
	t.Helper()
	err := s.db.View(func(tx *bbolt.Tx) error {
		return listed(tx, bucketOwn, 0, 100, func(_ uint64, text string) error {
			all = append(all, text)
			return nil
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestARepeatedEventIsListedOnce(t *testing.T) {
	folder := t.TempDir()
	s := opened(t, folder)
	one := []byte(`{"kind":"forward","amount":1000}`)
	must(t, s.listOnce(one))
	s.close() // killed before the event was ended, and reported again
	s = opened(t, folder)
	defer s.close()
	must(t, s.listOnce(one))
	must(t, s.ended())
	if all := s.listedOwn(t); len(all) != 1 {
		t.Fatalf("listed: %v", all)
	}
	must(t, s.listOnce(one)) // another event that differs only in its time
	must(t, s.ended())
	if all := s.listedOwn(t); len(all) != 2 {
		t.Fatalf("listed: %v", all)
	}
}

func TestAClosedChannelIsListedOnce(t *testing.T) {
	s := opened(t, t.TempDir())
	defer s.close()
	channel := []byte("aa")
	item := ownItem{"channel", -362_000}
	must(t, s.listClosed(channel, item)) // its opener is unknown
	must(t, s.update(func(tx *bbolt.Tx) error { return tx.Bucket(bucketAgreed).Put(channel, openedByUs) }))
	must(t, s.listClosed(channel, item))
	must(t, s.listClosed(channel, item))
	if all := s.listedOwn(t); len(all) != 1 || all[0] != `{"kind":"channel","amount":-362000}` {
		t.Fatalf("listed: %v", all)
	}
}

const fundingTxid, closingTxid = "ce1ab696", "fcf863ab"

// Responds to each path, or each RPC method, like a chain, and with 404 to everything else.
func chainThat(t *testing.T, answers map[string]string) string {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, asked *http.Request) {
		what := asked.URL.Path
		if user, password, is := asked.BasicAuth(); is && user == "u" && password == "p" {
			body := make([]byte, 1000)
			length, _ := asked.Body.Read(body)
			for method := range answers {
				if strings.Contains(string(body[:length]), `"`+method+`"`) {
					what = method
				}
			}
		}
		text, is := answers[what]
		if !is {
			http.NotFound(w, asked)
			return
		}
		w.Write([]byte(text))
	}))
	t.Cleanup(server.Close)
	return server.URL
}

func TestTheFeeOfAClosingTransactionOnEsplora(t *testing.T) {
	url := chainThat(t, map[string]string{
		"/tx/" + fundingTxid + "/outspend/1": `{"spent":true,"txid":"` + closingTxid + `","vin":0}`,
		"/tx/" + fundingTxid + "/outspend/0": `{"spent":false}`,
		"/tx/" + closingTxid:                 `{"txid":"` + closingTxid + `","fee":362}`,
	})
	on := settings{esplora: url}
	if fee, err := on.feeOf(coin{fundingTxid, 1}, 481); err != nil || fee != 362 {
		t.Fatal(fee, err)
	}
	if _, err := on.feeOf(coin{fundingTxid, 0}, 481); err == nil {
		t.Fatal("a coin that is not spent has a fee")
	}
	if _, err := on.feeOf(coin{closingTxid, 0}, 481); err == nil {
		t.Fatal("a coin that is not known has a fee")
	}
}

func TestTheFeeOfAClosingTransactionOnBitcoind(t *testing.T) {
	url := chainThat(t, map[string]string{
		"getblockhash": `{"result":"00aa","error":null,"id":1}`,
		"getblock": `{"result":{"tx":[{"vin":[{"coinbase":"00"}]},{"fee":0.00000100,"vin":[{"txid":"` + fundingTxid + `","vout":0}]},
			{"fee":0.00000362,"vin":[{"txid":"` + fundingTxid + `","vout":1}]}]},"error":null,"id":1}`,
	})
	on := settings{bitcoind: strings.Replace(url, "http://", "http://u:p@", 1)}
	if fee, err := on.feeOf(coin{fundingTxid, 1}, 481); err != nil || fee != 362 {
		t.Fatal(fee, err)
	}
	_, err := on.feeOf(coin{fundingTxid, 2}, 481)
	if err == nil {
		t.Fatal("a coin that is not spent has a fee")
	}
	on.bitcoind = strings.Replace(on.bitcoind, "u:p@", "u:wrong@", 1)
	if _, err := on.feeOf(coin{fundingTxid, 1}, 481); err == nil || strings.Contains(err.Error(), "wrong") {
		t.Fatal("an error says no password: ", err)
	}
}
