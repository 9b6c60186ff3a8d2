package main

import (
	"bytes"
	"encoding/hex"
	"errors"
	"io/fs"
	"log"
	"os"
	"path/filepath"
	"time"

	"go.etcd.io/bbolt"
)

// Payments that were stored but that LDK may never have received, because the process died in between. LDK
// writes a payment to a channel's monitor or to its manager before it sends anything to a peer, so a payment
// in none of its files was never sent.

type doubt struct {
	*payment
	traces     [][]byte // any of these in LDK's files shows that it received the payment
	isFound    bool
	isRecorded bool // LDK's list of payments contains its id
}

// Searches LDK's files. The list of payments contains intended payments, not only sent ones. For an attempt
// it contains the id next to the note.
func (s *store) search(doubts []*doubt) error {
	recorded, err := filepath.Glob(filepath.Join(s.ldkFolder(), "*", "payments", "*"))
	if err != nil {
		return err
	}
	for _, one := range doubts {
		if one.Attempt == "" {
			hash, err := hex.DecodeString(one.Hash)
			if err != nil {
				return err
			}
			one.traces = [][]byte{hash}
		} else {
			one.traces = [][]byte{[]byte(one.Attempt)}
		}
	}
	for _, path := range recorded {
		id, err := hex.DecodeString(filepath.Base(path))
		if err != nil {
			continue
		}
		err = contents(path, func(content []byte) {
			for _, one := range doubts {
				if one.Attempt != "" && bytes.Contains(content, []byte(one.Attempt)) {
					one.isRecorded = true
					one.traces = append(one.traces, id)
				}
			}
		})
		if err != nil {
			return err
		}
	}
	return filepath.WalkDir(s.ldkFolder(), func(path string, entry fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, os.ErrNotExist):
			return nil
		case err != nil:
			return err
		case entry.IsDir() && entry.Name() == "payments":
			return fs.SkipDir
		case entry.IsDir():
			return nil
		}
		return contents(path, func(content []byte) {
			for _, one := range doubts {
				for _, trace := range one.traces {
					one.isFound = one.isFound || bytes.Contains(content, trace)
				}
			}
		})
	})
}

// A file that has disappeared was replaced, and its successor is read.
func contents(path string, look func([]byte)) error {
	content, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err == nil {
		look(content)
	}
	return err
}

// Before LDK starts, its state is exactly what is on disk. An attempt whose id LDK did not store remains in
// doubt for another minute, in which LDK reports its events.
func forgetUnsent(s *store) (map[string]time.Time, error) {
	var doubts []*doubt
	err := s.db.View(func(tx *bbolt.Tx) error {
		return tx.Bucket(bucketPayments).ForEach(func(key, _ []byte) error {
			one, err := read[payment](tx, bucketPayments, string(key))
			if err == nil && one.State == begun {
				doubts = append(doubts, &doubt{payment: one})
			}
			return err
		})
	})
	left := map[string]time.Time{}
	if err != nil || len(doubts) == 0 {
		return left, err
	}
	if err := s.search(doubts); err != nil {
		return nil, err
	}
	for _, one := range doubts {
		isLost := one.Attempt != "" && !one.isRecorded
		if isLost {
			if err := s.lose(one.payment); err != nil {
				return nil, err
			}
		}
		switch {
		case one.isFound:
		case isLost:
			left[one.Attempt] = time.Now()
		default:
			log.Printf("payment %s was written down and never sent: it is forgotten", one.key())
			if err := s.forget(one.payment); err != nil {
				return nil, err
			}
		}
	}
	return left, nil
}

// A payment still in doubt a minute after the start, or after LDK refused it, that is in no file of LDK was
// never sent.
func (n *node) decideDoubts() error {
	n.deciding.Lock()
	defer n.deciding.Unlock()
	for attempt, since := range n.doubts {
		if time.Since(since) < quietStart || time.Now().UnixMilli()-n.started.Load() < quietStart.Milliseconds() {
			continue
		}
		one, err := n.payment(attempt)
		if err != nil {
			return err
		}
		delete(n.doubts, attempt)
		if one.State != begun {
			continue
		}
		doubtful := &doubt{payment: one}
		if err := n.store.search([]*doubt{doubtful}); err != nil {
			return err
		}
		if !doubtful.isFound {
			log.Printf("attempt %s was written down and never sent: it is forgotten", attempt)
			if err := n.store.forget(one); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s *store) lose(one *payment) error {
	return s.update(func(tx *bbolt.Tx) error { return tx.Bucket(bucketMeta).Put(keyLost, []byte(one.Attempt)) })
}

// Returns the attempt that LDK may have under an unknown id. There is at most one, because no other starts
// while it exists.
func (n *node) lost() (found *payment, err error) {
	err = n.store.db.View(func(tx *bbolt.Tx) error {
		attempt := tx.Bucket(bucketMeta).Get(keyLost)
		if attempt != nil {
			found, err = read[payment](tx, bucketPayments, string(attempt))
		}
		return err
	})
	return found, err
}

// An ended or unsent attempt is not lost.
func find(tx *bbolt.Tx, one *payment) error {
	meta := tx.Bucket(bucketMeta)
	if string(meta.Get(keyLost)) != one.key() {
		return nil
	}
	return meta.Delete(keyLost)
}
