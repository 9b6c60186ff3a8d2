package main

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"go.etcd.io/bbolt"
)

// This program's data, next to LDK's. Each commit is on disk before it returns.

var (
	bucketInvoices = []byte("invoices") // payment hash → invoice
	bucketSettled  = []byte("settled")  // number of a receipt, from 1 → payment hash
	bucketPayments = []byte("payments") // payment hash of an invoice, or attempt to pay an offer → payment
	bucketBegun    = []byte("begun")    // number of a payment in start order (by offer: in settlement order) → the same
	bucketEnded    = []byte("ended")    // number of a payment in ending order → the same
	bucketTodo     = []byte("todo")     // payment hash of an invoice with decided HTLCs, until LDK has executed the decision
	bucketOffers   = []byte("offers")   // satrail's id of an offer → offer
	bucketOfferIds = []byte("offerIds") // LDK's id of an offer → satrail's
	bucketAgreed   = []byte("agreed")   // LDK's id of a cooperatively closed channel → its opener, until the closing cost is listed
	bucketOwn      = []byte("own")      // number of the node's own earning or cost → ownItem
	bucketRuns     = []byte("runs")     // each start of this store → the last count in it
	bucketMeta     = []byte("meta")
	keyCount       = []byte("count")
	keyGraph       = []byte("graph")    // number of known channels of the network
	keyUnended     = []byte("unended")  // the last listed forward, until its event is ended
	keyLost        = []byte("lost")     // the attempt that LDK may have under an unknown id
	keyAccepted    = []byte("accepted") // when an old store was accepted, in milliseconds
)

var errOwned = errors.New("another process runs the node")

// A store has one owner. The lock is released when the process ends, however it ends.
type store struct {
	folder string
	lock   *os.File
	db     *bbolt.DB
	run    string

	mu      sync.Mutex
	changed chan struct{}

	seeing  sync.Mutex
	ldkSeen string // LDK's state when it was last counted
}

