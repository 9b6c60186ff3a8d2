module satrail/ldk

go 1.24

require (
	github.com/decred/dcrd/dcrec/secp256k1/v4 v4.4.0
	github.com/getAlby/ldk-node-go v0.0.0-20251204045546-a327ac13549f
	go.etcd.io/bbolt v1.4.3
)

require golang.org/x/sys v0.29.0 // indirect
