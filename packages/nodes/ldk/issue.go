package main

import (
	"strconv"

	ldk "github.com/getAlby/ldk-node-go/ldk_node"
	"go.etcd.io/bbolt"
)

// Offers of our own. LDK answers requests for invoices of them by itself, knows their preimages, and takes what is paid; it keeps nothing of an offer, whose keys come from the
// node's seed. Here it is kept so that who asks again has the same one.

type offer struct {
	Offer string `json:"offer"`
	LdkID string `json:"ldkId"` // what LDK names it by where one is paid
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
			return nil, refuse(codeBadRequest, "amount must be millisatoshis, as a text of digits")
		}
		made, err = n.Bolt12Payment().Receive(amount, ask.Description, nil, nil)
	}
	if err != nil {
		// It needs a way that leads here: an announced channel, or a peer that passes messages on.
		return nil, refuse(codeUnavailable, "no offer: %v", err)
	}
	return made, nil
}

// satrail's id of an offer; empty where it is none of satrail's.
func (n *node) offerOf(ldkID ldk.OfferId) (id string, err error) {
	err = n.store.db.View(func(tx *bbolt.Tx) error {
		id = string(tx.Bucket(bucketOfferIds).Get([]byte(ldkID)))
		return nil
	})
	return id, err
}
