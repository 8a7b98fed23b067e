import { rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { isJsonObject, type JsonObject } from '../../../protocol/json/value.ts';
import { SERVICES } from '../../../protocol/payments/prices.ts';
import { listsCommand } from '../../../scripts/lists/command.ts';
import { TestChain } from '../../fixtures/chain.ts';
import { payingFetch } from '../../fixtures/chain-payer.ts';
import { incoming, ofacEdition } from '../../fixtures/lists/list-files.ts';
import { importSampleLists } from '../../fixtures/sample-lists.ts';
import { TestNetwork } from '../../fixtures/test-network.ts';

const SDN = 'us-ofac-sdn';
const NAME = 'Fictitious Trading Co Ltd';

const chain = await TestChain.start();
const network = await TestNetwork.start({ config: { payments: chain.config() } });
const node = network.node();
await importSampleLists(node);
const seen = node.context.lists.current().get(SDN);
const sold = await screen();
const asked = { attestationId: idOf(sold), name: NAME, salt: String(sold.salt) };
// The list that is in force from now on lacks the name.
await node.context.lists.take(SDN, { files: incoming(ofacEdition(100)), origin: { kind: 'import', urls: [] } });
await node.context.searches.settled();

test.after(async () => {
  await network[Symbol.asyncDispose]();
  await chain[Symbol.asyncDispose]();
});

/** A screening through the stock client. */
async function screen(): Promise<JsonObject> {
  const pay = payingFetch(await chain.wallet());
  const headers = { 'content-type': 'application/json' };
  const body = JSON.stringify({ name: NAME });
  const answer = await pay(node.baseUrl + SERVICES['attested-screening'].path, { method: 'POST', body, headers });
  const value: unknown = await answer.json();
  assert.ok(answer.ok && isJsonObject(value), JSON.stringify(value));
  return value;
}

function idOf({ attestation }: JsonObject): string {
  return isJsonObject(attestation) ? String(attestation.attestationId) : '';
}

/** `npm run lists -- repeat`, at the node. */
async function repeat(question: JsonObject): Promise<{ readonly exit: number; readonly out: string }> {
  const file = join(node.config.home, 'asked.json');
  await writeFile(file, JSON.stringify(question));
  const lines: string[] = [];
  const terminal = { out: (line: string) => void lines.push(line), err: (line: string) => void lines.push(line) };
  const exit = await listsCommand(['repeat', file, '--home', node.config.home], terminal);
  await rm(file);
  return { exit, out: lines.join('\n') };
}

test('a screening that was sold comes to the same against the editions that it saw, whatever they are now', async () => {
  assert.equal([sold.result, (await screen()).result], ['match', 'no-match']);
  const { exit, out } = await repeat(asked);
  assert.is(exit, 0, out);
  assert.match(out, new RegExp(`${SDN} +${seen?.fileHash.slice(0, 19)} .* 1 +900002 FICTITIOUS TRADING CO., LTD.`));
  assert.match(out, /agrees: recorded match, repeated match {2}/);
});

test('another name, another salt, another record, or none, is refused', async () => {
  const decision = await node.attest({ n: 1 });
  const otherSalt = asked.salt.replace(/^./, (first) => (first === 'A' ? 'B' : 'A'));
  for (const [wrong, reason] of [
    [{ ...asked, name: 'Somebody Else' }, 'the record is of another name'],
    [{ ...asked, salt: otherSalt }, 'the record is of another name'],
    [{ ...asked, salt: asked.salt.slice(1) }, 'the record is of another name'],
    [{ ...asked, salt: 'AB' }, 'the record is of another name'],
    [{ ...asked, attestationId: decision }, 'the record is not of a name held against lists'],
    [{ ...asked, attestationId: `${decision.slice(0, -5)}ZZZZZ` }, 'this node has no record'],
  ] as const) {
    const { exit, out } = await repeat(wrong);
    assert.is(exit, 1);
    assert.match(out, `REFUSED: ${reason}`);
  }
  assert.is((await repeat({ ...asked, more: 1 })).exit, 2);
});

test('an edition that is not kept any more is named', async () => {
  const folder = join(node.config.home, 'lists', SDN);
  await rename(folder, `${folder}.away`);
  const { exit, out } = await repeat(asked);
  await rename(`${folder}.away`, folder);
  assert.is(exit, 1);
  assert.match(out, `the edition ${seen?.fileHash} of ${SDN} is not kept here`);
  assert.is((await repeat(asked)).exit, 0);
});

test.run();
