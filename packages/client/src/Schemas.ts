import type { Metadata } from "./Plain.ts"

/**
 * A schema that implements Standard Schema v1 (standardschema.dev). Zod, Valibot, ArkType and Effect create
 * such schemas.
 */
export interface StandardSchema<Input = unknown, Output = Input> {
  readonly "~standard": {
    readonly version: 1
    readonly vendor: string
    readonly validate: (value: unknown) => Validated<Output> | Promise<Validated<Output>>
    readonly types?: { readonly input: Input; readonly output: Output } | undefined
  }
}

type Validated<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | {
      readonly issues: ReadonlyArray<{
        readonly message: string
        readonly path?: ReadonlyArray<PropertyKey | { readonly key: PropertyKey }> | undefined
      }>
    }

/** The resources whose records are created with metadata. */
export const metadataNouns = [
  "checkouts",
  "invoices",
  "lightningAddresses",
  "offers",
  "onChainAddresses",
  "refunds",
  "vouchers",
  "withdrawals"
] as const
export type MetadataNoun = (typeof metadataNouns)[number]

type Texts = Readonly<Record<string, string | undefined>>

/** A schema for the metadata of each resource. The output of each schema must be an object of strings. */
export type Schemas = { readonly [N in MetadataNoun]?: StandardSchema<unknown, Texts> | undefined }

/** The option `metadata`, from which the type of the metadata is inferred. */
export interface WithSchemas<M> {
  /**
   * A Standard Schema for the metadata of each resource. The client validates the metadata in its requests and
   * sends the schema's output.
   *
   * @example
   * metadata: { invoices: z.object({ order: z.string() }) }
   */
  readonly metadata?: (M & Schemas & { readonly [N in Exclude<keyof M, MetadataNoun>]: never }) | undefined
}

type Types<S> = S extends { readonly "~standard": { readonly types?: infer T } } ? NonNullable<T> : never
type Output<S> = Types<S> extends { readonly output: infer O } ? O : never
type Input<S> = Types<S> extends { readonly input: infer I } ? I : never

type Sent = "refunds" | "vouchers" | "withdrawals"
type Received = Exclude<MetadataNoun, Sent>

/**
 * The resources from which a record can inherit its metadata. A key is a resource whose records inherit
 * metadata, or the first part of an event type.
 */
interface Origins {
  readonly deposit: Received
  readonly withdrawal: Sent
  readonly transactions: Received | Sent
  readonly invoice: "invoices"
  readonly checkout: "checkouts"
  readonly lightning_address: "lightningAddresses"
  readonly on_chain_address: "onChainAddresses"
  readonly offer: "offers"
  readonly refund: "refunds"
  readonly voucher: "vouchers"
}

/**
 * The type of the metadata in a resource's responses. `M` is the metadata type of all resources, or an object
 * with a schema for each resource.
 */
export type Read<M, N> = M extends Metadata
  ? M
  : N extends keyof Origins
    ? Read<M, Origins[N]>
    : N extends keyof M
      ? Output<M[N]>
      : Metadata

/** The type of the metadata in a resource's requests. */
export type Written<M, N> = M extends Metadata ? M : N extends keyof M ? Input<M[N]> : Metadata
