import type { NodeId, RecordId } from '../../../protocol/ids.ts';
import { randomBytesPooled } from '../../keys/randomness.ts';
import { versionIds } from '../../records/account-record-table.ts';
import { readRecord } from '../../records/record-reader.ts';
import { ulid, ULID_RANDOM_BYTES } from '../../records/record-id.ts';
import type { Operation } from '../../store/operation.ts';
import type { Reads } from '../../store/store.ts';
import { type Codec, numberCodec, Table, textCodec } from '../../store/table.ts';

/**
 * Why a statement is to be looked at: its account or keys changed here, a node refused a key of it, or a version of it
 * was taken back from other members.
 */
const DUE_CAUSES = ['changed', 'refused', 'taken-back'] as const;
export type DueCause = (typeof DUE_CAUSES)[number];

const causeCodec: Codec<DueCause> = {
  encode: textCodec.encode,
  decode(bytes) {
    const text = textCodec.decode(bytes);
    const cause = DUE_CAUSES.find((known) => known === text);
    if (cause === undefined) throw new RangeError('a stored cause is none that is known');
    return cause;
  },
};

/**
 * (account, a name of its own) → why a statement is due. Each change writes one, so that the record of a version takes
 * away those alone whose changes it carries.
 */
export const statementDueTable = new Table('statement-due', causeCodec);

/**
 * (account) → the version that this store's own rows were last published as. Where the chain has a newer one, the rows
 * are those of an older copy.
 */
export const statedVersionTable = new Table('stated-version', numberCodec);

/** The row by which a statement of an account is due. */
export function dueOperation(account: string, cause: DueCause, now: number): Operation {
  return statementDueTable.put([account, ulid(now, randomBytesPooled(ULID_RANDOM_BYTES))], cause);
}

/** Whether an account names another node than its home. Absent: the home alone. */
export function namesOthers(home: NodeId, nodes: readonly NodeId[] | undefined): boolean {
  return nodes?.some((node) => node !== home) ?? false;
}

/** A version of an account's statement, as its record's claims tell of it. */
export interface AccountVersion {
  readonly id: RecordId;
  readonly version: number;
  readonly nodes: readonly NodeId[];
}

/** The newest version that an account's home has made and this store holds; undefined where there is none. */
export async function newestVersion(store: Reads, account: string, home: NodeId): Promise<AccountVersion | undefined> {
  for await (const id of versionIds(store, account, home)) {
    const { version, nodes } = (await readRecord(store, id))?.record.claims ?? {};
    if (version !== undefined && nodes !== undefined) return { id, version, nodes };
  }
  return undefined;
}
