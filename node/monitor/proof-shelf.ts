import { signedOf } from './authority-watch.ts';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { SignedRoster } from '../../protocol/keys/signed-roster.ts';
import type { Authorities, Finding } from '../../protocol/proof/judge.ts';
import { type MisdeedProof, PROOF_FORMAT } from '../../protocol/proof/proof.ts';
import { verifyProof } from '../../protocol/proof/verify.ts';
import type { SignedStatement } from '../../protocol/statement/statement.ts';
import { createDurably } from '../keys/durable-file.ts';
import { nativeSuite } from '../keys/native-suite.ts';

const FILE_MODE = 0o644;
/** Names kept; one for each member, misdeed and batch. */
const MAX_PROOFS = 4_096;
/** Proofs of one member's misdeed of one kind: the first ones say all. */
const MAX_OF_A_KIND = 16;

/** Writes each proof of misbehaviour once, as a file that can be checked by itself. */
export class ProofShelf {
  readonly #directory: string;
  readonly #names: Set<string>;

  constructor(directory: string, names: readonly string[] = []) {
    this.#directory = directory;
    this.#names = new Set(names);
  }

  get names(): readonly string[] {
    return [...this.#names];
  }

  /**
   * The new file's path; null where the proof is known, or enough of its kind are. Crash order: the file is on the disk
   * before its name is in the state; one that a crash left there is the same proof.
   */
  async put(
    finding: Finding,
    parts: { readonly statements: readonly SignedStatement[]; readonly contradicting?: readonly SignedRoster[] },
    authorities: Authorities,
  ): Promise<string | null> {
    const kind = `${finding.misdeed}-${finding.members.join('-')}`;
    const name = `${kind}${finding.batch === null ? '' : `-${finding.batch.node}-${finding.batch.number}`}`;
    const ofKind = [...this.#names].filter((known) => known === kind || known.startsWith(`${kind}-`)).length;
    if (this.#names.has(name) || ofKind >= MAX_OF_A_KIND || this.#names.size >= MAX_PROOFS) return null;
    const proof = proofOf(finding, parts, authorities);
    // Nothing is called a proof that does not hold by itself.
    verifyProof(nativeSuite, proof);
    const path = join(this.#directory, `meridian-proof-${name}.json`);
    await mkdir(this.#directory, { recursive: true });
    await createDurably(path, `${JSON.stringify(proof)}\n`, FILE_MODE).catch((error: unknown) => {
      if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
    });
    this.#names.add(name);
    return path;
  }
}

function proofOf(
  { misdeed, members }: Finding,
  {
    statements,
    contradicting = [],
  }: { statements: readonly SignedStatement[]; contradicting?: readonly SignedRoster[] },
  { rosters, directory }: Authorities,
): MisdeedProof {
  const keys = members
    .flatMap((node) => directory.of(node))
    .filter(({ certificate }) => statements.some(({ statement }) => statement.includes(certificate.keyId)));
  return {
    format: PROOF_FORMAT,
    misdeed,
    statements: [...statements],
    contradicting: [...contradicting],
    keys: keys.map(({ signed }) => signed),
    revocations: keys.flatMap(({ certificate }) => {
      return directory.revocation(certificate.node, certificate.keyId)?.signed ?? [];
    }),
    rosters: signedOf(rosters),
  };
}
