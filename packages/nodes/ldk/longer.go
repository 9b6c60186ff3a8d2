package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/hex"
	"errors"
	"strings"

	"github.com/decred/dcrd/dcrec/secp256k1/v4"
	"github.com/decred/dcrd/dcrec/secp256k1/v4/ecdsa"
)

// LDK requests the smallest number of blocks that it can claim in, so a held payment would be returned soon
// after it arrives. ldk-node has no setting for that. So a hold invoice is LDK's invoice with another value
// in field `c` (BOLT 11), signed again with the node's key. The payer's HTLC then lasts longer, which LDK
// accepts.

// Lifetime in blocks of the last HTLC of a held payment, including LDK's margin of 39.
const holdBlocks = 144 + 39

const charset = "qpzry9x8gf2tvdw0s3jn54khce6mua7l"

const (
	timestampGroups = 7
	signatureGroups = 104
	checksumGroups  = 6
	fieldExpiry     = 24 // `c`
)

// Returns the key with which the node signs invoices, derived from the seed as ldk-node and LDK do.
func nodeKey(seed []byte) *secp256k1.PrivateKey {
	master := func(seed []byte) []byte { return mac([]byte("Bitcoin seed"), seed) }
	second := master(master(seed)[:32])
	key, chain := second[:32], second[32:]
	child := mac(chain, append(append([]byte{0}, key...), 0x80, 0, 0, 0))
	var sum, parent secp256k1.ModNScalar
	sum.SetByteSlice(child[:32])
	parent.SetByteSlice(key)
	sum.Add(&parent)
	return secp256k1.NewPrivateKey(&sum)
}

func mac(key, message []byte) []byte {
	hash := hmac.New(sha512.New, key)
	hash.Write(message)
	return hash.Sum(nil)
}

func publicKey(key *secp256k1.PrivateKey) string {
	return hex.EncodeToString(key.PubKey().SerializeCompressed())
}

// Returns the same invoice with a last HTLC that lasts this number of blocks.
func lasting(request string, blocks uint32, key *secp256k1.PrivateKey) (string, error) {
	split := strings.LastIndexByte(request, '1')
	if split < 1 {
		return "", errors.New("no bech32")
	}
	prefix, groups := request[:split], make([]byte, 0, len(request))
	for _, letter := range request[split+1:] {
		value := strings.IndexRune(charset, letter)
		if value < 0 {
			return "", errors.New("no bech32")
		}
		groups = append(groups, byte(value))
	}
	end := len(groups) - checksumGroups - signatureGroups
	if end < timestampGroups {
		return "", errors.New("no invoice")
	}
	made := append([]byte{}, groups[:timestampGroups]...)
	for at := timestampGroups; at < end; {
		if at+3 > end {
			return "", errors.New("a field breaks off")
		}
		next := at + 3 + int(groups[at+1])<<5 + int(groups[at+2])
		if next > end {
			return "", errors.New("a field breaks off")
		}
		if groups[at] != fieldExpiry {
			made = append(made, groups[at:next]...)
		}
		at = next
	}
	// Two groups encode a number from 32 to 1023 without a leading zero. LDK re-encodes fields when it signs and
	// checks them.
	if blocks < 32 || blocks > 1023 {
		return "", errors.New("32 to 1023 blocks")
	}
	made = append(made, fieldExpiry, 0, 2, byte(blocks>>5), byte(blocks&31))
	hash := sha256.Sum256(append([]byte(prefix), bytesOf(made)...))
	compact := ecdsa.SignCompact(key, hash[:], true)
	made = append(made, groupsOf(append(compact[1:], compact[0]-27-4))...)
	made = append(made, checksum(prefix, made)...)
	text := strings.Builder{}
	text.WriteString(prefix + "1")
	for _, group := range made {
		text.WriteByte(charset[group])
	}
	return text.String(), nil
}

// Converts groups of 5 bits to bytes, padded with zeros.
func bytesOf(groups []byte) (bytes []byte) {
	var bits, count uint
	for _, group := range groups {
		bits, count = bits<<5|uint(group), count+5
		if count >= 8 {
			count -= 8
			bytes = append(bytes, byte(bits>>count))
			bits &= 1<<count - 1
		}
	}
	if count > 0 {
		bytes = append(bytes, byte(bits<<(8-count)))
	}
	return bytes
}

// Converts bytes to groups of 5 bits. 65 bytes are exactly 104 groups.
func groupsOf(bytes []byte) (groups []byte) {
	var bits, count uint
	for _, one := range bytes {
		bits, count = bits<<8|uint(one), count+8
		for count >= 5 {
			count -= 5
			groups = append(groups, byte(bits>>count))
			bits &= 1<<count - 1
		}
	}
	return groups
}

// BIP 173.
func checksum(prefix string, groups []byte) []byte {
	sum := uint32(1)
	add := func(value byte) {
		top := sum >> 25
		sum = sum&0x1ffffff<<5 ^ uint32(value)
		for i, generator := range []uint32{0x3b6a57b2, 0x26508e6d, 0x1ea119fa, 0x3d4233dd, 0x2a1462b3} {
			if top>>i&1 == 1 {
				sum ^= generator
			}
		}
	}
	for i := range prefix {
		add(prefix[i] >> 5)
	}
	add(0)
	for i := range prefix {
		add(prefix[i] & 31)
	}
	for _, group := range append(append([]byte{}, groups...), 0, 0, 0, 0, 0, 0) {
		add(group)
	}
	sum ^= 1
	sums := make([]byte, checksumGroups)
	for i := range sums {
		sums[i] = byte(sum >> (5 * (5 - i)) & 31)
	}
	return sums
}
