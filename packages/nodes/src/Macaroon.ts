import { Result } from "effect"

/**
 * A permission granted by lnd: all calls of a kind (`invoices`, `write`), or one call by name (`uri`,
 * `/lnrpc.Lightning/AddInvoice`).
 */
export interface Permission {
  readonly entity: string
  readonly action: string
}

/** An lnd call, and the permission that covers it if the macaroon doesn't name the call. */
export interface Call extends Permission {
  readonly uri: string
}

/** Reads bytes from the front. A read beyond the end means the macaroon is invalid. */
const reader = (bytes: Uint8Array) => {
  let at = 0
  const take = (length: number): Uint8Array => {
    if (length > bytes.length - at) throw new RangeError("it is truncated")
    at += length
    return bytes.subarray(at - length, at)
  }
  /** Reads a number in groups of seven bits, least significant first. */
  const number = (): number => {
    for (let value = 0, shift = 1; ; shift *= 128) {
      const [byte = 0] = take(1)
      value += (byte & 0x7f) * shift
      if (byte < 0x80) return value
      if (shift > 2 ** 40) throw new RangeError("a number is too large")
    }
  }
  return { take, number, isOver: () => at === bytes.length }
}

/**
 * Returns the fields of a protobuf message. All fields that we read are length-delimited bytes (wire type 2).
 */
const fieldsOf = (bytes: Uint8Array): ReadonlyArray<readonly [field: number, value: Uint8Array]> => {
  const { take, number, isOver } = reader(bytes)
  const fields: Array<readonly [number, Uint8Array]> = []
  while (!isOver()) {
    const tag = number()
    if (tag % 8 !== 2) throw new RangeError("a field that lnd does not write")
    fields.push([Math.floor(tag / 8), take(number())])
  }
  return fields
}

const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes)

/**
 * Field numbers: an identifier has nonce 1, storage id 2, operations 3; an operation has entity 1, actions 2.
 */
const permissionsIn = (identifier: Uint8Array): ReadonlyArray<Permission> =>
  fieldsOf(identifier)
    .filter(([field]) => field === 3)
    .flatMap(([, operation]) => {
      const fields = fieldsOf(operation)
      const entity = text(fields.find(([field]) => field === 1)?.[1] ?? new Uint8Array())
      return fields.filter(([field]) => field === 2).map(([, action]) => ({ entity, action: text(action) }))
    })

/** The version of a binary macaroon (libmacaroons, "v2"), the packet with its identifier, and the version of lnd's identifiers. */
const macaroonVersion = 2
const identifierPacket = 2
const identifierVersion = 3

/**
 * Returns the permissions that a macaroon lists, regardless of its issuer: only lnd can verify that. Fails with
 * the reason if the text is not an lnd macaroon.
 */
export const permissions = (hex: string): Result.Result<ReadonlyArray<Permission>, string> => {
  if (!/^([0-9a-f]{2})+$/i.test(hex)) return Result.fail("it is not in hex")
  try {
    const { take, number } = reader(Buffer.from(hex, "hex"))
    if (number() !== macaroonVersion) return Result.fail("it is not an lnd macaroon")
    for (;;) {
      const packet = number()
      if (packet === 0) return Result.fail("it lists no permission")
      const value = take(number())
      if (packet !== identifierPacket) continue
      if (value[0] !== identifierVersion) return Result.fail("it is not an lnd macaroon")
      return Result.succeed(permissionsIn(value.subarray(1)))
    }
  } catch {
    return Result.fail("it is not an lnd macaroon")
  }
}

/** Returns the needed calls that the granted permissions don't allow. */
export const missing = (
  granted: ReadonlyArray<Permission>,
  needed: ReadonlyArray<Call>
): ReadonlyArray<Call> =>
  needed.filter(
    ({ uri, entity, action }) =>
      !granted.some((one) =>
        one.entity === "uri" ? one.action === uri : one.entity === entity && one.action === action
      )
  )

/**
 * Returns the names of granted permissions that these calls don't need. A permission for all calls of a kind is
 * always excessive.
 */
export const excessive = (
  granted: ReadonlyArray<Permission>,
  needed: ReadonlyArray<Call>
): ReadonlyArray<string> =>
  granted
    .filter((one) => one.entity !== "uri" || !needed.some(({ uri }) => uri === one.action))
    .map(({ entity, action }) => `${entity}:${action}`)
