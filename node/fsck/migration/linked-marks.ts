import { linkedTable, linkTable } from '../../records/link-tables.ts';
import type { Operation } from '../../store/operation.ts';
import type { MigrationStep } from './sources.ts';

/** Records that are marked in one write. */
const MARKS_A_WRITE = 1_024;
/** Sorts right after `/`: the end of everything below a key. */
const AFTER_SLASH = '0';

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
    const under = `${linkTable.name}/`;
    const end = { lt: linkTable.name + AFTER_SLASH };
    let row = await store.first({ gte: under, ...end });
    while (row !== undefined) {
      const [target = ''] = row[0].slice(under.length).split('/');
      marks.push(linkedTable.put([target], ''));
      if (marks.length >= MARKS_A_WRITE) await flush();
      row = await store.first({ gte: under + target + AFTER_SLASH, ...end });
    }
    if (marks.length > 0) await flush();
  },
};
