package main

import (
	"strconv"

	ldk "github.com/getAlby/ldk-node-go/ldk_node"
	"go.etcd.io/bbolt"
)

// Our offers. LDK responds to invoice requests for them by itself, has their preimages, and accepts payments.
// It stores nothing about an offer, whose keys are derived from the node's seed. They are stored here so that
// a repeated request returns the same offer.

type offer struct {
	Offer string `json:"offer"`
	LdkID string `json:"ldkId"` // LDK's id of the offer in payments
}

type makeOffer struct {
	ID          string  `json:"id"`
	Description string  `json:"description"`
	Amount      *string `json:"amount"`
}

func (n *node) createOffer(ask makeOffer) (any, error) {
	if err := n.runs(); err != nil {
		return nil, err
	}
	if !isAttempt(ask.ID) {
		return nil, refuse(codeBadRequest, "id must be a UUID in lower case")
	}
	n.deciding.Lock()
	defer n.deciding.Unlock()
	var known *offer
	err := n.store.db.View(func(tx *bbolt.Tx) (err error) {
		known, err = read[offer](tx, bucketOffers, ask.ID)
		return err
	})
	if err != nil || known != nil {
		return known, err
	}
	made, err := n.offered(ask)
	if err != nil {
		return nil, err
	}
	defer made.Destroy()
	one := offer{Offer: made.String(), LdkID: made.Id()}
	err = n.store.update(func(tx *bbolt.Tx) error {
		if err := tx.Bucket(bucketOfferIds).Put([]byte(one.LdkID), []byte(ask.ID)); err != nil {
			return err
		}
		return write(tx, bucketOffers, ask.ID, one)
	})
	return one, err
}

func (n *node) offered(ask makeOffer) (*ldk.Offer, error) {
	var made *ldk.Offer
	var err error
	if ask.Amount == nil {
		made, err = n.Bolt12Payment().ReceiveVariableAmount(ask.Description, nil)
	} else {
		amount, wrong := strconv.ParseUint(*ask.Amount, 10, 64)
		if wrong != nil {
			return nil, refuse(codeBadRequest, "amount must be millisatoshis, as a string of digits")
		}
		made, err = n.Bolt12Payment().Receive(amount, ask.Description, nil, nil)
	}
	if err != nil {
		// An offer requires a path to this node: an announced channel, or a peer that forwards messages.
		return nil, refuse(codeRefused, "no offer: %v", err)
	}
	return made, nil
}

// Returns satrail's id of an offer; empty if satrail did not issue it.
func (n *node) offerOf(ldkID ldk.OfferId) (id string, err error) {
	err = n.store.db.View(func(tx *bbolt.Tx) error {
		id = string(tx.Bucket(bucketOfferIds).Get([]byte(ldkID)))
		return nil
	})
	return id, err
}
