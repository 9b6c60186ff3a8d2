package main

import (
	"encoding/hex"
	"testing"

	"github.com/decred/dcrd/dcrec/secp256k1/v4"
	ldk "github.com/getAlby/ldk-node-go/ldk_node"
)

// The key and an invoice from BOLT 11's examples: 2500 µBTC, one minute, a cup of coffee.
const (
	exampleKey   = "e126f68f7eafcc8b74f54d269fe206be715000f94dac067d1c04a8ca3b2db734"
	examplePayee = "03e7156ae33b0a208d0744199163177e909e80176e55d97a2f221ede0f934dd9ad"
	example      = "lnbc2500u1pvjluezsp5zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zygspp5qqqsyqcyq5rqwzqfqqqsyqcyq5rqwzqfqqqsyqcyq5rqwzqfqypqdq5xysxxatsyp3k7enxv4jsxqzpu9qrsgquk0rl77nj30yxdy8j9vdx85fkpmdla2087ne0xh8nhedh8w27kyke0lp53ut353s06fv3qfegext0eh0ymjpf39tuven09sam30g4vgpfna3rh"
)

func TestExtendingAnInvoiceChangesOnlyItsExpiry(t *testing.T) {
	key, err := hex.DecodeString(exampleKey)
	if err != nil {
		t.Fatal(err)
	}
	made, err := lasting(example, holdBlocks, secp256k1.PrivKeyFromBytes(key))
	if err != nil {
		t.Fatal(err)
	}
	before, err := ldk.Bolt11InvoiceFromStr(example)
	if err != nil {
		t.Fatal(err)
	}
	after, err := ldk.Bolt11InvoiceFromStr(made)
	if err != nil {
		t.Fatal(err)
	}
	if after.MinFinalCltvExpiryDelta() != holdBlocks {
		t.Errorf("it lasts %d blocks", after.MinFinalCltvExpiryDelta())
	}
	if after.RecoverPayeePubKey() != examplePayee {
		t.Errorf("its payee is %s", after.RecoverPayeePubKey())
	}
	if after.PaymentHash() != before.PaymentHash() || after.PaymentSecret() != before.PaymentSecret() || *after.AmountMilliSatoshis() != *before.AmountMilliSatoshis() {
		t.Error("it is another invoice")
	}
	if after.SecondsSinceEpoch() != before.SecondsSinceEpoch() || after.ExpiryTimeSeconds() != 60 {
		t.Error("its time is another")
	}
	again, err := lasting(made, 42, secp256k1.PrivKeyFromBytes(key))
	if err != nil || len(again) != len(made) {
		t.Errorf("the field is there twice: %d characters, %d before, %v", len(again), len(made), err)
	}
}

func TestAnInvalidInvoiceIsAnError(t *testing.T) {
	for _, text := range []string{"", "1", "lnbc", "lnbc1qqq", example[:len(example)/3]} {
		if _, err := lasting(text, holdBlocks, nodeKey(make([]byte, 64))); err == nil {
			t.Errorf("%q was taken", text)
		}
	}
}
