import { assert, describe, it } from "@effect/vitest"
import { readFileSync } from "node:fs"
import path from "node:path"
import { type Note, noteOf, notesIn, problemWith, withNotes } from "../scripts/release/Changes.ts"
import { nativeManifest, natives } from "../scripts/release/Native.ts"
import { version as serverVersion } from "../packages/server/src/base/Version.ts"
import { entriesOf, manifest, manifests, published, version } from "../scripts/release/Package.ts"
import { rewritten } from "../scripts/release/Stage.ts"
import { root } from "./Blocks.ts"

const read = (file: string) => readFileSync(path.join(root, file), "utf8")

describe("a release", () => {
  it("manifest: all workspace packages have the same version", () => {
    for (const file of manifests) assert.strictEqual(JSON.parse(read(file)).version, version, file)
    assert.strictEqual(serverVersion, version)
  })

  it("manifest: a published package's manifest has every field that registries and tools require, and no workspace reference", () => {
    const all = published()
    assert.isAbove(all.length, 8)
    for (const one of all) {
      const made = manifest(one)
      for (const member of ["name", "version", "license", "homepage", "bugs", "type"] as const)
        assert.isNotEmpty(made[member], member)
      assert.isAbove(made.description?.length ?? 0, 30, made.name)
      assert.isAbove(made.keywords?.length ?? 0, 2, made.name)
      assert.match(made.engines.node, /^>=\d+\.\d+\.\d+$/)
      assert.include(made.repository.directory, made.name.split("/")[1] ?? "")
      assert.containsAllKeys(made.exports, [...entriesOf(one), "./package.json"])
      assert.notMatch(JSON.stringify(made), /catalog:|workspace:|src\//, made.name)
    }
  })

  /** Packages for browsers, and the one that creates a project. */
  const withoutEffect = ["@satrail/client", "@satrail/react", "@satrail/ui", "create-satrail"]

  it("manifest: peer dependencies are ranges, all packages use one version of effect, and the embedded database is optional", () => {
    for (const one of published()) {
      const { name, dependencies, peerDependencies } = manifest(one)
      assert.strictEqual(
        peerDependencies["effect"],
        withoutEffect.includes(name) ? undefined : "^4.1.0",
        name
      )
      assert.notProperty(dependencies, "effect", name)
      for (const [peer, range] of Object.entries(peerDependencies))
        assert.match(range, /^\^/, `${name}: ${peer}`)
      for (const [other, wanted] of Object.entries(dependencies))
        assert.match(wanted, /^(?:satrail|@satrail\/.*)$/.test(other) ? /^\d/ : /^\^/, `${name}: ${other}`)
    }
    const postgres = published().find(({ source }) => source.name === "@satrail/postgres") ?? assert.fail()
    assert.deepStrictEqual(manifest(postgres).peerDependenciesMeta, {
      "@electric-sql/pglite": { optional: true }
    })
    assert.notProperty(manifest(postgres).dependencies, "@electric-sql/pglite")
  })

  it("manifest: each LDK program is an optional dependency of @satrail/ldk with an exact version, is installed only where it runs, and is needed by no other package", () => {
    const wanted = Object.fromEntries(natives.map(({ name }) => [name, version]))
    assert.isAbove(natives.length, 1)
    for (const one of published()) {
      const { name, dependencies, optionalDependencies } = manifest(one)
      assert.deepStrictEqual(optionalDependencies, name === "@satrail/ldk" ? wanted : undefined, name)
      for (const other of Object.keys(dependencies)) assert.notMatch(other, /^@satrail\/ldk/, name)
    }
    for (const one of natives) {
      const {
        name,
        version: itsOwn,
        os,
        cpu,
        libc,
        files,
        license,
        publishConfig,
        repository
      } = nativeManifest(one)
      assert.deepStrictEqual([`@satrail/ldk-${os}-${cpu}`, itsOwn, libc], [name, version, ["glibc"]])
      assert.includeMembers(files, ["satrail-ldk", "libldk_node.so", "SHA256SUMS", "licenses"])
      assert.include(license, "Apache-2.0")
      assert.deepStrictEqual(publishConfig, { access: "public", provenance: true })
      assert.strictEqual(repository.directory, "packages/nodes/ldk")
    }
  })

  it("release: an import of another package's module is published as internal, and an import of its root or another entry stays unchanged", () => {
    const source = [
      `import * as Msat from "@satrail/bitcoin/Msat"`,
      `export { a } from "@satrail/core/ledger/Journal"`,
      `const later = () => import("@satrail/core/far/Later")`,
      `import { Invoices } from "@satrail/service"`,
      `import { Invoice } from "@satrail/service/records"`,
      `import { vouchers } from "@satrail/features/vouchers/core"`,
      `import * as Voucher from "@satrail/features/vouchers/core/Voucher"`,
      `declare module "@satrail/core/ledger/Registry" {`,
      `import "./Near.ts"`,
      `//# sourceMappingURL=x.js.map\n`
    ].join("\n")
    assert.deepStrictEqual(rewritten(source).split("\n"), [
      `import * as Msat from "@satrail/bitcoin/internal/Msat"`,
      `export { a } from "@satrail/core/internal/ledger/Journal"`,
      `const later = () => import("@satrail/core/internal/far/Later")`,
      `import { Invoices } from "@satrail/service"`,
      `import { Invoice } from "@satrail/service/records"`,
      `import { vouchers } from "@satrail/features/vouchers/core"`,
      `import * as Voucher from "@satrail/features/internal/vouchers/core/Voucher"`,
      `declare module "@satrail/core/internal/ledger/Registry" {`,
      `import "./Near.js"`,
      ""
    ])
  })
})

describe("the changelog", () => {
  const note = (kind: Note["kind"], text: string): Note => ({ file: `changes/${text}.md`, kind, text })

  it("changelog: pending notes can be read", () => {
    for (const { kind, text } of notesIn(path.join(root, "changes"))) assert.isAbove(text.length, 20, kind)
  })

  it("changelog: a note has a kind and a text, which is joined into one line, and the error for any other note names its file", () => {
    assert.deepStrictEqual(noteOf("changes/a.md", "fix: An invoice\n  is credited once.\n"), {
      file: "changes/a.md",
      kind: "fix",
      text: "An invoice is credited once."
    })
    for (const wrong of ["", "An invoice", "fixed: An invoice", "fix:", "fix: \n"]) {
      assert.throws(
        () => noteOf("changes/a.md", wrong),
        "changes/a.md must begin with one of breaking, feature, fix"
      )
    }
  })

  it("changelog: a new version lists breaking changes first, and an existing version is extended", () => {
    const before = "# Changelog\n\nIntroduction.\n\n## 0.1.0\n\n- The first.\n"
    const notes = [note("fix", "C"), note("feature", "B"), note("breaking", "A")]
    const after = withNotes(before, "0.2.0", notes)
    assert.strictEqual(
      after,
      "# Changelog\n\nIntroduction.\n\n## 0.2.0\n\n- **Breaking:** A\n- B\n- C\n\n## 0.1.0\n\n- The first.\n"
    )
    assert.strictEqual(withNotes(before, "0.1.0", [note("fix", "C")]), `${before}- C\n`)
    assert.strictEqual(withNotes(after, "0.2.0", [note("fix", "D")]), after.replace("- C\n", "- C\n- D\n"))
    assert.strictEqual(withNotes(before, "0.2.0", []), before)
  })

  it("changelog: a release of only fixes is a patch version, and versions only increase", () => {
    assert.isUndefined(problemWith("0.1.1", "0.1.0", [note("fix", "C")]))
    assert.isUndefined(problemWith("0.2.0", "0.1.9", [note("breaking", "A")]))
    assert.isUndefined(
      problemWith("0.1.0", "0.1.0", [note("feature", "B")]),
      "the first one has not been published"
    )
    assert.include(
      problemWith("0.1.1", "0.1.0", [note("fix", "C"), note("feature", "B")]),
      'changes/B.md says "feature"'
    )
    assert.include(problemWith("0.1.9", "0.2.0", []), "is before")
    assert.include(problemWith("1.0", "0.2.0", []), "such as 0.2.0")
  })
})
