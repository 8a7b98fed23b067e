import { type IntakeFixture, NODE } from '../../intake/intake-fixture.ts';
import { RecordLists } from '../../../../node/records/sources/record-page.ts';
import type { Draft } from '../../../../node/intake/draft.ts';
import type { AttestationRecord } from '../../../../protocol/chain/record.ts';
import { draftOf } from '../../intake/intake-fixture.ts';

/** Records a room's drafts, a few in one group, with a clock that goes on by a second a group. */
export class SourceFixture {
  readonly #fixture: IntakeFixture;
  readonly lists: RecordLists;
  readonly records: AttestationRecord[] = [];

  constructor(fixture: IntakeFixture) {
    this.#fixture = fixture;
    this.lists = new RecordLists(fixture.store, NODE);
  }

  async record(drafts: readonly Draft[]): Promise<void> {
    this.records.push(...(await this.#fixture.intake.submitAll(drafts)).map(({ record }) => record));
  }

  /** So many decisions of a source, in groups of a few. */
  async decisions(sourceId: string, count: number, inGroup = 7): Promise<void> {
    for (let left = count; left > 0; left -= inGroup) {
      await this.record(Array.from({ length: Math.min(left, inGroup) }, (_, i) => draftOf(sourceId, { left, i })));
    }
  }
}
