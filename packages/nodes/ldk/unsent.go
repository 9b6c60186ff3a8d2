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

// Payments that were written down, and that LDK may have never heard of, since the process died in between. LDK writes a payment into a channel's monitor, or into its manager,
// before a peer hears of it, so what is in none of its files never left.

type doubt struct {
	*payment
	traces     [][]byte // any of them in LDK's files shows that it knows the payment
	isFound    bool
	isRecorded bool // LDK's list of payments says under which id it is
}

// Looks through LDK's files. The list of payments says what was meant to be sent, and not what was: of an attempt it has the id, beside the note.
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

// A file that is gone by now was replaced, and its successor is read.
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

// Before LDK is started its state is what is on the disk. An attempt whose id LDK did not get to write down is in doubt for a minute more, in which LDK tells what it knows.
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

// What is still in doubt a minute after the start, or after LDK refused it, and in no file of LDK, was never sent.
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

// The attempt that LDK may know under an id that it has not told us. There is one at most: while there is, no other is begun.
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

// What has an end, or was never sent, is not lost.
func find(tx *bbolt.Tx, one *payment) error {
	meta := tx.Bucket(bucketMeta)
	if string(meta.Get(keyLost)) != one.key() {
		return nil
	}
	return meta.Delete(keyLost)
}
