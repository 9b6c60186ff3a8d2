import type * as Keys from "./Keys.ts"
import * as Seed from "./Seed.ts"

const characters =
  "0123456789()[],'/*abcdefgh@:$%{}IJKLMNOPQRSTUVWXYZ&+-.;<=>?!^_|~ijklmnopqrstuvwxyzABCDEFGH`#\"\\ "
const checksumCharacters = "qpzry9x8gf2tvdw0s3jn54khce6mua7l"
const generator = [0xf5dee51989n, 0xa9fdca3312n, 0x1bab10e32dn, 0x3706b1677an, 0x644d626ffdn]
const checksumLength = 8

/**
 * Returns the symbols that the checksum covers: the low five bits of each character, and after every three
 * characters their combined high bits.
 */
const symbolsOf = (text: string): ReadonlyArray<bigint> => {
  const values = Array.from(text, (character) => {
    const value = characters.indexOf(character)
    if (value < 0) throw new Error(`A descriptor has no ${JSON.stringify(character)}`)
    return value
  })
  const symbols: Array<bigint> = []
  for (let at = 0; at < values.length; at += 3) {
    const group = values.slice(at, at + 3)
    symbols.push(
      ...group.map((value) => BigInt(value & 31)),
      BigInt(group.reduce((high, value) => high * 3 + (value >> 5), 0))
    )
  }
  return symbols
}

/** Adds the checksum (BIP 380) that Bitcoin Core requires for an import. */
export const checked = (descriptor: string): string => {
  let sum = 1n
  for (const symbol of [...symbolsOf(descriptor), ...Array.from({ length: checksumLength }, () => 0n)]) {
    const top = sum >> 35n
    sum = ((sum & 0x7ffffffffn) << 5n) ^ symbol
    for (const [at, by] of generator.entries()) if (((top >> BigInt(at)) & 1n) === 1n) sum ^= by
  }
  sum ^= 1n
  const letters = Array.from(
    { length: checksumLength },
    (_, at) => checksumCharacters[Number((sum >> BigInt(5 * (checksumLength - 1 - at))) & 31n)]
  )
  return `${descriptor}#${letters.join("")}`
}

/**
 * Returns a wallet's accounts as descriptors for other wallets (BIP 380, 381, 382, 386, 389), each with both
 * branches.
 */
export const ofAccounts = ({ network, fingerprint, ...xpubs }: Keys.Accounts): ReadonlyArray<string> => {
  const key = (type: keyof typeof xpubs) =>
    `[${fingerprint}${Seed.written(Seed.accountPath(type, network)).slice(1).replaceAll("'", "h")}]${xpubs[type]}/<0;1>/*`
  return [`tr(${key("taproot")})`, `wpkh(${key("segwit")})`, `sh(wpkh(${key("nested_segwit")}))`].map(checked)
}
