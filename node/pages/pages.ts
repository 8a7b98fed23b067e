import type { Logger } from 'pino';
import { type PageFiles, pageFiles } from './page-files.ts';

/** The node's pages: their files are made at the first need, and kept in the home for the next start. */
export class Pages {
  readonly #folder: string;
  readonly #log: Logger;
  #files: Promise<PageFiles> | undefined;

  /** `folder`: of this node alone. What is in it can be lost at any time. */
  constructor(folder: string, log: Logger) {
    this.#folder = folder;
    this.#log = log;
  }

  /** Rejects where they cannot be made; the next call tries again. */
  files(): Promise<PageFiles> {
    this.#files ??= pageFiles(this.#folder).catch((error: unknown) => {
      this.#files = undefined;
      this.#log.error({ err: error }, 'the pages cannot be made');
      throw error;
    });
    return this.#files;
  }

  /** Makes them ahead of the first visitor. Never rejects. */
  async prepare(): Promise<void> {
    await this.files().catch(() => undefined);
  }
}
