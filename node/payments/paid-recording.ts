import type { RecordId } from '../../protocol/ids.ts';
import type { JsonObject } from '../../protocol/json/value.ts';
import type { AttestationRecord } from '../../protocol/chain/record.ts';
import type { Draft } from '../intake/draft.ts';
import type { Intake } from '../intake/intake.ts';
import type { BookedPayment, KeptWork, PaymentBook } from './payment-book.ts';

/** What the work of a paid call has recorded. */
export interface PaidDrafts {
  /** At least one. All of them are recorded, in one write, or none. */
  readonly drafts: readonly Draft[];
  /** What the answer needs beside the records: a later attempt gets it again. */
  readonly kept?: JsonObject;
}

export interface PaidRecords {
  /** In the order of the drafts. */
  readonly records: readonly AttestationRecord[];
  readonly kept: JsonObject;
}

/** An answer that is not worth its price: nothing is recorded and nothing charged. */
export interface FreeAnswer {
  readonly body: JsonObject;
  readonly charged: false;
}

export interface PaidRecordingOptions {
  readonly book: Pick<PaymentBook, 'keepOperations'>;
  readonly intake: Pick<Intake, 'submitAll'>;
  /** A record of this node. */
  readonly recordOf: (id: RecordId) => Promise<AttestationRecord>;
  readonly payment: BookedPayment;
  /** What an earlier attempt at the same payment left behind. */
  readonly work: KeptWork | undefined;
}

/** Records that are read back together. */
const READ_TOGETHER = 64;

/** Makes the records of a paid call, once for each payment however often it is tried. */
export class PaidRecording {
  readonly #options: PaidRecordingOptions;
  #isUsed = false;

  constructor(options: PaidRecordingOptions) {
    this.#options = options;
  }

  /** Whether records were made for the payment, now or by an earlier attempt. */
  get hasRecords(): boolean {
    return this.#isUsed || this.#options.work !== undefined;
  }

  /**
   * The records of the call. Where an earlier attempt at the same payment has made them, they are these and `make` is not
   * called; else those of its drafts, written together with the note that they belong to the payment. All of the work
   * that must not be done twice belongs into `make`. It may also come to a free answer: then that is the result. To be
   * called once. Throws what `make` throws, and `IntakeError`.
   */
  record(make: () => Promise<PaidDrafts>): Promise<PaidRecords>;
  record(make: () => Promise<PaidDrafts | FreeAnswer>): Promise<PaidRecords | FreeAnswer>;
  async record(make: () => Promise<PaidDrafts | FreeAnswer>): Promise<PaidRecords | FreeAnswer> {
    if (this.#isUsed) throw new RangeError('a paid call records once');
    const { work, recordOf, intake } = this.#options;
    if (work !== undefined) {
      return { records: await readAll(work.records, recordOf), kept: work.kept };
    }
    const made = await make();
    if ('charged' in made) return made;
    this.#isUsed = true;
    const { drafts, kept = {} } = made;
    if (drafts.length === 0) throw new RangeError('a paid call records at least one draft');
    const built = await intake.submitAll(this.#bound(drafts, kept));
    return { records: built.map(({ record }) => record), kept };
  }

  /** The drafts with the payment's rows in their write: the last of them knows the ids of all. */
  #bound(drafts: readonly Draft[], kept: JsonObject): readonly Draft[] {
    const { book, payment } = this.#options;
    const ids: RecordId[] = [];
    return drafts.map((draft, i) => ({
      ...draft,
      besides: (id) => {
        ids[i] = id;
        const own = draft.besides?.(id) ?? [];
        const isLast = i === drafts.length - 1;
        return isLast ? [...own, ...book.keepOperations(payment, { records: ids, kept })] : own;
      },
    }));
  }
}

async function readAll(
  ids: readonly RecordId[],
  recordOf: PaidRecordingOptions['recordOf'],
): Promise<readonly AttestationRecord[]> {
  const records: AttestationRecord[] = [];
  for (let at = 0; at < ids.length; at += READ_TOGETHER) {
    records.push(...(await Promise.all(ids.slice(at, at + READ_TOGETHER).map(recordOf))));
  }
  return records;
}
