import type { NodeId } from '../../protocol/ids.ts';
import { parseText } from '../../protocol/json/text.ts';
import { payloadMatches } from '../../protocol/payload/commitment.ts';
import type { Group } from '../../protocol/statement/group.ts';
import { nativeSuite } from '../keys/native-suite.ts';
import { payloadKeyTable, preparedKeyTable, splitKeyRow } from '../payload/payload-keys.ts';
import { payloadTable } from '../payload/payload-tables.ts';
import { paymentDraftTable } from '../payments/payment-tables.ts';
import { preparedRow } from '../payments/prepared-rows.ts';
import { splitFrames } from '../store/frames.ts';
import type { Check } from './check.ts';
import type { DerivedRecord } from './group-records.ts';
import { RowRuns } from './row-runs.ts';
import { countRows, distinctParts, readRows, reasonOf } from './rows.ts';

export const PAYLOAD_TABLES = [payloadTable, payloadKeyTable, preparedKeyTable];

/**
 * The payloads of the node's own records: a ciphertext for each, and where its key is still there, one that opens to
 * what the record committed to. A payload without key was erased, which is no damage and cannot be told from a lost key;
 * a group without any payload or key was taken back from peers, who never had them.
 */
export class PayloadWalk {
  readonly #check: Check;
  readonly #ciphertexts: RowRuns<Uint8Array, Uint8Array>;
  readonly #own: NodeId;
  readonly #seeds: RowRuns<Uint8Array, Uint8Array | null>;

  constructor(check: Check, own: NodeId) {
    this.#check = check;
    this.#own = own;
    this.#ciphertexts = new RowRuns(check, payloadTable, [], splitFrames);
    this.#seeds = new RowRuns(check, payloadKeyTable, [own], splitKeyRow);
  }

  async take({ first, size }: Group, records: readonly DerivedRecord[]): Promise<void> {
    const { report } = this.#check;
    const [hasCiphertexts, hasSeeds] = [await this.#ciphertexts.hasRowAt(first), await this.#seeds.hasRowAt(first)];
    if (!hasCiphertexts && !hasSeeds) {
      report.count('payloadsAbsent', size);
      return;
    }
    const ciphertexts = await this.#ciphertexts.take(first, size);
    const seeds = await this.#seeds.take(first, size);
    for (const derived of records) {
      const seed = seeds?.[derived.record.seq - first]?.item;
      if (seed === null) report.count('payloadsErased');
      const found = ciphertexts?.[derived.record.seq - first];
      if (found !== undefined && seed instanceof Uint8Array) this.#open(derived, found.key, { seed, ciphertext: found.item });
    }
  }

  async finish(): Promise<void> {
    await this.#ciphertexts.finish();
    await this.#seeds.finish();
    await this.#findForeign();
    if ((await countRows(this.#check, preparedKeyTable)) === 0) return;
    const prepared = await this.#preparedIds();
    for await (const { key, parts } of readRows(this.#check, preparedKeyTable)) {
      if (prepared.has(parts.join('/'))) continue;
      this.#check.report.problem(preparedKeyTable.name, key, 'belongs to no record that is prepared');
    }
  }

  /** Only this node's records have keys here. */
  async #findForeign(): Promise<void> {
    const { store, report } = this.#check;
    for await (const node of distinctParts(store, payloadKeyTable.name)) {
      if (node !== this.#own) report.problem(payloadKeyTable.name, `${payloadKeyTable.name}/${node}`, 'is of another node');
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
}

function idOf(bytes: Uint8Array): string {
  try {
    return preparedRow(bytes).id;
  } catch {
    return '';
  }
}