func openStore(folder string) (*store, error) {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, err
	}
	lock, err := os.OpenFile(filepath.Join(folder, "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		lock.Close()
		return nil, fmt.Errorf("%w in %s: two nodes of one state lose the money of their channels. Stop that one, or leave this one", errOwned, folder)
	}
	db, err := bbolt.Open(filepath.Join(folder, "book.db"), 0o600, &bbolt.Options{Timeout: time.Second})
	if err != nil {
		lock.Close()
		return nil, err
	}
	random := make([]byte, 16)
	if _, err := rand.Read(random); err != nil {
		return nil, err
	}
	s := &store{folder: folder, lock: lock, db: db, run: hex.EncodeToString(random), changed: make(chan struct{})}
	err = s.update(func(tx *bbolt.Tx) error {
		for _, name := range [][]byte{bucketInvoices, bucketSettled, bucketPayments, bucketBegun, bucketEnded, bucketTodo, bucketOffers, bucketOfferIds, bucketAgreed, bucketOwn, bucketRuns, bucketMeta} {
			if _, err := tx.CreateBucketIfNotExists(name); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	s.ldkSeen = s.ldkState()
	return s, nil
}

// Commits and wakes all waiters. Each commit is a state that an earlier backup doesn't contain, so each is
// counted.
func (s *store) update(change func(tx *bbolt.Tx) error) error {
	counted := func(tx *bbolt.Tx) error {
		if err := change(tx); err != nil {
			return err
		}
		return s.count(tx)
	}
	if err := s.db.Update(counted); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	close(s.changed)
	s.changed = make(chan struct{})
	return nil
}

// Returns a channel that the next commit closes.
func (s *store) next() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.changed
}

// The progress of a store: its run, and a count that only increases. A restored backup has a lower count, and
// a copy that ran elsewhere doesn't contain the run.
type mark struct {
	Run   string `json:"run"`
	Count uint64 `json:"count,string"`
}

func (m mark) String() string { return fmt.Sprintf("%s:%d", m.Run, m.Count) }

func (s *store) count(tx *bbolt.Tx) error {
	meta := tx.Bucket(bucketMeta)
	next := number(decodeNumber(meta.Get(keyCount)) + 1)
	if err := tx.Bucket(bucketRuns).Put([]byte(s.run), next); err != nil {
		return err
	}
	return meta.Put(keyCount, next)
}

func (s *store) tick() error { return s.update(func(*bbolt.Tx) error { return nil }) }

// Returns a hash of LDK's state, which LDK writes whenever a channel changes; empty if there is no state yet.
func (s *store) ldkState() string {
	hash := sha256.New()
	for _, name := range []string{"manager", "monitors", "monitor_updates"} {
		// A file replaced in the meantime is seen next time.
		filepath.WalkDir(filepath.Join(s.ldkFolder(), "fs_store", name), func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() {
				return nil
			}
			if info, err := entry.Info(); err == nil {
				fmt.Fprintf(hash, "%s %d %d\n", path, info.ModTime().UnixNano(), info.Size())
			}
			return nil
		})
	}
	return hex.EncodeToString(hash.Sum(nil))
}

// Counts LDK's writes since the last call.
func (s *store) observe() error {
	s.seeing.Lock()
	defer s.seeing.Unlock()
	state := s.ldkState()
	if state == s.ldkSeen {
		return nil
	}
	if err := s.tick(); err != nil {
		return err
	}
	s.ldkSeen = state
	return nil
}

func (s *store) mark() (here mark, err error) {
	err = s.db.View(func(tx *bbolt.Tx) error {
		here = mark{Run: s.run, Count: decodeNumber(tx.Bucket(bucketMeta).Get(keyCount))}
		return nil
	})
	return here, err
}

// Returns whether this store has progressed at least as far as it was seen to, in the same run. Counts of
// later runs of an old store don't restore what it lacks.
func (s *store) has(seen mark) (is bool, err error) {
	err = s.db.View(func(tx *bbolt.Tx) error {
		run := tx.Bucket(bucketRuns).Get([]byte(seen.Run))
		is = run != nil && decodeNumber(run) >= seen.Count
		return nil
	})
	return is, err
}

// Larger than the number of entries that an old store can lack in any list. Readers' cursors then precede each
// new entry.
const lostEntries = 1 << 32

// Accepts an old store. It lacks payments, and those that had not settled may have been sent again since.
func (s *store) accept() error {
	return s.update(func(tx *bbolt.Tx) error {
		for _, list := range [][]byte{bucketSettled, bucketBegun, bucketEnded, bucketOwn} {
			if err := tx.Bucket(list).SetSequence(tx.Bucket(list).Sequence() + lostEntries); err != nil {
				return err
			}
		}
		var open []*payment
		err := tx.Bucket(bucketPayments).ForEach(func(key, _ []byte) error {
			one, err := read[payment](tx, bucketPayments, string(key))
			if err == nil && one.State != succeeded {
				open = append(open, one)
			}
			return err
		})
		if err != nil {
			return err
		}
		for _, one := range open {
			if err := markUnsent(tx, one); err != nil {
				return err
			}
		}
		return tx.Bucket(bucketMeta).Put(keyAccepted, number(uint64(time.Now().UnixMilli())))
	})
}

// Returns the time before which the store may lack payments; 0 if it lacks none.
func (s *store) lostBefore() (millis uint64) {
	s.db.View(func(tx *bbolt.Tx) error {
		millis = decodeNumber(tx.Bucket(bucketMeta).Get(keyAccepted))
		return nil
	})
	return millis
}

func (s *store) graphSize() (size uint64) {
	s.db.View(func(tx *bbolt.Tx) error {
		size = decodeNumber(tx.Bucket(bucketMeta).Get(keyGraph))
		return nil
	})
	return size
}

func (s *store) keepGraphSize(size uint64) error {
	if size == 0 || size == s.graphSize() {
		return nil
	}
	return s.update(func(tx *bbolt.Tx) error { return tx.Bucket(bucketMeta).Put(keyGraph, number(size)) })
}

func number(n uint64) []byte { return binary.BigEndian.AppendUint64(nil, n) }

func decodeNumber(bytes []byte) uint64 {
	if len(bytes) != 8 {
		return 0
	}
	return binary.BigEndian.Uint64(bytes)
}

// Appends a payment hash to a list and returns its number.
func push(tx *bbolt.Tx, bucket []byte, hash string) (uint64, error) {
	list := tx.Bucket(bucket)
	n, err := list.NextSequence()
	if err != nil {
		return 0, err
	}
	return n, list.Put(number(n), []byte(hash))
}

// Visits at most `limit` entries of a list after a number.
func listed(tx *bbolt.Tx, bucket []byte, after uint64, limit int, visit func(n uint64, hash string) error) error {
	cursor := tx.Bucket(bucket).Cursor()
	for key, hash := cursor.Seek(number(after + 1)); key != nil && limit > 0; key, hash = cursor.Next() {
		if err := visit(decodeNumber(key), string(hash)); err != nil {
			return err
		}
		limit--
	}
	return nil
}

func lastNumber(tx *bbolt.Tx, bucket []byte) uint64 {
	key, _ := tx.Bucket(bucket).Cursor().Last()
	return decodeNumber(key)
}

func read[T any](tx *bbolt.Tx, bucket []byte, hash string) (*T, error) {
	bytes := tx.Bucket(bucket).Get([]byte(hash))
	if bytes == nil {
		return nil, nil
	}
	var found T
	if err := json.Unmarshal(bytes, &found); err != nil {
		return nil, err
	}
	return &found, nil
}

func write(tx *bbolt.Tx, bucket []byte, hash string, value any) error {
	bytes, err := json.Marshal(value)
	if err != nil {
		return err
	}
	return tx.Bucket(bucket).Put([]byte(hash), bytes)
}

// Returns the 64 bytes from which all keys of the node are derived. Created once. A store with a node's state
// but without its seed is refused.
func (s *store) seed() ([]byte, error) {
	file := filepath.Join(s.folder, "seed")
	seed, err := os.ReadFile(file)
	if err == nil {
		if len(seed) != 64 {
			return nil, fmt.Errorf("%s must be 64 bytes, and is %d", file, len(seed))
		}
		return seed, nil
	}
	if !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	if _, err := os.Stat(s.ldkFolder()); err == nil {
		return nil, fmt.Errorf("%s is missing, and %s is there: bring the seed back, the channels belong to its keys", file, s.ldkFolder())
	}
	seed = make([]byte, 64)
	if _, err := rand.Read(seed); err != nil {
		return nil, err
	}
	return seed, writeNew(file, seed)
}

func (s *store) ldkFolder() string { return filepath.Join(s.folder, "ldk") }

// Writes a new file atomically, and returns when it is on disk.
func writeNew(file string, bytes []byte) error {
	made, err := os.OpenFile(file+".new", os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer made.Close()
	if _, err := made.Write(bytes); err != nil {
		return err
	}
	if err := made.Sync(); err != nil {
		return err
	}
	if err := os.Rename(file+".new", file); err != nil {
		return err
	}
	folder, err := os.Open(filepath.Dir(file))
	if err != nil {
		return err
	}
	defer folder.Close()
	return folder.Sync()
}
