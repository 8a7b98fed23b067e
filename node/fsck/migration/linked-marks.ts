import { isRecordId } from '../../../protocol/ids.ts';
import { linkedTable, linkTable } from '../../records/link-tables.ts';
import type { Operation } from '../../store/operation.ts';
import { distinctParts } from '../rows.ts';
import type { MigrationStep } from './migration-step.ts';

/** Records that are marked in one write. */
const MARKS_A_WRITE = 1_024;

/** A row of every record that others link to, of every node: by it alone such a record is known. */
export const linkedStep: MigrationStep = {
  name: 'linked records',
  from: 4,
  async run({ store, moved }) {
    let marks: Operation[] = [];
    const flush = async (): Promise<void> => {
      await store.write(marks);
      moved(marks.length);
      marks = [];
    };
    for await (const target of distinctParts(store, linkTable.name)) {
      if (!isRecordId(target)) continue;
      marks.push(linkedTable.put([target], ''));
      if (marks.length >= MARKS_A_WRITE) await flush();
    }
    if (marks.length > 0) await flush();
  },
};
