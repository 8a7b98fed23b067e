import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { encodeItem, encodeRow, openedBytes } from '../../../node/federation/page-forms.ts';
import { PageClient } from '../../../node/federation/page-client.ts';
import { PeerStatementError } from '../../../node/log/members/peer-statement-error.ts';
import { joinTexts } from '../../../node/records/record-lines.ts';
import { compressedTextCodec, MAX_COMPRESSED_BYTES } from '../../../node/store/compressed-text.ts';
import type { WholeTexts } from '../../../protocol/chain/record.ts';
import { nodeId } from '../../../protocol/ids.ts';
import { FakeNetwork } from './fake-network.ts';
import { Pulling } from './pulling.ts';

const MIB = 1 << 20;
const EU = nodeId('eu');

/** A frame that opens to four mebibytes. */
const LONG_ROW = encodeRow(compressedTextCodec.encode('0'.repeat(MAX_COMPRESSED_BYTES)));

test('a page is read until it opens to more than an answer of texts may hold, however few bytes are sent', async () => {
  const network = new FakeNetwork();
  const [client, server] = ['jp', 'eu'].map((node) => network.transport(node, ['eu', 'jp'], () => 'accept'));
  assert.ok(client !== undefined && server !== undefined);
  let sent = 0;
  server.serve('batches', async function* () {
    for (; sent < 1_000; sent++) yield LONG_ROW;
  });
  await Promise.all([client.start(), server.start()]);
  const pages = new PageClient(client);
  const { signal } = new AbortController();
  const refusal: unknown = await pages.frames(EU, { want: 'keys', node: EU }, signal).catch((error: unknown) => error);
  assert.ok(refusal instanceof PeerStatementError);
  assert.match(refusal.message, /opens to more than/);
  assert.is(sent * MAX_COMPRESSED_BYTES, 32 * MIB);
});

test('an origin whose group opens to more than that is left alone, and nothing of the group is kept', async () => {
  await using pulling = await Pulling.start();
  const records = 36;
  const drafts = Array.from({ length: records }, () => ({ sourceId: 's'.repeat(MIB - 4_096) }));
  const batch = await pulling.federation.sealBatch('eu', drafts, { groupSize: records });
  const texts = batch.records.map((record): WholeTexts => record.texts);
  const rows = Array.from({ length: records / 3 }, (_, i) =>
    encodeRow(compressedTextCodec.encode(joinTexts(texts.slice(3 * i, 3 * i + 3)))),
  );
  assert.ok(rows.every((row) => row.length < 4_096 && openedBytes(row) > 2 * MIB));
  const signed = batch.groups[0]?.signed;
  assert.ok(signed !== undefined);
  pulling.network.distortions.set('eu', async function* () {
    yield encodeItem({ kind: 'envelope', signed: batch.signed });
    yield encodeItem({ kind: 'group', signed });
    yield* rows;
  });
  pulling.catchUp.lead(EU, EU, 1);
  await pulling.catchUp.settled(EU);
  assert.is(pulling.head('eu'), 0);
  assert.equal(
    pulling.faults.all().map(({ peer, fault }) => `${peer} ${fault}`),
    ['eu malformed'],
  );
});

test.run();
