package main

import (
	"testing"
	"time"
)

// LDK has one record per hash. Because of the invoice's, it reports any payment as a duplicate.
func TestAPaymentWithTheHashOfOurInvoiceFailsWithoutBeingSent(t *testing.T) {
	parsed, err := invoiceOf(example)
	must(t, err)
	defer parsed.Destroy()
	hash, later := parsed.PaymentHash(), time.Now().Unix()+60
	for _, state := range []invoiceState{open, held, claiming, settled} {
		s := opened(t, t.TempDir())
		n := &node{store: s}
		must(t, n.keep(&invoice{Hash: hash, Hold: true, State: state, Expires: later}, nil))
		must(t, n.send(&payment{Hash: hash, Request: example, Amount: 1, State: begun}, parsed, time.Now().UnixMilli()+60_000))
		if one, err := n.payment(hash); err != nil || one.State != failed || one.Reason != "error" {
			t.Errorf("%s: %+v %v", state, one, err)
		}
		s.close()
	}
}

func TestLDKsRecordOfAnInvoiceStaysUntilTheInvoiceIsCanceledOrExpired(t *testing.T) {
	now := time.Now().Unix()
	for _, one := range []struct {
		invoice
		is bool
	}{
		{invoice{State: open, Expires: now + 60}, true},
		{invoice{State: open, Expires: now - 1}, false},
		{invoice{State: canceled, Expires: now + 60}, false},
		{invoice{State: held, Expires: now - 1}, true},
		{invoice{State: settled, Expires: now - 1}, true},
	} {
		if one.needsRecord() != one.is {
			t.Errorf("%s until %d: %v", one.State, one.Expires-now, !one.is)
		}
	}
}
