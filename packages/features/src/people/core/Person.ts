import { base58 } from "@scure/base"
import { Redacted, Schema } from "effect"
import * as CompanyId from "@satrail/core/base/CompanyId"
import * as SecretHash from "@satrail/core/base/SecretHash"
import type * as Change from "@satrail/core/ledger/Change"
import * as Noun from "@satrail/core/ledger/Noun"
import { type Written, written } from "@satrail/core/ledger/Written"
import { Role } from "./Role.ts"

/** A passkey (WebAuthn credential) with which a person proves their identity. */
export const Passkey = Schema.Struct({
  /** The credential id, base64url. */
  id: Schema.String,
  /** The person's name for the device, such as `laptop`. */
  name: Schema.String,
  /** COSE key, base64url. */
  publicKey: Schema.String,
  createdAtMillis: Schema.Int
})
export interface Passkey extends Schema.Schema.Type<typeof Passkey> {}

/** The last use of a passkey. */
export const Use = Schema.Struct({
  id: Schema.String,
  /** Signature counter of the device; 0 if it has none. */
  counter: Schema.Int,
  /** Time at which the signed challenge was issued. The next use must sign a newer challenge. */
  challengedAtMillis: Schema.Int
})
export interface Use extends Schema.Schema.Type<typeof Use> {}

/** An operator's invitation that a second operator must approve. */
export const Waiting = Schema.Struct({ requestedById: Schema.String, requestedBy: Schema.String })
export interface Waiting extends Schema.Schema.Type<typeof Waiting> {}

/** A person who signs in to the console with a passkey, for a company or for the operator. */
export const Person = Schema.Struct({
  id: Noun.Id,
  companyId: CompanyId.CompanyId,
  name: Schema.String,
  role: Role,
  /** `invited` until the link is used, and again after a recovery. `removed` is final. */
  status: Schema.Literals(["invited", "active", "removed"]),
  /**
   * Ids of the people and API keys that invited or recovered this person or first let them send, separated by
   * spaces. None is ever removed. Null if only the operator did. Older rows have only one id.
   */
  vouchedBy: Schema.NullOr(Schema.String),
  passkeys: Schema.Array(Passkey),
  /** The last use of each passkey. */
  uses: Schema.Array(Use),
  /** Hash of the open invitation; null if there is none. */
  secretHash: Schema.NullOr(SecretHash.SecretHash),
  invitedUntilMillis: Schema.NullOr(Schema.Int),
  waiting: Schema.NullOr(Waiting),
  /** Increased whenever passkeys are revoked. Sessions of an earlier epoch have ended. Above 0, the person had access. */
  epoch: Schema.Int,
  /** A random value that is replaced by each change. Each Change names the revision that it expects. */
  revision: Noun.Id,
  createdAtMillis: Schema.Int,
  updatedAtMillis: Schema.Int
})
export interface Person extends Schema.Schema.Type<typeof Person> {}

/** Another Change to the person was committed first, so this one was not committed. */
export class PersonMoved extends Schema.TaggedError<PersonMoved>()("PersonMoved", { id: Schema.String }) {}

export const noun = Noun.make("people", Person, {
  moving: [
    "role",
    "status",
    "vouchedBy",
    "passkeys",
    "uses",
    "secretHash",
    "invitedUntilMillis",
    "waiting",
    "epoch",
    "revision",
    "updatedAtMillis"
  ],
  recorded: [
    "companyId",
    "name",
    "role",
    "status",
    "vouchedBy",
    "passkeys",
    "secretHash",
    "invitedUntilMillis",
    "waiting",
    "epoch"
  ],
  unique: [["id"]],
  refused: (id) => new PersonMoved({ id })
})

// Every transition expects the revision that was read, so concurrent requests cannot use a challenge or an
// invitation twice.
const expects = ["revision"] as const
const stamps = ["updatedAtMillis"] as const
const again = { same: ["revision"] } as const

