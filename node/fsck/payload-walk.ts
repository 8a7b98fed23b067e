import { isRecordId, nodeOfRecord } from '../../protocol/ids.ts';
import { parseText } from '../../protocol/json/text.ts';
import { payloadMatches } from '../../protocol/payload/commitment.ts';
import type { Group } from '../../protocol/statement/group.ts';
import { nativeSuite } from '../keys/native-suite.ts';
import { payloadKeyTable, payloadTable } from '../payload/payload-tables.ts';
import { paymentDraftTable } from '../payments/payment-tables.ts';
import { preparedRow } from '../payments/prepared-rows.ts';
import { recordIndex } from '../records/record-tables.ts';
import { splitFrames } from '../store/frames.ts';
import type { Check } from './check.ts';
import type { DerivedRecord } from './group-records.ts';
import { RowRuns } from './row-runs.ts';
import { countRows, readRows, reasonOf } from './rows.ts';

export const PAYLOAD_TABLES = [payloadTable, payloadKeyTable];

/**
 * The payloads of the node's own records: a ciphertext for each, and where its key is still there, one that opens to
 * what the record committed to. A payload without key was erased, which is no damage and cannot be told from a lost key;
 * a group without any payload or key was taken back from peers, who never had them.
 */
export class PayloadWalk {
  readonly #check: Check;
  readonly #ciphertexts: RowRuns<Uint8Array, Uint8Array>;
  #seeds = 0;

  constructor(check: Check) {
    this.#check = check;
    this.#ciphertexts = new RowRuns(check, payloadTable, [], splitFrames);
  }

  async take({ first, size }: Group, records: readonly DerivedRecord[]): Promise<void> {
    const { store, report } = this.#check;
    const seeds = await store.getMany(records.map(({ record }) => payloadKeyTable.key(record.id)));
    if (!(await this.#ciphertexts.hasRowAt(first)) && seeds.every((seed) => seed === undefined)) {
      report.count('payloadsAbsent', size);
      return;
    }
    const ciphertexts = await this.#ciphertexts.take(first, size);
    records.forEach((derived, i) => {
      const seed = seeds[i];
      if (seed === undefined) return report.count('payloadsErased');
      this.#seeds++;
      const found = ciphertexts?.[derived.record.seq - first];
      if (found !== undefined) this.#open(derived, found.key, { seed, ciphertext: found.item });
    });
  }

  async finish(): Promise<void> {
    await this.#ciphertexts.finish();
    if ((await countRows(this.#check, payloadKeyTable)) === this.#seeds) return;
    const prepared = await this.#preparedIds();
    for await (const { key, parts } of readRows(this.#check, payloadKeyTable)) {
      const id = parts.join('/');
      if (prepared.has(id) || (await this.#isOwnRecord(id))) continue;
      this.#check.report.problem(payloadKeyTable.name, key, 'belongs to no record of this node');
    }
  }

  #open({ record }: DerivedRecord, key: string, sealed: { seed: Uint8Array; ciphertext: Uint8Array }): void {
    const { vault, report } = this.#check;
    if (vault === null) return;
    try {
      const { salt, text } = vault.open(record.id, sealed);
      // Canonical or not: the commitment is over the text that intake made, so only a canonical one can match.
      const payload = parseText(text);
      if (payloadMatches(nativeSuite, record, salt, payload)) report.count('payloadsOpened');
      else report.problem(payloadTable.name, key, `the payload of record ${record.seq} is not what it committed to`);
    } catch (error) {
      report.problem(payloadTable.name, key, reasonOf(error));
    }
  }

  /** Ids of records that are prepared for payments, and not made yet. */
  async #preparedIds(): Promise<ReadonlySet<string>> {
    const ids = new Set<string>();
    for await (const { value } of readRows(this.#check, paymentDraftTable)) {
      // A row that does not read is reported with the payments.
      if (value !== undefined) ids.add(idOf(value));
    }
    return ids;
  }

  async #isOwnRecord(id: string): Promise<boolean> {
    const { store, own } = this.#check;
    if (!isRecordId(id) || nodeOfRecord(id) !== own) return false;
    return (await store.get(recordIndex.key(id))) !== undefined;
  }
}

function idOf(bytes: Uint8Array): string {
  try {
    return preparedRow(bytes).id;
  } catch {
    return '';
  }
}
