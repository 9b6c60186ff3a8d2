package main

import (
	"testing"

	"go.etcd.io/bbolt"
)

func TestTheChainIsCurrentIfItWasReadSinceTheStartAndRecently(t *testing.T) {
	at := func(seconds uint64) *uint64 { return &seconds }
	for _, one := range []struct {
		read, before *uint64
		now          int64
		is           bool
	}{
		{nil, nil, 1001, false},
		{at(999), at(999), 1001, false}, // by an earlier process
		{at(1000), at(999), 1001, true},
		{at(1000), nil, 1001, true},
		{at(1000), nil, 1000 + 3599, true},
		{at(1000), nil, 1000 + 3600, false},
		// The clock was set back, or started in the past.
		{at(2000), nil, 1000, true},
		{at(2000), at(2000), 1000, false},
		{at(5000), nil, 1000, false},
	} {
		if isReadSince(one.read, one.before, one.now) != one.is {
			t.Fatalf("%+v", one)
		}
	}
}

func TestAClaimThatIsNotReportedAfterItsDeadlineIsGivenUpAtTheSecondBeat(t *testing.T) {
	s := opened(t, t.TempDir())
	defer s.close()
	states := map[string]invoiceState{"claiming": claiming, "settled": claiming, "canceled": canceled, "later": claiming}
	err := s.update(func(tx *bbolt.Tx) error {
		for hash, state := range states {
			deadline := uint32(100)
			if hash == "later" {
				deadline = 200
			}
			if err := tx.Bucket(bucketTodo).Put([]byte(hash), []byte{}); err != nil {
				return err
			}
			if err := write(tx, bucketInvoices, hash, invoice{Hash: hash, State: state, Deadline: deadline}); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	overdue := map[string]bool{}
	beat := func(height uint32, want map[string]invoiceState, todo int) {
		t.Helper()
		if err := s.endOverdue(height, overdue); err != nil {
			t.Fatal(err)
		}
		s.db.View(func(tx *bbolt.Tx) error {
			for hash, state := range want {
				if one, err := read[invoice](tx, bucketInvoices, hash); err != nil || one.State != state {
					t.Fatalf("%s at %d: %+v %v", hash, height, one, err)
				}
			}
			if left := tx.Bucket(bucketTodo).Stats().KeyN; left != todo {
				t.Fatalf("%d decisions are left at %d, not %d", left, height, todo)
			}
			return nil
		})
	}
	beat(100, states, 4)
	beat(101, states, 4)
	// LDK reports one of them in between.
	err = s.update(func(tx *bbolt.Tx) error {
		if err := tx.Bucket(bucketTodo).Delete([]byte("settled")); err != nil {
			return err
		}
		return write(tx, bucketInvoices, "settled", invoice{Hash: "settled", State: settled, Deadline: 100})
	})
	if err != nil {
		t.Fatal(err)
	}
	beat(102, map[string]invoiceState{"claiming": canceled, "settled": settled, "canceled": canceled, "later": claiming}, 1)
	if len(overdue) != 0 {
		t.Fatalf("%v", overdue)
	}
}

func TestAClaimThatIsReportedAfterItWasGivenUpIsSettledAndListed(t *testing.T) {
	s := opened(t, t.TempDir())
	defer s.close()
	n := &node{store: s}
	n.started.Store(1)
	for _, hold := range []bool{false, true} {
		one := &invoice{Hash: "hash", Preimage: "preimage", Hold: hold, State: canceled, Deadline: 100}
		if hold {
			one.Hash = "held"
		}
		if err := n.keep(one, nil); err != nil {
			t.Fatal(err)
		}
		for range 2 { // LDK reports it again after a restart
			if err := n.received(one.Hash, 7000); err != nil {
				t.Fatal(err)
			}
		}
		if found, err := n.invoice(one.Hash); err != nil || found.State != settled || found.Received != 7000 || n.shown(found).Preimage != "preimage" {
			t.Fatalf("%+v %v", found, err)
		}
	}
	listed, err := n.settlements(after{})
	if found, is := listed.(page); err != nil || !is || len(found.Lines) != 2 || found.Cursor != "2" {
		t.Fatalf("%+v %v", listed, err)
	}
}
