import { isMadeAtHome, type PlacedRecord, standingOf } from '../../protocol/accounts/speaker.ts';
import type { AttestationRecord } from '../../protocol/chain/record.ts';
import { readRecord } from '../records/record-reader.ts';
import type { Reads } from '../store/store.ts';
import type { AccountVersions, DecidedVersion } from '../verification/account-versions.ts';
import { DecidingVersions, youngestFirst } from '../verification/deciding-versions.ts';

/** Which nodes speak for accounts (TRUST §5), as this node's store and log have it. */
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