export const life = {
  approved: Noun.move(noun, "approved", {
    from: ["invited"],
    expects,
    sets: ["revision"],
    clears: ["waiting"],
    stamps,
    again
  }),
  joined: Noun.move(noun, "joined", {
    from: ["invited"],
    expects,
    to: "active",
    sets: ["passkeys", "uses", "revision"],
    clears: ["secretHash", "invitedUntilMillis"],
    stamps,
    again
  }),
  used: Noun.move(noun, "used", { from: ["active"], expects, sets: ["uses", "revision"], stamps, again }),
  rekeyed: Noun.move(noun, "rekeyed", {
    from: ["active"],
    expects,
    sets: ["passkeys", "uses", "epoch", "revision"],
    stamps,
    again
  }),
  promoted: Noun.move(noun, "promoted", {
    from: ["invited", "active"],
    expects,
    sets: ["role", "vouchedBy", "revision"],
    clears: ["secretHash", "invitedUntilMillis", "waiting"],
    stamps,
    again
  }),
  recovered: Noun.move(noun, "recovered", {
    from: ["invited", "active"],
    expects,
    to: "invited",
    sets: [
      "passkeys",
      "uses",
      "secretHash",
      "invitedUntilMillis",
      "waiting",
      "vouchedBy",
      "epoch",
      "revision"
    ],
    stamps,
    again
  }),
  removed: Noun.move(noun, "removed", {
    from: ["invited", "active"],
    expects,
    to: "removed",
    sets: ["passkeys", "uses", "epoch", "revision"],
    clears: ["secretHash", "invitedUntilMillis", "waiting"],
    stamps,
    again
  })
}

type MovedBy<M extends keyof typeof life> = readonly [Noun.TransitionOf<(typeof life)[M], Person>]

export interface PersonInvited extends Written<
  "PersonInvited",
  readonly [Noun.InsertOf<typeof noun>],
  "once",
  never
> {}
export interface PersonApproved extends Written<"PersonApproved", MovedBy<"approved">, never, never> {}
export interface PersonJoined extends Written<"PersonJoined", MovedBy<"joined">, never, never> {}
export interface PasskeyUsed extends Written<"PasskeyUsed", MovedBy<"used">, never, never> {}
export interface PasskeysChanged extends Written<"PasskeysChanged", MovedBy<"rekeyed">, never, never> {}
export interface PersonPromoted extends Written<"PersonPromoted", MovedBy<"promoted">, never, never> {}
export interface PersonRecovered extends Written<"PersonRecovered", MovedBy<"recovered">, never, never> {}
export interface PersonRemoved extends Written<"PersonRemoved", MovedBy<"removed">, never, never> {}

export type Changes =
  | PersonInvited
  | PersonApproved
  | PersonJoined
  | PasskeyUsed
  | PasskeysChanged
  | PersonPromoted
  | PersonRecovered
  | PersonRemoved

/** Time for which an invitation can be used. */
export const invitationMillis = 3 * 24 * 3_600_000

/** Maximum number of people in a company, and of open invitations among them. */
export const maxPeople = 100
export const maxInvited = 20
/** Maximum number of passkeys per person. */
export const maxPasskeys = 5

const prefix = "inv_"

/** Generates the text of an invitation. Anyone who has the text can add one passkey for this person. */
export const generate = (id: string, entropy: (size: number) => Uint8Array) => {
  const text = `${prefix}${id}_${base58.encode(entropy(32))}`
  return { secretHash: SecretHash.of(text), text: Redacted.make(text, { label: "invitation" }) }
}

/** Parses the person's id from an invitation. Returns undefined if the text is malformed. */
export const invitedId = (text: string): string | undefined =>
  /^inv_([0-9a-f-]{36})_[1-9A-HJ-NP-Za-km-z]{32,44}$/.exec(text)?.[1]

/** Returns the ids of everyone who vouched for this person. */
export const sponsorsOf = ({ vouchedBy }: Pick<Person, "vouchedBy">): ReadonlyArray<string> =>
  vouchedBy?.split(" ") ?? []

/** Adds an id to those who vouched for this person; null adds none. */
export const vouched = (person: Pick<Person, "vouchedBy">, by: string | null): string | null =>
  by === null ? person.vouchedBy : [...new Set([...sponsorsOf(person), by])].join(" ")

/** Why an invitation cannot be used. */
export type Closed = "unknown" | "waiting" | "expired"

