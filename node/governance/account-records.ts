import { isMadeAtHome, type PlacedRecord, standingOf } from '../../protocol/accounts/speaker.ts';
import type { AttestationRecord } from '../../protocol/chain/record.ts';
import type { RecordId } from '../../protocol/ids.ts';
import { isIdOf, recordOfAnyId, recordOfObject } from '../../protocol/object-ids.ts';
import type { RecordKind } from '../../protocol/statement/vocabulary.ts';
import { type Caller, mayName } from '../accounts/caller.ts';
import { readRecord } from '../records/record-reader.ts';
import type { Reads } from '../store/store.ts';
import type { AccountVersions, DecidedVersion } from '../verification/account-versions.ts';
import { DecidingVersions, youngestFirst } from '../verification/deciding-versions.ts';
import { ComplianceError } from './compliance-error.ts';

/** Which nodes speak for accounts (protocol §5), as this node's store and log have it. */
export class AccountSpeakers {
  readonly #store: Reads;
  readonly #versions: Pick<AccountVersions, 'newestBefore' | 'placeOf'>;

  constructor(store: Reads, versions: Pick<AccountVersions, 'newestBefore' | 'placeOf'>) {
    this.#store = store;
    this.#versions = versions;
  }

  /** Of these records of an account those whose nodes speak for it, in order. Of those made at home nothing is read. */
  async speaking(account: string, records: readonly AttestationRecord[]): Promise<readonly AttestationRecord[]> {
    const all = records.filter((record) => record.account === account);
    if (all.every(isMadeAtHome)) return all;
    const placed = await Promise.all(all.map((record) => this.#placed(record)));
    const elsewhere = placed.flatMap(({ record, index }) => (isMadeAtHome(record) ? [] : [index]));
    const deciding = await DecidingVersions.find(this.#versions, account, youngestFirst(elsewhere));
    const versions = (await Promise.all(deciding.versions.map((version) => this.#read(version)))).flat();
    const speaks = (one: PlacedRecord): boolean => {
      return isMadeAtHome(one.record) || (deciding.covers(one.index) && standingOf(one, versions).speaks);
    };
    return placed.filter(speaks).map(({ record }) => record);
  }

  async #read({ id, index }: DecidedVersion): Promise<readonly PlacedRecord[]> {
    const found = await readRecord(this.#store, id);
    return found === undefined ? [] : [{ record: found.record, index }];
  }

  async #placed(record: AttestationRecord): Promise<PlacedRecord> {
    return { record, index: isMadeAtHome(record) ? null : await this.#versions.placeOf(record) };
  }
}

/** The records that callers may name: those of their own account and of sources that their key reaches, of any node. */
export class AccountRecords {
  readonly #read: (id: RecordId) => Promise<AttestationRecord | undefined>;
  readonly #speakers: Pick<AccountSpeakers, 'speaking'>;

  /** `read`: a record of any node, from this store or from the node that made it. */
  constructor(
    read: (id: RecordId) => Promise<AttestationRecord | undefined>,
    speakers: Pick<AccountSpeakers, 'speaking'>,
  ) {
    this.#read = read;
    this.#speakers = speakers;
  }

  /** The record that an id of any kind stands for. */
  async find(caller: Caller, text: string): Promise<AttestationRecord | undefined> {
    const record = await this.#namedBy(caller, recordOfAnyId(text));
    return record !== undefined && isIdOf(text, record) ? record : undefined;
  }

  /** An incident that a node which speaks for the account recorded. */
  async findIncident(caller: Caller, text: string): Promise<AttestationRecord | undefined> {
    const record = await this.#namedBy(caller, recordOfObject('incident', text));
    if (record?.kind !== 'incident') return undefined;
    const [incident] = await this.#speakers.speaking(record.account, [record]);
    return incident;
  }

  /** Throws `ComplianceError` `incident-not-found` in the name of the request's field. */
  async requireIncident(caller: Caller, text: string, field: string): Promise<AttestationRecord> {
    const record = await this.findIncident(caller, text);
    if (record !== undefined) return record;
    throw new ComplianceError('incident-not-found', field, 'there is no incident of this id');
  }

  /** Throws `ComplianceError` `attestation-not-found` in the name of the request's field. */
  async requireOfKind(caller: Caller, text: string, kind: RecordKind, field: string): Promise<AttestationRecord> {
    const record = await this.find(caller, text);
    if (record?.kind === kind) return record;
    throw new ComplianceError('attestation-not-found', field, `there is no record of kind ${kind} of this id`);
  }

  /** In the order of the ids. Throws `ComplianceError` `attestation-not-found`, which lists all that are not there. */
  async requireAll(caller: Caller, texts: readonly string[], field: string): Promise<AttestationRecord[]> {
    const records: AttestationRecord[] = [];
    const missing: string[] = [];
    for (const text of texts) {
      const record = await this.find(caller, text);
      if (record === undefined) missing.push(text);
      else records.push(record);
    }
    if (missing.length === 0) return records;
    throw new ComplianceError('attestation-not-found', field, 'names records that are not there', { missing });
  }

  async #namedBy(caller: Caller, id: RecordId | undefined): Promise<AttestationRecord | undefined> {
    const record = id && (await this.#read(id));
    return record !== undefined && mayName(caller, record) ? record : undefined;
  }
}
