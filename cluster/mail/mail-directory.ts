import { randomBytes } from 'node:crypto';
import { mkdir, open, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';

const SUFFIX = '.eml';
const UNFINISHED_SUFFIX = '.new';
const RUN_BYTES = 3;
const SEQUENCE_DIGITS = 6;

/**
 * A folder with one file a mail, for its owner only: mails hold keys. The names are in the order of arrival, and a file
 * that has its name is whole.
 */
export class MailDirectory {
  readonly path: string;
  /** Tells the runs of a sink apart, so that a clock that was set back never makes a name twice. */
  readonly #run = randomBytes(RUN_BYTES).toString('hex');
  #lastTime = 0;
  #sequence = 0;

  private constructor(path: string) {
    this.path = path;
  }

  /** Opens the folder, made where it is missing, without what a killed run left unfinished. One sink a folder. */
  static async open(path: string): Promise<MailDirectory> {
    await mkdir(path, { recursive: true, mode: 0o700 });
    const unfinished = (await readdir(path)).filter((name) => name.endsWith(SUFFIX + UNFINISHED_SUFFIX));
    await Promise.all(unfinished.map((name) => rm(join(path, name))));
    return new MailDirectory(path);
  }

  /** Keeps a mail. Resolves with the file's name once it is on the disk. */
  async keep(mail: Uint8Array): Promise<string> {
    const name = this.#nextName();
    const file = join(this.path, name);
    try {
      await using unfinished = await open(file + UNFINISHED_SUFFIX, 'wx', 0o600);
      await unfinished.writeFile(mail);
      await unfinished.datasync();
      await rename(file + UNFINISHED_SUFFIX, file);
    } catch (error) {
      await rm(file + UNFINISHED_SUFFIX, { force: true });
      throw error;
    }
    return name;
  }

  /** `20260102T030405678Z-000001-a1b2c3.eml` */
  #nextName(): string {
    this.#lastTime = Math.max(this.#lastTime, Date.now());
    this.#sequence++;
    const time = new Date(this.#lastTime).toISOString().replaceAll(/[-:.]/g, '');
    return `${time}-${String(this.#sequence).padStart(SEQUENCE_DIGITS, '0')}-${this.#run}${SUFFIX}`;
  }
}
