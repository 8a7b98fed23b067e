import { join } from 'node:path';
import { Forked } from '../forked.ts';
import { type AttackName, type AttackTarget, isTally, type Tally } from './attack-target.ts';

/** The attacks themselves are those of the tests, and run as a process of theirs. */
const SCRIPT = join(import.meta.dirname, '../../../test/fuzz/attacker.ts');

/** One attacker in a process of its own, at the least priority: it takes no processor from whom it attacks. */
export class AttackingProcess implements AsyncDisposable {
  readonly name: AttackName;
  readonly #forked: Forked;

  constructor(name: AttackName) {
    this.name = name;
    this.#forked = new Forked(SCRIPT, [name]);
  }

  /** Resolves once it could begin. */
  async prepare(target: AttackTarget): Promise<void> {
    await this.#forked.ask(target);
  }

  async begin(): Promise<void> {
    await this.#forked.ask({ tell: 'begin' });
  }

  async end(): Promise<Tally> {
    const tally = await this.#forked.ask({ tell: 'end' });
    if (!isTally(tally)) throw new Error(`${this.name} answered something else`);
    return tally;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#forked[Symbol.asyncDispose]();
  }
}
