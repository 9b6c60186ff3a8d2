package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.etcd.io/bbolt"
)

func opened(t *testing.T, folder string) *store {
	t.Helper()
	s, err := openStore(folder)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Closes the store like the end of a process.
func (s *store) close() {
	s.db.Close()
	s.lock.Close()
}

// Writes a file at this path of LDK's state, as LDK would.
func putting(t *testing.T, s *store) func(bytes string, path ...string) {
	return func(bytes string, path ...string) {
		t.Helper()
		file := filepath.Join(append([]string{s.ldkFolder(), "fs_store"}, path...)...)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(bytes), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func TestAStoreHasOneOwner(t *testing.T) {
	folder := t.TempDir()
	first := opened(t, folder)
	if _, err := openStore(folder); err == nil || !strings.Contains(err.Error(), "two nodes of one state lose the money") {
		t.Fatalf("a second process opened the store: %v", err)
	}
	first.close()
	opened(t, folder).close()
}

func TestARestoredBackupIsNotTheNewestStore(t *testing.T) {
	folder := t.TempDir()
	s := opened(t, folder)
	s.close()
	backup, err := os.ReadFile(filepath.Join(folder, "book.db"))
	if err != nil {
		t.Fatal(err)
	}
	s = opened(t, folder)
	if err := s.tick(); err != nil {
		t.Fatal(err)
	}
	seen, err := s.mark()
	if err != nil {
		t.Fatal(err)
	}
	s.close()
	s = opened(t, folder)
	if is, err := s.has(seen); err != nil || !is {
		t.Fatalf("the store itself after a restart: %v %v", is, err)
	}
	s.close()

	// An old store doesn't contain the run, however far it counts on its own afterwards.
	if err := os.WriteFile(filepath.Join(folder, "book.db"), backup, 0o600); err != nil {
		t.Fatal(err)
	}
	s = opened(t, folder)
	for range 10 {
		if err := s.tick(); err != nil {
			t.Fatal(err)
		}
	}
	if is, err := s.has(seen); err != nil || is {
		t.Fatalf("an old store counts as the newest: %v %v", is, err)
	}
	s.close()
}

func TestAnAcceptedOldStoreKnowsThatItLacksPayments(t *testing.T) {
	s := opened(t, t.TempDir())
	defer s.close()
	attempt := strings.Repeat("1", 8) + "-0000-7000-8000-000000000000"
	must(t, s.update(func(tx *bbolt.Tx) error {
		for hash, state := range map[string]string{"aa": succeeded, "bb": failed, "cc": begun} {
			if err := write(tx, bucketPayments, hash, payment{Hash: hash, State: state}); err != nil {
				return err
			}
		}
		if _, err := push(tx, bucketSettled, "dd"); err != nil {
			return err
		}
		return write(tx, bucketPayments, attempt, payment{Attempt: attempt, State: begun})
	}))
	must(t, s.lose(&payment{Attempt: attempt}))
	n := &node{store: s}
	shown := func(key string) paymentShown {
		t.Helper()
		one, err := n.payment(key)
		must(t, err)
		return s.shownPayment(one)
	}
	if one := shown("ee"); one != (paymentShown{State: "notFound"}) {
		t.Fatalf("before: %+v", one)
	}
	before := uint64(time.Now().UnixMilli())
	must(t, s.accept())
	if one := shown("aa"); one.State != succeeded {
		t.Errorf("settled: %+v", one)
	}
	// A failed payment may have been sent again since, and LDK decides about a pending one with an old state.
	for _, key := range []string{"bb", "cc", "ee", attempt} {
		if one := shown(key); one.State != "notFound" || one.LostBefore < before {
			t.Errorf("%s: %+v", key, one)
		}
	}
	if one, err := n.lost(); err != nil || one != nil {
		t.Errorf("still lost: %v %v", one, err)
	}
	// A reader that saw more entries than the old store has still gets the next one.
	must(t, s.update(func(tx *bbolt.Tx) error {
		next, err := push(tx, bucketSettled, "ff")
		if next <= 1<<31 {
			t.Errorf("the next receipt is number %d", next)
		}
		return err
	}))
}

func TestAnOldStoreIsStartedOnlyOnceAccepted(t *testing.T) {
	s := opened(t, t.TempDir())
	defer s.close()
	n, err := buildNode(s, settings{network: "regtest", bitcoind: "http://u:p@127.0.0.1:1"})
	must(t, err)
	seen := mark{Run: "another", Count: 7}
	n.settings.acceptStore = "another:6"
	_, err = n.begin(&seen)
	var refused *refusal
	if !errors.As(err, &refused) || refused.Code != codeStale || s.lostBefore() != 0 {
		t.Fatalf("%v, lost before %d", err, s.lostBefore())
	}
	n.settings.acceptStore = seen.String()
	_, err = n.begin(&seen)
	must(t, err)
	must(t, n.Stop())
	if s.lostBefore() == 0 {
		t.Fatal("the store does not know that it lacks payments")
	}
}

func TestABackupOfTheSameRunHasALowerCount(t *testing.T) {
	s := opened(t, t.TempDir())
	defer s.close()
	seen, err := s.mark()
	if err != nil {
		t.Fatal(err)
	}
	seen.Count++
	if is, err := s.has(seen); err != nil || is {
		t.Fatalf("%v %v", is, err)
	}
}

func TestRestartsDoNotMakeABackupOfTheSameRunNewer(t *testing.T) {
	folder := t.TempDir()
	s := opened(t, folder)
	backup, err := os.ReadFile(filepath.Join(folder, "book.db"))
	if err != nil {
		t.Fatal(err)
	}
	if err := s.tick(); err != nil {
		t.Fatal(err)
	}
	seen, err := s.mark()
	if err != nil {
		t.Fatal(err)
	}
	s.close()
	if err := os.WriteFile(filepath.Join(folder, "book.db"), backup, 0o600); err != nil {
		t.Fatal(err)
	}
	for range 5 {
		s = opened(t, folder)
		if is, err := s.has(seen); err != nil || is {
			t.Fatalf("an old store counts as the newest: %v %v", is, err)
		}
		s.close()
	}
}

func TestEachWrittenStateIncrementsTheCount(t *testing.T) {
	s := opened(t, t.TempDir())
	defer s.close()
	at := func() uint64 {
		t.Helper()
		here, err := s.mark()
		if err != nil {
			t.Fatal(err)
		}
		return here.Count
	}
	observed := func() uint64 {
		t.Helper()
		if err := s.observe(); err != nil {
			t.Fatal(err)
		}
		return at()
	}
	before := observed()
	if again := observed(); again != before {
		t.Fatalf("counted without a change: %d, then %d", before, again)
	}
	if err := s.update(func(tx *bbolt.Tx) error { return write(tx, bucketPayments, "hash", payment{}) }); err != nil {
		t.Fatal(err)
	}
	if at() != before+1 {
		t.Fatalf("a payment: %d, then %d", before, at())
	}
	put := putting(t, s)
	for n, path := range [][]string{{"manager"}, {"monitors", "one"}, {"monitors", "two"}, {"monitors", "one"}} {
		put(strings.Repeat("x", n+1), path...)
		if now := observed(); now != before+2+uint64(n) {
			t.Fatalf("%v: %d, then %d", path, before, now)
		}
	}
	put("network", "network_graph")
	if now := observed(); now != before+5 {
		t.Fatalf("gossip changed the count: %d", now)
	}
}

func TestTheSeedIsCreatedOnceAndNeverForAnExistingState(t *testing.T) {
	s := opened(t, t.TempDir())
	defer s.close()
	first, err := s.seed()
	if err != nil || len(first) != 64 {
		t.Fatal(err)
	}
	file := filepath.Join(s.folder, "seed")
	if about, err := os.Stat(file); err != nil || about.Mode().Perm() != 0o600 {
		t.Fatalf("%v %v", about.Mode(), err)
	}
	again, err := s.seed()
	if err != nil || string(again) != string(first) {
		t.Fatalf("another seed: %v", err)
	}
	if err := os.Mkdir(s.ldkFolder(), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if _, err := s.seed(); err == nil {
		t.Fatal("created a new seed for existing channels")
	}
}

func TestAPaymentMissingFromLDKsStateIsUnsent(t *testing.T) {
	s := opened(t, t.TempDir())
	defer s.close()
	known, never := strings.Repeat("ab", 32), strings.Repeat("cd", 32)
	for _, hash := range []string{known, never} {
		err := s.update(func(tx *bbolt.Tx) error {
			return write(tx, bucketPayments, hash, payment{Hash: hash, State: begun})
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	put := putting(t, s)
	put("before"+strings.Repeat("\xab", 32)+"after", "monitors", "one")
	put(strings.Repeat("\xcd", 31), "manager")
	put(strings.Repeat("\xcd", 32), "payments", never) // stored, but not sent
	if _, err := forgetUnsent(s); err != nil {
		t.Fatal(err)
	}
	err := s.db.View(func(tx *bbolt.Tx) error {
		for hash, state := range map[string]string{known: begun, never: unsent} {
			one, err := read[payment](tx, bucketPayments, hash)
			if err != nil || one.State != state {
				t.Errorf("%s is %s, and should be %s: %v", hash[:4], one.State, state, err)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestAnAttemptWithoutAStoredIdIsInDoubtAndOneMissingFromLDKsStateIsUnsent(t *testing.T) {
	s := opened(t, t.TempDir())
	defer s.close()
	id := func(digit string) string { return strings.Repeat(digit, 8) + "-0000-7000-8000-000000000000" }
	under, noted, meant, lost := id("1"), id("2"), id("3"), id("4")
	for _, attempt := range []string{under, noted, meant, lost} {
		err := s.update(func(tx *bbolt.Tx) error {
			return write(tx, bucketPayments, attempt, payment{Attempt: attempt, State: begun})
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	put := putting(t, s)
	// LDK's list of payments contains their ids. The rest of its state contains two of them, by the id or by the
	// note.
	put(under, "payments", strings.Repeat("ab", 32))
	put(noted, "payments", strings.Repeat("cd", 32))
	put(meant, "payments", strings.Repeat("ef", 32))
	put("before"+strings.Repeat("\xab", 32)+"after", "events", "queue")
	put("before"+noted+"after", "monitors", "one")
	left, err := forgetUnsent(s)
	if err != nil {
		t.Fatal(err)
	}
	if _, is := left[lost]; !is || len(left) != 1 {
		t.Errorf("in doubt: %v", left)
	}
	n := &node{store: s}
	if one, err := n.lost(); err != nil || one == nil || one.Attempt != lost {
		t.Errorf("lost: %v %v", one, err)
	}
	for attempt, state := range map[string]string{under: begun, noted: begun, meant: unsent, lost: begun} {
		one, err := n.payment(attempt)
		if err != nil || one.State != state {
			t.Errorf("%s is %s, and should be %s: %v", attempt[:4], one.State, state, err)
		}
	}
	n.doubts = map[string]time.Time{lost: time.Now().Add(-time.Minute)}
	n.started.Store(time.Now().Add(-55 * time.Second).UnixMilli())
	if err := n.decideDoubts(); err != nil {
		t.Fatal(err)
	}
	if one, _ := n.payment(lost); one.State != begun {
		t.Errorf("decided before LDK had time to report")
	}
	n.started.Store(time.Now().Add(-time.Minute).UnixMilli())
	if err := n.decideDoubts(); err != nil {
		t.Fatal(err)
	}
	if one, _ := n.payment(lost); one.State != unsent {
		t.Errorf("an attempt that is nowhere is %s", one.State)
	}
	if one, err := n.lost(); err != nil || one != nil {
		t.Errorf("still lost: %v %v", one, err)
	}
}
