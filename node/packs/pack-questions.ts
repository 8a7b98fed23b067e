import { catalogue } from '../../protocol/frameworks/catalogue.ts';
import type { NodeId } from '../../protocol/ids.ts';
import type { PackQuestion } from '../../protocol/pack/manifest.ts';
import { type Timestamp, timestampOf } from '../../protocol/time.ts';
import type { AuditLog } from '../accounts/audit-log/audit-log.ts';
import { lineRange } from '../accounts/audit-log/audit-reader.ts';
import { TimeSlices } from '../concurrency/time-slices.ts';
import type { Operation } from '../store/operation.ts';
import type { Store } from '../store/store.ts';
import type { PackReach } from './pack-reach.ts';
import { PackRefusal } from './pack-refusal.ts';
import {
  newPackId,
  packFederationTable,
  packHorizonTable,
  packQuestionTable,
  type PackRow,
  packSignatureTable,
  packTable,
  questionHash,
} from './pack-tables.ts';

/** Questions of one account that are remembered: past it the oldest whose file is gone is forgotten. */
const MAX_QUESTIONS = 1_000;
/** When a caller may come back whose account has too many. In seconds. */
const FULL_SECONDS = 3_600;

export interface PackQuestionsOptions {
  readonly self: NodeId;
  readonly store: Store;
  /** Software that the bytes of a pack come from. */
  readonly generator: string;
  readonly reach: Pick<PackReach, 'upTo'>;
  readonly auditLog: Pick<AuditLog, 'flush'>;
  readonly now: () => number;
  /** Default: `MAX_QUESTIONS`. */
  readonly maxQuestions?: number;
}

/** What was asked, and what the first asking fixed of its answer. */
export class PackQuestions {
  readonly #options: PackQuestionsOptions;

  constructor(options: PackQuestionsOptions) {
    this.#options = options;
  }

  /** The pack that answers a question; undefined where it was never asked, or is forgotten. */
  async known(question: PackQuestion): Promise<PackRow | undefined> {
    const { store } = this.#options;
    const id = await packQuestionTable.get(store, question.account, questionHash(question));
    return id === undefined ? undefined : packTable.get(store, question.account, id);
  }

  /**
   * Fixes what the answer to a new question depends on: the row of its pack, and the operations that write it. Throws
   * `PackRefusal` `as-of-unavailable` and `packs-busy`.
   */
  async fix(
    question: PackQuestion,
    nodes: readonly NodeId[],
    askedBy: string,
  ): Promise<{ row: PackRow; operations: Operation[] }> {
    const { self, store, generator, reach, auditLog, now } = this.#options;
    const { account, from, to, asOf } = question;
    await this.#requireAnswerable(question);
    const forgotten = await this.#forgetOldest(account);
    await auditLog.flush();
    const lines = await lineRange(store, account, { from, to: earlier(to, asOf) });
    const row: PackRow = {
      id: newPackId(self, now()),
      question,
      askedBy,
      createdAt: timestampOf(now()),
      reach: await reach.upTo(nodes, asOf),
      auditLog: lines.first < lines.end ? { ...lines } : null,
      catalogueVersion: catalogue.catalogueVersion,
      generator,
      state: 'queued',
      failure: null,
      made: null,
      erasures: 0,
      replaced: [],
    };
    const named = packQuestionTable.put([account, questionHash(question)], row.id);
    return { row, operations: [...forgotten, packTable.put([account, row.id], row), named] };
  }

  /** Throws `PackRefusal` `as-of-unavailable` where other software than this made the pack, or by another catalogue. */
  requireSameMaker({ generator, catalogueVersion }: PackRow): void {
    if (generator === this.#options.generator && catalogueVersion === catalogue.catalogueVersion) return;
    const message = `What ${generator} made of it, by edition ${catalogueVersion} of the catalogue, is gone.`;
    throw new PackRefusal('as-of-unavailable', message);
  }

  /** A pack that was never made is made by this software and its catalogue, whichever it was asked of. */
  adopted(row: PackRow): PackRow {
    if (row.made !== null) return row;
    return { ...row, generator: this.#options.generator, catalogueVersion: catalogue.catalogueVersion };
  }

  /** Nothing of before the catalogue in force is answered anew, nor what was asked so long ago that it is forgotten. */
  async #requireAnswerable({ account, asOf }: PackQuestion): Promise<void> {
    const since = catalogue.catalogueVersion.slice(0, 'YYYY-MM-DD'.length);
    if (asOf.slice(0, since.length) < since) {
      const message = `The catalogue of frameworks as of then is not kept: the one in force is of ${since}.`;
      throw new PackRefusal('as-of-unavailable', message);
    }
    const horizon = await packHorizonTable.get(this.#options.store, account);
    if (horizon === undefined || asOf > horizon) return;
    const message = `Questions as of ${horizon} and before are forgotten: they might be answered otherwise now.`;
    throw new PackRefusal('as-of-unavailable', message);
  }

  /** What removes the oldest question whose file is gone, where there are too many. Throws `PackRefusal`. */
  async #forgetOldest(account: string): Promise<readonly Operation[]> {
    const { store, maxQuestions = MAX_QUESTIONS } = this.#options;
    let count = 0;
    let oldest: PackRow | undefined;
    const slices = new TimeSlices();
    for await (const [, row] of packTable.under(store, [account])) {
      if (slices.isOver) await slices.rest();
      count++;
      if (row.state === 'gone' || row.state === 'failed') oldest ??= row;
    }
    if (count < maxQuestions) return [];
    if (oldest === undefined) throw new PackRefusal('packs-busy', 'The account has too many packs.', FULL_SECONDS);
    const { id, question } = oldest;
    const horizon = (await packHorizonTable.get(store, account)) ?? question.asOf;
    return [
      packTable.del(account, id),
      packQuestionTable.del(account, questionHash(question)),
      packFederationTable.del(id),
      packSignatureTable.del(id),
      packHorizonTable.put([account], horizon > question.asOf ? horizon : question.asOf),
    ];
  }
}

function earlier(a: Timestamp, b: Timestamp): Timestamp {
  return a < b ? a : b;
}
