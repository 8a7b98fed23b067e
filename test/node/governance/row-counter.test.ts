import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { RowCounter } from '../../../node/governance/row-counter.ts';
import { Store } from '../../../node/store/store.ts';
import { numberCodec, Table } from '../../../node/store/table.ts';
import { recordId } from '../../../protocol/ids.ts';
import type { AttestationRecord } from '../../../protocol/chain/record.ts';
import { fc } from '../../fixtures/properties.ts';
import { recordOf } from './records.ts';

const scratch = await mkdtemp(join(tmpdir(), 'meridian-counter-'));
const store = await Store.open(join(scratch, 'store'));
test.after(async () => {
  await store[Symbol.asyncDispose]();
  await rm(scratch, { recursive: true, force: true });
});

const SESSIONS = ['A', 'B', 'C'].map((letter) => recordId(`att_eu_01${letter.repeat(24)}`));
const moves = ({ links }: AttestationRecord) =>
  links.session === undefined ? [] : [{ parts: [links.session], by: links.session === SESSIONS[2] ? -1 : 1 }];

/** Records by the session that they name, and what becomes of their write. */
const group = fc.record({
  sessions: fc.array(fc.constantFrom(0, 1, 2, null), { maxLength: 6 }),
  fate: fc.constantFrom('written', 'written', 'refused', 'by another'),
});

let runs = 0;

test('counts hold exactly what was written, whatever was refused or written by another in between', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(group, { maxLength: 12 }), async (groups) => {
      const table = new Table(`count-${runs++}`, numberCodec);
      const counter = new RowCounter(store, table, moves);
      const expected = new Map<string, number>();
      for (const { sessions, fate } of groups) {
        const records = sessions.map((index) => recordOf({ links: linkTo(index) }));
        const writer = fate === 'by another' ? new RowCounter(store, table, moves) : counter;
        await writer.load(records);
        const [operations] = writer.operations(records);
        if (fate === 'refused') continue;
        await store.write(operations);
        writer.committed();
        if (fate === 'by another') counter.forget();
        for (const move of records.flatMap(moves)) {
          const [key = ''] = move.parts;
          expected.set(key, (expected.get(key) ?? 0) + move.by);
        }
      }
      for (const session of SESSIONS) {
        assert.is((await table.get(store, session)) ?? 0, expected.get(session) ?? 0);
      }
    }),
    { numRuns: 60 },
  );
});

function linkTo(index: number | null): AttestationRecord['links'] {
  const session = index === null ? undefined : SESSIONS[index];
  return session === undefined ? {} : { session };
}

test.run();