/** Returns why the owner of this invitation cannot use it; undefined if they can. Used and replaced ones are unknown. */
export const closedBecause = (
  { secretHash, invitedUntilMillis, status, waiting }: Person,
  isSecret: boolean,
  nowMillis: number
): Closed | undefined => {
  if (status !== "invited" || secretHash === null || !isSecret) return "unknown"
  if (nowMillis >= (invitedUntilMillis ?? 0)) return "expired"
  return waiting === null ? undefined : "waiting"
}

/** The time of a change, and the person's new revision. */
export interface At extends Pick<Person, "revision"> {
  readonly atMillis: number
}

export const invited = (person: Person, once?: Change.Once): PersonInvited =>
  written("PersonInvited", person.createdAtMillis, [Noun.insert(noun, person)], once && { once })

/** Records that a second operator approved the invitation. */
export const approved = (person: Person, at: At): PersonApproved =>
  written("PersonApproved", at.atMillis, [Noun.step(life.approved, person, { revision: at.revision })])

/** Adds the person's first passkey, which uses up their invitation. */
export const joined = (person: Person, passkey: Passkey, use: Use, at: At): PersonJoined =>
  written("PersonJoined", at.atMillis, [
    Noun.step(life.joined, person, { passkeys: [passkey], uses: [use], revision: at.revision })
  ])

/** Records that the person proved their identity. */
export const used = (person: Person, use: Use, at: At): PasskeyUsed =>
  written("PasskeyUsed", at.atMillis, [
    Noun.step(life.used, person, {
      uses: [...person.uses.filter(({ id }) => id !== use.id), use],
      revision: at.revision
    })
  ])

/** Adds a passkey. */
export const keyed = (person: Person, passkey: Passkey, use: Use, at: At): PasskeysChanged =>
  written("PasskeysChanged", at.atMillis, [
    Noun.step(life.rekeyed, person, {
      passkeys: [...person.passkeys, passkey],
      uses: [...person.uses, use],
      epoch: person.epoch,
      revision: at.revision
    })
  ])

/** Revokes a passkey, and ends the person's sessions. */
export const unkeyed = (person: Person, passkeyId: string, at: At): PasskeysChanged =>
  written("PasskeysChanged", at.atMillis, [
    Noun.step(life.rekeyed, person, {
      passkeys: person.passkeys.filter(({ id }) => id !== passkeyId),
      uses: person.uses.filter(({ id }) => id !== passkeyId),
      epoch: person.epoch + 1,
      revision: at.revision
    })
  ])

/** Changes the person's role, and voids their open invitation, which was granted for the earlier role. */
export const promoted = (person: Person, to: Pick<Person, "role" | "vouchedBy">, at: At): PersonPromoted =>
  written("PersonPromoted", at.atMillis, [
    Noun.step(life.promoted, person, { role: to.role, vouchedBy: to.vouchedBy, revision: at.revision })
  ])

/** Returns the epoch once all passkeys are revoked. It does not change if the person has none. */
const withoutPasskeys = ({ epoch, passkeys }: Person): number => (passkeys.length === 0 ? epoch : epoch + 1)

/** Revokes the person's passkeys, ends their sessions and replaces their invitation. */
export const recovered = (
  person: Person,
  invitation: Pick<Person, "secretHash" | "vouchedBy" | "waiting">,
  at: At
): PersonRecovered =>
  written("PersonRecovered", at.atMillis, [
    Noun.step(life.recovered, person, {
      passkeys: [],
      uses: [],
      secretHash: invitation.secretHash,
      vouchedBy: invitation.vouchedBy,
      waiting: invitation.waiting,
      invitedUntilMillis: at.atMillis + invitationMillis,
      epoch: withoutPasskeys(person),
      revision: at.revision
    })
  ])

/** Removes the person, and revokes their passkeys, sessions and invitation. */
export const removed = (person: Person, at: At): PersonRemoved =>
  written("PersonRemoved", at.atMillis, [
    Noun.step(life.removed, person, {
      passkeys: [],
      uses: [],
      epoch: withoutPasskeys(person),
      revision: at.revision
    })
  ])
