import { mkdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { verifierFiles } from './verifier-files.ts';

/** Where the two verifiers in one file stand. */
export interface VerifierPaths {
  readonly page: string;
  readonly script: string;
}

/** The verifiers in one file each, made at the first need of a process. */
export class VerifierFolder {
  readonly #folder: string;
  #made: Promise<VerifierPaths> | undefined;

  /** `folder`: of these files alone. What is in it can be lost at any time before it is asked for. */
  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Rejects where they cannot be made; the next call tries again. */
  paths(): Promise<VerifierPaths> {
    this.#made ??= this.#make().catch((error: unknown) => {
      this.#made = undefined;
      throw error;
    });
    return this.#made;
  }

  async #make(): Promise<VerifierPaths> {
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    for (const { name, bytes } of await verifierFiles()) {
      const path = join(this.#folder, name);
      await writeFile(`${path}.new`, bytes);
      await rename(`${path}.new`, path);
    }
    return { page: join(this.#folder, 'meridian-verify.html'), script: join(this.#folder, 'meridian-verify.mjs') };
  }
}
