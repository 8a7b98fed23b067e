import type { Account } from '../accounts/account.ts';
import { keptFor, type PaidDraft, type PreparedDraft } from '../intake/draft.ts';
import type { Intake } from '../intake/intake.ts';

/** A record before it has place and time: all else of it stands. */
export type PreparedRecord = Pick<PreparedDraft, 'id' | 'payloadHash' | 'claims'>;

/**
 * Prepares the records of a paid call: named, committed to and encrypted, and in no group. They are made once the call
 * is settled, and never otherwise.
 */
export class PaidRecording {
  readonly #intake: Pick<Intake, 'prepareAll'>;
  #account: Pick<Account, 'compressPayloads'> = {};
  #prepared: readonly PreparedDraft[] = [];

  constructor(intake: Pick<Intake, 'prepareAll'>) {
    this.#intake = intake;
  }

  /** The account that the records will be of, where a caller with a key pays: its payloads are kept as it has them. */
  ownedBy(account: Pick<Account, 'compressPayloads'>): void {
    this.#account = account;
  }

  /** What the call has prepared. */
  get prepared(): readonly PreparedDraft[] {
    return this.#prepared;
  }

  /** Prepares the records of the call, to be made in one group, all or none. To be called once. */
  async prepare(drafts: readonly PaidDraft[]): Promise<readonly PreparedRecord[]> {
    if (this.#prepared.length > 0) throw new RangeError('a paid call records once');
    if (drafts.length === 0) throw new RangeError('a paid call records at least one draft');
    this.#prepared = await this.#intake.prepareAll(drafts.map((draft) => keptFor(this.#account, draft)));
    return this.#prepared;
  }

  /** The same for a call that makes one record. */
  async prepareOne(draft: PaidDraft): Promise<PreparedRecord> {
    const [record] = await this.prepare([draft]);
    if (record === undefined) throw new RangeError('a prepared record was lost');
    return record;
  }
}
