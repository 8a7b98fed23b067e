import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { MisdeedProof } from '../../protocol/proof/misdeed.ts';
import { createDurably } from '../../node/keys/durable-file.ts';

const FILE_MODE = 0o644;
/** Names kept; one for each member, misdeed and batch. */
const MAX_PROOFS = 4_096;
/** Proofs of one member's misdeed of one kind: the first ones say all. */
const MAX_OF_A_KIND = 16;

/** What a proof says of whom: there is one file for each. */
export interface Accusation {
  readonly misdeed: MisdeedProof['misdeed']['type'];
  readonly accused: string;
  /** Null for checkpoints. */
  readonly batch: number | null;
}

/** Writes each proof of misbehaviour once, as a file that can be judged by itself. */
export class ProofStore {
  readonly #directory: string;
  readonly #names: Set<string>;

  constructor(directory: string, names: readonly string[] = []) {
    this.#directory = directory;
    this.#names = new Set(names);
  }

  get names(): readonly string[] {
    return [...this.#names];
  }

  /** Whether a proof of that is kept, or enough of its kind are. */
  isFull(accusation: Accusation): boolean {
    const kind = kindOf(accusation);
    const ofKind = [...this.#names].filter((known) => known === kind || known.startsWith(`${kind}-`)).length;
    return this.#names.has(nameOf(accusation)) || ofKind >= MAX_OF_A_KIND || this.#names.size >= MAX_PROOFS;
  }

  /**
   * The new file's path. Crash order: the file is on the disk before its name is in the state; one that a crash left
   * there is the same proof.
   */
  async put(accusation: Accusation, proof: MisdeedProof): Promise<string> {
    const name = nameOf(accusation);
    const path = join(this.#directory, `meridian-proof-${name}.json`);
    await mkdir(this.#directory, { recursive: true });
    await createDurably(path, `${JSON.stringify(proof)}\n`, FILE_MODE).catch((error: unknown) => {
      if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
    });
    this.#names.add(name);
    return path;
  }
}

function kindOf({ misdeed, accused }: Accusation): string {
  return `${misdeed}-${accused}`;
}

function nameOf(accusation: Accusation): string {
  return kindOf(accusation) + (accusation.batch === null ? '' : `-${accusation.batch}`);
}
